"""The surfaces of a library's releases as tables: `symbols`, `importable_names` and `documents`, interval coded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from packaging.version import Version

from pipeline.api.surface.reader import Surface
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.collector import without_collector
from pipeline.lake.guard import attempt
from pipeline.lake.intervals import Intervals
from pipeline.lake.rows import AnyRow, ReleaseRow, Tables
from pipeline.lake.stage import Output, Reject, Update, as_tables

TABLES = ("symbols", "importable_names", "documents")

# Where something stands and what its body is like do not belong to its state: in an sdist the folder's name has the
# version in it, and a body changes more often than what a caller sees of it.
_PLACE = frozenset({"file", "line", "body_sketch", "docstring_sketch"})

Since = Callable[[str], Mapping[str, str]]
"""Gives, for a table, the first version of each row that still holds in the lake, by path."""


@dataclass(slots=True)
class Done:
    """How far a library's surfaces were read: a line for each release, in order."""

    lines: list[list[Any]]
    failed: bool = False

    @classmethod
    def of(cls, progress: list[list[Any]] | None, releases: Sequence[ReleaseRow]) -> Done:
        """Take over the lines of an earlier run if its releases are the first of these, else none."""
        lines = progress or []
        same = [line[:3] for line in lines] == [identity(release) for release in releases[: len(lines)]]
        return cls(list(lines) if same else [])

    def add(self, release: ReleaseRow, surface: Surface) -> None:
        """Note a release."""
        unread = [Reject("", RejectReason.NOTHING_READ, surface.unread)] if surface.unread else []
        parts = surface.problems, (*surface.notes, *unread)
        entries = [[[reject.key, str(reject.reason), reject.detail] for reject in part] for part in parts]
        self.lines.append([*identity(release), surface.modules, *entries])

    def fail(self, release: ReleaseRow, failure: Reject) -> None:
        """Note a release that could not be put together, as one module."""
        self.lines.append([*identity(release), 1, [["", str(failure.reason), failure.detail]], []])
        self.failed = True


def identity(release: ReleaseRow) -> list[Any]:
    """Return what makes a release the same one as before: version, predecessor, and the file it is read from."""
    return [release["version"], release["predecessor"], release["sha256"]]


def in_order(releases: Sequence[ReleaseRow]) -> list[ReleaseRow]:
    """Return releases in PEP 440 order."""
    return sorted(releases, key=lambda release: Version(release["version"]))


@without_collector()
def surface_stage(
    tables: Tables,
    surface_of: Callable[[ReleaseRow], Surface],
    progress: list[list[Any]] | None = None,
    since: Since = lambda _: {},
    at_gap: Callable[[], None] = lambda: None,
) -> Output:
    """Make the `symbols`, `importable_names` and `documents` rows of a library out of the surfaces of its releases.

    The unit counted is a module of a release; a module whose file does not parse is rejected under "version file". A
    statement that is left out of one is a note, and so is a release of which nothing was read, under its version. A
    release at which an exception is raised is one reject INTERNAL_ERROR, and has no rows: the next one begins anew.
    With the `progress` of an earlier output whose releases are the first of these, only the later ones are read.
    `at_gap` is called before a release whose predecessor is not the one before: all its rows begin in it.
    """
    ordered = in_order(tables["releases"])
    done = Done.of(progress, ordered)
    intervals = {name: Intervals(_same) for name in TABLES}
    library = ordered[0]["library"] if ordered else ""
    resumed = bool(done.lines)
    last = ordered[len(done.lines) - 1] if resumed else None
    if last is not None:
        for name, states in _states(surface_of(last)).items():
            intervals[name].resume(last["version"], states, since(name))
    for release in ordered[len(done.lines) :]:
        follows = last is None or release["predecessor"] == last["version"]
        if not follows:
            at_gap()
        surface = attempt(release["version"], surface_of, release)
        if isinstance(surface, Reject):
            at_gap()
            for table in intervals.values():
                table.gap()
            done.fail(release, surface)
            continue
        for name, states in _states(surface).items():
            if not follows:
                intervals[name].gap()
            intervals[name].advance(release["version"], states)
        done.add(release, surface)
        last = release
    return _output(intervals, done, library, resumed=resumed)


def _states(surface: Surface) -> dict[str, Mapping[str, AnyRow]]:
    return {"symbols": surface.symbols, "importable_names": surface.importable_names, "documents": surface.documents}


def _same(row: AnyRow, other: AnyRow) -> bool:
    if row == other:
        return True
    state_of = _state_of(tuple(row))
    return bool(state_of(row) == state_of(other))


@functools.cache
def _state_of(columns: tuple[str, ...]) -> Callable[[AnyRow], Any]:
    return itemgetter(*(column for column in columns if column not in _PLACE))


def _output(tables: Mapping[str, Intervals], done: Done, library: str, *, resumed: bool) -> Output:
    rejects, notes = (
        [
            Reject(f"{line[0]} {file}".strip(), RejectReason(reason), detail)
            for line in done.lines
            for file, reason, detail in line[place]
        ]
        for place in (4, 5)
    )
    count = sum(line[3] for line in done.lines)
    rows = {name: table.rows for name, table in tables.items()}
    for row in chain.from_iterable(rows.values()):
        row["library"] = library
    changed: dict[str, dict[tuple[str, ...], AnyRow]] = {
        name: {key: {"last_version": last} for key, last in table.ended.items()} for name, table in tables.items()
    }
    return Output(
        {} if resumed else as_tables(rows),
        units_in=count,
        units_out=count - len(rejects),
        rejects=rejects,
        notes=notes,
        updates={name: Update(rows[name], changed[name]) for name in rows} if resumed else {},
        progress=None if done.failed else done.lines,
    )
