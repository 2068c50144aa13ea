"""Changes and states in the words of somebody who uses the library: what the history and the diff tell."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version

from pipeline.api.history.parameters import written
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE
from pipeline.core.vocabularies.change_words import one_line
from pipeline.core.vocabularies.changes import REPLACEABLE, ChangeKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import ChangeRow, SymbolState

_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
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


def phrases(changes: Iterable[ChangeRow]) -> list[Phrase]:
    """Tell the changes of one API in one release, what breaks first; what is the same for several parameters once."""
    ordered = sorted(changes, key=_order)
    texts = [phrase for _, group in groupby(ordered, key=_order) for phrase in _together(list(group))]
    return sorted(texts, key=lambda phrase: not phrase.breaking)


def _order(change: ChangeRow) -> tuple[int, str]:
    """Order by kind; changes that share a heading stand together."""
    kind = ChangeKind(change["kind"])
    return list(ChangeKind).index(kind), _heading(kind, change) or ""


def _heading(kind: ChangeKind, change: ChangeRow) -> str | None:
    return kind.behaviour.heading(change) if kind.behaviour.heading else None


def _together(group: Sequence[ChangeRow]) -> Iterator[Phrase]:
    kind = ChangeKind(group[0]["kind"])
    head = _heading(kind, group[0])
    if head is None:
        for change in group:
            text = kind.behaviour.words(change) + _sure(change)
            yield Phrase(text + _use(change), change["breaking"])
        return
    for breaking in (True, False):
        members = [kind.behaviour.member(change) + _sure(change) for change in group if change["breaking"] == breaking]
        if members:
            yield Phrase(f"{head}: {', '.join(members)}", breaking)


def _sure(change: ChangeRow) -> str:
    """Say how a change is known where comparing sources is not all, or not enough."""
    notes = [] if change["evidence"] == Evidence.STATIC else [str(change["evidence"])]
    notes += [f"{change['confidence']:.0%} sure"] if change["confidence"] < 1 else []
    return f" ({', '.join(notes)})" if notes else ""


def _use(change: ChangeRow) -> str:
    """Say what the library says to use instead, where nothing else in the phrase does."""
    replacement = change["replacement"] or ""
    in_mark = change["kind"] == ChangeKind.DEPRECATED and replacement.rpartition(".")[2] in (change["new"] or "")
    return f"; use {replacement}" if replacement and change["kind"] in REPLACEABLE and not in_mark else ""


def signature(row: SymbolState, width: int) -> list[str]:
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
