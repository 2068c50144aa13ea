"""Changes and states in the words of somebody who uses the library: what the history and the diff tell."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version

from pipeline.api.history.parameters import show
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind, ParameterSource, SymbolKind
from pipeline.lake.schema import Row

_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_WAYS = frozenset({ChangeKind.PARAMETER_KIND, ChangeKind.PARAMETER_DEPRECATED})
_ENDS = frozenset(
    {ChangeKind.REMOVED, ChangeKind.PARAMETER_REMOVED, ChangeKind.DEPRECATED, ChangeKind.PARAMETER_DEPRECATED}
)
"""The kinds of change after which something else may have to be used."""

_VARIADIC = re.compile(r"\*{1,2}\w+")
_INDENT = 4
_DEEPEST = 24
"""Columns to the bracket up to which the parameters of a long signature stand below each other behind it."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What one change, or several of one kind, come to; `breaking` says that code that was right can fail."""

    text: str
    breaking: bool


def counted_releases(versions: Sequence[str]) -> str:
    """Return how many releases there are in words; they are final ones unless others were named."""
    final = not any(Version(version).is_prerelease for version in versions)
    return f"{len(versions)} {'final ' if final else ''}release{'' if len(versions) == 1 else 's'}"


def phrases(changes: Iterable[Row]) -> list[Phrase]:
    """Tell the changes of one API in one release, what breaks first; what is the same for several parameters once."""
    ordered = sorted(changes, key=_order)
    told = [phrase for _, group in groupby(ordered, key=_order) for phrase in _together(list(group))]
    return sorted(told, key=lambda phrase: not phrase.breaking)


def _order(change: Row) -> tuple[int, str]:
    """Order by kind; parameters that came to be given in one way stand together."""
    return list(ChangeKind).index(change["kind"]), change["new"] or "" if change["kind"] in _WAYS else ""


def _together(group: Sequence[Row]) -> Iterator[Phrase]:
    head = _shared(group[0])
    if head is None:
        for change in group:
            told = _WORDS[change["kind"]](change) + _sure(change)
            yield Phrase(told + _use(change), change["breaking"])
        return
    for breaking in (True, False):
        members = [_member(change) + _sure(change) for change in group if change["breaking"] == breaking]
        if members:
            yield Phrase(f"{head}: {', '.join(members)}", breaking)


def _shared(change: Row) -> str | None:
    """Return what is said once of several parameters, or None where each has a phrase of its own."""
    if change["kind"] == ChangeKind.PARAMETER_MOVED:
        return "position changed"
    if change["kind"] == ChangeKind.PARAMETER_KIND:
        return f"became {_free(change['new'])}"
    by_position = (
        change["kind"] == ChangeKind.PARAMETER_DEPRECATED and change["new"] == ParameterDeprecation.BY_POSITION
    )
    return "deprecated to give by position" if by_position else None


def _member(change: Row) -> str:
    if change["kind"] != ChangeKind.PARAMETER_MOVED:
        return str(change["parameter"])
    places = [(change[side] or "?").removeprefix("position ") for side in ("old", "new")]
    return f"{change['parameter']} ({'→'.join(places)})"


def _sure(change: Row) -> str:
    """Say how a change is known where comparing sources is not all, or not enough."""
    said = [] if change["evidence"] == Evidence.STATIC else [str(change["evidence"])]
    said += [f"{change['confidence']:.0%} sure"] if change["confidence"] < 1 else []
    return f" ({', '.join(said)})" if said else ""


def _use(change: Row) -> str:
    """Say what the library says to use instead, where nothing else in the phrase does."""
    said = change["kind"] not in _ENDS or (change["kind"] == ChangeKind.DEPRECATED and _stated(change))
    return f"; use {change['replacement']}" if change["replacement"] and not said else ""


def _name(change: Row) -> str:
    return f"`{change['parameter']}`"


def _was_is(change: Row) -> str:
    return f"{change['old'] or 'none'} → {change['new'] or 'none'}"


def _added(change: Row) -> str:
    written = change["new"] or ""
    if _VARIADIC.match(written):
        given = "by name" if written.startswith("**") else "by position"
        return f"takes any further arguments {given}: `{_VARIADIC.match(written)[0]}`"  # type: ignore[index]
    if change["kind"] == ChangeKind.PARAMETER_ADDED_REQUIRED:
        return f"{_name(change)} added, required"
    default = _default(written)
    return f"{_name(change)} added, optional{f' ({default})' if default not in {None, '...'} else ''}"


def _default(parameter: str) -> str | None:
    """Return the default in a parameter as written: `b: int = 1` has `1`."""
    try:
        arguments = ast.parse(f"def f(*, {parameter}): ...").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        # an annotation may be any text
        return parameter.rpartition("=")[2].strip() or None
    (default,) = arguments.kw_defaults
    return ast.unparse(default) if default is not None else None


def _removed_parameter(change: Row) -> str:
    variadic = _VARIADIC.match(change["old"] or "")
    if variadic:
        return f"takes no further arguments {'by name' if variadic[0].startswith('**') else 'by position'} any more"
    return f"{_name(change)} removed"


def _deprecated_parameter(change: Row) -> str:
    name = " as a name" if change["new"] == ParameterDeprecation.NAME else ""
    return f"{_name(change)} deprecated{name}"


def _deprecated(change: Row) -> str:
    return f"deprecated: {one_line(change['new'])}" if change["new"] else "deprecated"


