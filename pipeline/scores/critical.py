"""Exact match and the critical diff check of VersiCode: does the prediction use the API as the reference does."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

from pipeline.terms import Granularity


def exact_match(prediction: str, core_token: str, granularity: Granularity) -> bool:
    """Return EM: a token must equal the core token, a line or block must hold it as a whole word (2406.07411, 4.1)."""
    if granularity == Granularity.TOKEN:
        return prediction.strip() == core_token
    return _holds(prediction, core_token)


@dataclass(frozen=True, slots=True)
class CriticalDiff:
    """The five rules of the critical diff check (VersiCode, 2406.07411, appendix E.1), each apart."""

    core_token: bool
    valid: bool
    arguments: bool
    with_statement: bool
    keywords: bool

    @property
    def passed(self) -> bool:
        """Whether all five hold, which is what CDC@k counts."""
        return self.core_token and self.valid and self.arguments and self.with_statement and self.keywords


def critical_diff(prediction: str, reference: str, core_token: str) -> CriticalDiff:
    """Check the code that a model wrote against what stood there; `core_token` is the name of the API.

    Both are statements, at any indentation; the header of a compound statement without its body counts as valid.
    Rules 3 and 5 ask for one call of the core token in the prediction that has as many arguments as the reference's
    first, and all of its keywords; they hold where the reference does not call it. A prediction that does not parse
    fails rules 2 to 5 as far as the reference asks for something.
    """
    wanted, found = _read_reference(reference), _read(prediction)
    calls = [call for call in found.calls if call.name == core_token]
    first = next((call for call in wanted.calls if call.name == core_token), None)
    return CriticalDiff(
        core_token=_holds(prediction, core_token),
        valid=found.valid,
        arguments=first is None or any(call.arguments == first.arguments for call in calls),
        with_statement=found.has_with or not wanted.has_with,
        keywords=first is None or not first.keywords or any(call.keywords == first.keywords for call in calls),
    )


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: int
    keywords: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Fragment:
    valid: bool
    has_with: bool
    calls: tuple[_Call, ...]


_BROKEN = _Fragment(False, False, ())


def _holds(code: str, name: str) -> bool:
    return name in code and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code) is not None


def _read(code: str) -> _Fragment:
    tree = _parse(code)
    if tree is None:
        return _BROKEN
    calls, has_with = [], False
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Call:
            if name := _name_of(node.func):  # type: ignore[attr-defined]
                calls.append((node.lineno, node.col_offset, _call(name, node)))  # type: ignore[attr-defined,arg-type]
        elif kind is ast.With or kind is ast.AsyncWith:
            has_with = True
        waiting.extend(ast.iter_child_nodes(node))
    calls.sort(key=lambda call: call[:2])
    return _Fragment(True, has_with, tuple(call for _, _, call in calls))


# The samples of a task share a reference.
_read_reference = functools.lru_cache(4096)(_read)


def _name_of(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _call(name: str, node: ast.Call) -> _Call:
    keywords = frozenset(keyword.arg for keyword in node.keywords if keyword.arg)
    return _Call(name, len(node.args) + len(node.keywords), keywords)


def _parse(code: str) -> ast.Module | None:
    """Parse statements that may be indented, or the header of a compound statement; None where they do not parse."""
    text = _flush(code)
    if not text:
        return None
    for attempt in (text, f"{text} pass" if text.endswith(":") else None, _continued(text)):
        if attempt is None:
            continue
        try:
            return ast.parse(attempt)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _flush(code: str) -> str:
    """Take the indentation of the first line off every line."""
    text = code.strip("\n").rstrip()
    margin = len(text) - len(text.lstrip(" \t"))
    if not margin or "\n" not in text:
        return text[margin:]
    blank = text[:margin]
    return "\n".join(line[margin:] if line.startswith(blank) else line for line in text.split("\n"))


def _continued(text: str) -> str | None:
    """Put in front of `else:` and its like what they continue."""
    body = f"{text} pass" if text.endswith(":") else text
    if text.startswith(("elif ", "else")):
        return f"if x:\n pass\n{body}"
    if text.startswith(("except", "finally")):
        return f"try:\n pass\n{body}"
    if text.startswith("case "):
        return "match x:\n" + "\n".join(f" {line}" for line in body.split("\n"))
    if text.startswith("@"):
        return f"{text}\ndef f(): pass"
    return None
