"""Writing parts of a module down again: with edits, and moved to another indentation."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.own_tests.suite import SuiteModule

_ATOMS = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.List | ast.Dict | ast.Set | ast.Constant


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes of a module, and the text that stands in their place."""

    start: int
    end: int
    text: str


def replace(module: SuiteModule, node: ast.stmt | ast.expr, text: str) -> Edit:
    """Return the edit that writes a text in the place of a node."""
    return Edit(*module.span(node), text)


def render(module: SuiteModule, start: int, end: int, edits: Iterable[Edit] = (), indent: str = "") -> str:
    """Return the bytes of a module from `start`, where a line's code begins, to `end`, at another indentation.

    Lines that begin inside of a string keep their place. Of edits that overlap the outer one counts.
    """
    line = _line_of(module, start)
    here = start - module.starts[line - 1]
    inside = [each for each in set(edits) if start <= each.start and each.end <= end]
    pieces: list[str] = [indent]
    inner = _string_lines(module)
    at = start

    def copy(until: int) -> None:
        """Copy bytes, with the indentation of each line that begins among them changed."""
        nonlocal at
        for number in range(_line_of(module, at) + 1, _line_of(module, until) + 1):
            begin = module.starts[number - 1]
            pieces.append(module.data[at:begin].decode())
            at = begin
            if number not in inner:
                blank = len(module.data[begin:until]) - len(module.data[begin:until].lstrip(b" \t"))
                at += min(blank, here)
                if module.data[at : at + 1] not in (b"\n", b""):
                    pieces.append(indent)
        pieces.append(module.data[at:until].decode())
        at = until

    for edit in sorted(inside, key=lambda each: (each.start, -each.end)):
        if edit.start >= at:
            copy(edit.start)
            pieces.append(edit.text)
            at = edit.end
    copy(end)
    return "".join(pieces)


def operand(module: SuiteModule, node: ast.expr) -> str:
    """Return an expression as it may stand beside an operator."""
    text = module.text(node)
    is_closed = isinstance(node, _ATOMS) or (isinstance(node, ast.Tuple) and text[:1] == "(" and text[-1:] == ")")
    return text if is_closed and not _runs_on(text) else f"({text})"


def _runs_on(text: str) -> bool:
    """Say whether an expression goes on in lines that only brackets around it hold together: `a` above `.b()`."""
    if "\n" not in text:
        return False
    try:
        parse_python(text, mode="eval")
    except SyntaxError:
        return True
    return False


def _line_of(module: SuiteModule, offset: int) -> int:
    low, high = 0, len(module.starts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if module.starts[middle] <= offset:
            low = middle
        else:
            high = middle - 1
    return low + 1


@functools.lru_cache(maxsize=256)
def _string_lines(module: SuiteModule) -> frozenset[int]:
    """Return the lines that begin inside of a string."""
    return frozenset(
        line
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    )