def _stated(change: Row) -> bool:
    """Return whether the words of the mark name the replacement themselves."""
    return (change["replacement"] or "").rpartition(".")[2] in (change["new"] or "")


def _free(kind: str | None) -> str:
    words = {
        ParameterKind.POSITIONAL_OR_KEYWORD: "possible by position and by name",
        ParameterKind.KEYWORD_ONLY: "keyword-only",
        ParameterKind.POSITIONAL_ONLY: "positional-only",
    }
    return {str(name): word for name, word in words.items()}.get(str(kind), str(kind))


def _a(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _async(change: Row) -> str:
    return "must be awaited now" if change["new"] == "async" else "is no coroutine any more: do not await it"


_WORDS: dict[str, Callable[[Row], str]] = {
    ChangeKind.INTRODUCED: lambda c: "introduced",
    ChangeKind.REMOVED: lambda c: "removed",
    ChangeKind.RENAMED: lambda c: f"renamed to {c['new']}",
    ChangeKind.MOVED: lambda c: f"moved to {c['new']}",
    ChangeKind.PARAMETER_ADDED_REQUIRED: _added,
    ChangeKind.PARAMETER_ADDED_OPTIONAL: _added,
    ChangeKind.PARAMETER_REMOVED: _removed_parameter,
    ChangeKind.PARAMETER_RENAMED: lambda c: f"{_name(c)} renamed to `{c['new']}`",
    ChangeKind.PARAMETER_DEFAULT: lambda c: f"default of {_name(c)}: {_was_is(c)}",
    ChangeKind.PARAMETER_REQUIRED: lambda c: f"{_name(c)} is required now (default was {c['old']})",
    ChangeKind.PARAMETER_OPTIONAL: lambda c: f"{_name(c)} is optional now ({c['new']})",
    ChangeKind.PARAMETER_DEPRECATED: _deprecated_parameter,
    ChangeKind.PARAMETER_TYPE: lambda c: f"type of {_name(c)}: {_was_is(c)}",
    ChangeKind.ATTRIBUTE_VALUE: lambda c: f"value: {_was_is(c)}",
    ChangeKind.ATTRIBUTE_TYPE: lambda c: f"type: {_was_is(c)}",
    ChangeKind.RETURNS: lambda c: f"returns: {_was_is(c)}",
    ChangeKind.OVERLOADS: lambda c: f"overloads: {_was_is(c)}",
    ChangeKind.BASES: lambda c: f"bases: {_was_is(c)}",
    ChangeKind.KIND: lambda c: f"is now {_a(c['new'])}, was {_a(c['old'])}",
    ChangeKind.ASYNC: _async,
    ChangeKind.DEPRECATED: _deprecated,
    ChangeKind.UNDEPRECATED: lambda c: "no longer deprecated",
}
"""How a change is told that is not told together with others, see _shared."""


def signature(row: Row, width: int) -> list[str]:
    """Write how a state of an API is used, in lines of at most `width` columns where names allow it."""
    name = row["path"].rpartition(".")[2]
    if row["kind"] in _CALLABLE:
        returns = f" -> {row['returns']}" if row["returns"] else ""
        # nothing tells how a compiled function, or one that another takes the place of, is called
        untold = UNSEEN_SIGNATURE in row["labels"] and not row["parameters"]
        return wrapped(f"{name}(", ["…"] if untold else written(row["parameters"]), f"){returns}", width)
    if row["kind"] == SymbolKind.EXTERNAL:
        return [f"{name} is {row['canonical_path']} of another distribution"]
    if row["kind"] == SymbolKind.MODULE:
        return [f"module {row['path']}"]
    annotation = f": {row['returns']}" if row["returns"] else ""
    value = f" = {one_line(row['value'])}" if row["value"] is not None else ""
    return textwrap.wrap(f"{name}{annotation}{value}", width, subsequent_indent=" " * _INDENT) or [name]


def written(parameters: Sequence[Row]) -> list[str]:
    """Write parameters as they stand between brackets, with `/` and `*` where they belong.

    Names that a helper still accepts for a while are left out: they are no part of what one should write.
    """
    shown = [p for p in parameters if p["known_from"] != ParameterSource.HELPER]
    kinds = [p["kind"] for p in shown]
    parts: list[str] = []
    for at, parameter in enumerate(shown):
        before = kinds[at - 1] if at else None
        if before == ParameterKind.POSITIONAL_ONLY != kinds[at]:
            parts.append("/")
        if kinds[at] == ParameterKind.KEYWORD_ONLY and not {before} & {
            ParameterKind.KEYWORD_ONLY,
            ParameterKind.VAR_POSITIONAL,
        }:
            parts.append("*")
        parts.append(one_line(show(parameter)))
    return [*parts, "/"] if kinds[-1:] == [ParameterKind.POSITIONAL_ONLY] else parts


def wrapped(head: str, parts: Sequence[str], tail: str, width: int) -> list[str]:
    """Join parts with commas behind a head; a line that would be too long goes on below the first part."""
    indent = " " * (len(head) if len(head) <= _DEEPEST else _INDENT)
    ends = [*(", " for _ in parts[1:]), tail] if parts else [tail]
    lines, line = [], head
    for part, end in zip(parts or [""], ends, strict=True):
        if len(line) + len(part + end.rstrip()) > width and line.strip() not in {"", head.strip()}:
            lines.append(line.rstrip())
            line = indent
        line += part + end
    return [*lines, line.rstrip()]


def one_line(text: str) -> str:
    """Write a text without line breaks and doubled spaces."""
    return " ".join(text.split())
