"""What a prediction says as code: whether it is valid, what it calls and with what, which API expressions it has.

Predictions are fragments: a line out of the middle of a function, a block whose first line has lost its indentation, the
header of a statement without its body. They are read as Python's own parser reads them; all metrics share one reading.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

REMEMBERED = 512
"""Texts whose reading is kept: the samples of a task share a reference, and several metrics read a sample."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call by the last name of what is called: its place, how many arguments it has, and the keywords among them."""

    name: str
    place: tuple[int, int]
    arguments: int
    keywords: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A fragment of code as it was read; what is not `valid` has nothing else.

    `expressions` are the dotted names that are called or are attributes, each as often as it stands there.
    """

    valid: bool
    has_with: bool = False
    calls: tuple[Call, ...] = ()
    expressions: tuple[str, ...] = ()


_BROKEN = Reading(valid=False)
# What a syntax tree holds beside further nodes and lists of them.
_LEAVES = frozenset({type(None), bool, int, float, complex, str, bytes, type(...), ast.Load, ast.Store, ast.Del, ast.Name})


@functools.lru_cache(REMEMBERED)
def read(code: str) -> Reading:
    """Read statements at any indentation, or the header of a compound statement without its body."""
    tree = _parse(code)
    if tree is None:
        return _BROKEN
    calls: list[Call] = []
    expressions: list[str] = []
    has_with = False
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        kind = type(node)
        if kind is ast.Call:
            _read_call(node, calls, expressions, waiting)  # type: ignore[arg-type]
        elif kind is ast.Attribute:
            _read_attribute(node, expressions, waiting)  # type: ignore[arg-type]
        else:
            has_with = has_with or kind is ast.With or kind is ast.AsyncWith
            for value in vars(node).values():
                if type(value) is list:
                    waiting += [item for item in value if type(item) not in _LEAVES]
                elif type(value) not in _LEAVES:
                    waiting.append(value)
    calls.sort(key=lambda call: call.place)
    return Reading(True, has_with, tuple(calls), tuple(expressions))


def _read_call(node: ast.Call, calls: list[Call], expressions: list[str], waiting: list[ast.AST]) -> None:
    function, name = node.func, None
    if type(function) is ast.Name:
        name = function.id
        expressions.append(name)
    elif type(function) is ast.Attribute:
        name = function.attr
        _read_attribute(function, expressions, waiting)
    else:
        waiting.append(function)
    if name is not None:
        keywords = frozenset([keyword.arg for keyword in node.keywords if keyword.arg])
        count = len(node.args) + len(node.keywords)
        calls.append(Call(name, (node.lineno, node.col_offset), count, keywords))
    waiting += node.args
    waiting += [keyword.value for keyword in node.keywords]


def _read_attribute(node: ast.Attribute, expressions: list[str], waiting: list[ast.AST]) -> None:
    """Note `a.b.c`; of `f(x).g` and `x[0].g` what follows the object, `.g`."""
    names, owner = [node.attr], node.value
    while type(owner) is ast.Attribute:
        names.append(owner.attr)
        owner = owner.value
    if type(owner) is ast.Name:
        names.append(owner.id)
    else:
        names.append("")
        waiting.append(owner)
    names.reverse()
    expressions.append(".".join(names))


def _parse(code: str) -> ast.Module | None:
    for attempt in _attempts(code.strip("\n").rstrip()):
        try:
            return ast.parse(attempt)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _attempts(text: str) -> Iterator[str]:
    """Yield the programs that a fragment may be a part of; nothing of an empty one."""
    if not text:
        return
    flush = _flush(text)
    yield flush
    if flush.endswith(":"):
        yield f"{flush} pass"
    if "\n" in flush:
        yield from _hanging(flush)
    yield from _continued(flush)


def _flush(text: str) -> str:
    """Take the indentation of the first line off every line."""
    margin = len(text) - len(text.lstrip(" \t"))
    if not margin or "\n" not in text:
        return text[margin:]
    blank = text[:margin]
    return "\n".join(line[margin:] if line.startswith(blank) else line for line in text.split("\n"))


def _hanging(text: str) -> Iterator[str]:
    """Give the first line the indentation of one of the next: of what stood at a cursor only they kept it."""
    margins = {found[1] for found in _MARGIN.finditer(text)}
    for margin in sorted(margins, key=len)[:_MARGINS]:
        yield f"if x:\n{margin}{text}"


_MARGIN = re.compile(r"\n([ \t]+)(?=\S)")
_MARGINS = 4


def _continued(text: str) -> Iterator[str]:
    """Put in front of `else:` and its like what they continue."""
    body = f"{text} pass" if text.endswith(":") else text
    if text.startswith(("elif ", "else")):
        yield f"if x:\n pass\n{body}"
    elif text.startswith(("except", "finally")):
        yield f"try:\n pass\n{body}"
    elif text.startswith("case "):
        yield "match x:\n" + "\n".join(f" {line}" for line in body.split("\n"))
    elif text.startswith("@"):
        yield f"{text}\ndef f(): pass"
