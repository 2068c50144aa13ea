"""Phrases for each kind of change, for users of the library."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind

Change = Mapping[str, Any]
"""A row of `changes`."""

_VARIADIC = re.compile(r"\*{1,2}\w+")
_PASSING = {
    ParameterKind.POSITIONAL_OR_KEYWORD: "possible by position and by name",
    ParameterKind.KEYWORD_ONLY: "keyword-only",
    ParameterKind.POSITIONAL_ONLY: "positional-only",
}


def one_line(text: str) -> str:
    """Write a text without line breaks and doubled spaces."""
    return " ".join(text.split())


def parameter(change: Change) -> str:
    """Return the parameter that a change is about, as a name."""
    return f"`{change['parameter']}`"


def before_after(change: Change) -> str:
    """Return both states."""
    return f"{change['old'] or 'none'} → {change['new'] or 'none'}"


def behaviour(change: Change) -> str:
    """Return the results of one program in both releases, as far as its runs tell them."""
    if change["old"] and change["new"]:
        return f"other results: {one_line(before_after(change))}"
    return (
        f"fails now: {one_line(change['new'])}" if change["new"] else f"failed before: {one_line(change['old'] or '')}"
    )


def parameter_added_required(change: Change) -> str:
    """Say that a new parameter has to be given."""
    return f"{parameter(change)} added, required"


def parameter_added_optional(change: Change) -> str:
    """Say which new parameter, or which further arguments, a function takes, and the default."""
    written = change["new"] or ""
    if variadic := _VARIADIC.match(written):
        manner = "by name" if written.startswith("**") else "by position"
        return f"takes any further arguments {manner}: `{variadic[0]}`"
    default = _default(written)
    return f"{parameter(change)} added, optional{f' ({default})' if default not in {None, '...'} else ''}"


def _default(written: str) -> str | None:
    """Return the default in a parameter as written: `b: int = 1` has `1`."""
    try:
        arguments = parse_python(f"def f(*, {written}): ...").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        # an annotation may be any text
        return written.rpartition("=")[2].strip() or None
    (default,) = arguments.kw_defaults
    return ast.unparse(default) if default is not None else None


def parameter_removed(change: Change) -> str:
    """Say which parameter, or which further arguments, a function does not take any more."""
    variadic = _VARIADIC.match(change["old"] or "")
    if variadic:
        return f"takes no further arguments {'by name' if variadic[0].startswith('**') else 'by position'} any more"
    return f"{parameter(change)} removed"


def parameter_deprecated(change: Change) -> str:
    """Say whether a parameter is deprecated, or only one of its names."""
    name = " as a name" if change["new"] == ParameterDeprecation.NAME else ""
    return f"{parameter(change)} deprecated{name}"


def deprecated(change: Change) -> str:
    """Say that an API is deprecated, in the words of its mark."""
    return f"deprecated: {one_line(change['new'])}" if change["new"] else "deprecated"


def kind(change: Change) -> str:
    """Say what kind of thing an API became."""
    return f"is now {_a(change['new'])}, was {_a(change['old'])}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


CONDITIONALLY = " (only on some systems, or beside another package)"
"""End of the description of an API that its module binds under a condition on the machine."""


def introduced(change: Change) -> str:
    """Say that an API came, and whether everybody has it."""
    return "introduced" + (CONDITIONALLY if str(change["new"]).endswith(CONDITIONALLY) else "")


def removed(change: Change) -> str:
    """Say that an API went, and whether everybody had it."""
    return "removed" + (CONDITIONALLY if str(change["old"]).endswith(CONDITIONALLY) else "")


def awaited(change: Change) -> str:
    """Say whether a function must be awaited, or iterated by `async for`."""
    if change["new"] == "async generator":
        return "is an asynchronous generator now: iterate it by `async for`"
    if change["old"] == "async generator":
        return "is no asynchronous generator any more"
    return "must be awaited now" if change["new"] == "async" else "is no coroutine any more: do not await it"


def use(change: Change) -> str:
    """Say which code works no longer, and which works now."""
    lost = [f"no longer possible: {change['old']}"] if change["old"] else []
    return "; ".join([*lost, *([f"possible now: {change['new']}"] if change["new"] else [])])


def use_deprecated(change: Change) -> str:
    """Say which code is deprecated, in the words of its warning."""
    return f"deprecated to write {one_line(change['new'] or '')}"


def moved_parameters(_: Change) -> str:
    """Head the parameters that have another position."""
    return "position changed"


def moved_parameter(change: Change) -> str:
    """Name such a parameter with both positions."""
    places = [(change[side] or "?").removeprefix("position ") for side in ("old", "new")]
    return f"{change['parameter']} ({'→'.join(places)})"


def parameter_kind(change: Change) -> str:
    """Head the parameters that came to be given in one way."""
    words_of_kinds = {str(name): words for name, words in _PASSING.items()}
    return f"became {words_of_kinds.get(str(change['new']), change['new'])}"


def deprecated_by_position(change: Change) -> str | None:
    """Head the parameters that are deprecated by position; other marks have a phrase each."""
    return "deprecated to give by position" if change["new"] == ParameterDeprecation.BY_POSITION else None
