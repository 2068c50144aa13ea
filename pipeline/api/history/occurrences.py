"""The releases that introduced a path, parameter or mark of deprecation; removals and changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE
from pipeline.api.surface.resolve.labels import OPAQUE, UNPARSED
from pipeline.core.vocabularies.changes import RELOCATED, ChangeKind
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.intervals import chains, holding_at
from pipeline.lake.rows import ChangeRow, LifecycleRow, R, ReleaseRow, SymbolRow

_UNSEEN = frozenset({SymbolKind.ALIAS, SymbolKind.LAZY, SymbolKind.EXTERNAL})
_UNSEEN_LABELS = frozenset({OPAQUE, UNPARSED, UNSEEN_SIGNATURE})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A release in which something was found; `exact` if the release before is known not to have it."""

    version: str
    exact: bool


class Timeline:
    """The releases of a library that the lake holds, in PEP 440 order."""

    def __init__(self, releases: Iterable[ReleaseRow]) -> None:
        self.runs = chains(releases)
        self.versions = [version for run in self.runs for version in run]
        self._parsed = [Version(version) for version in self.versions]
        self._place = {version: place for place, version in enumerate(self.versions)}
        self._starts = {run[0] for run in self.runs}

    def release_of(self, required: Version) -> str | None:
        """Return the first release that can have what is stated of a version; None where it is still to come.

        "1.2" is 1.2.0 or, where that was skipped, the next release; "1.2rc1" is 1.2.0.
        """
        return next(
            (text for text, version in zip(self.versions, self._parsed, strict=True) if version >= required), None
        )

    def covers(self, version: str) -> bool:
        """Return whether the lake holds the release before a version, too."""
        return version not in self._starts

    def before(self, version: str, other: str) -> bool:
        """Return whether a release comes before another."""
        return self._place[version] < self._place[other]

    def next_series(self, required: Version, version: str) -> bool:
        """Return whether a version is of the minor series that comes right after the one of a stated version."""
        series = sorted({parsed.release[:2] for parsed in self._parsed} | {required.release[:2]})
        return series.index(Version(version).release[:2]) == series.index(required.release[:2]) + 1

    def follows(self, version: str, last: str | None) -> bool:
        """Return whether a version comes right after the last one of an interval, without a gap between them."""
        return last is not None and self.covers(version) and self._place[version] == self._place[last] + 1


class Occurrences:
    """What the tables of a library tell about when things happened, looked up by public path."""

    def __init__(
        self,
        timeline: Timeline,
        symbols: Iterable[SymbolRow],
        lifecycles: Iterable[LifecycleRow],
        changes: Iterable[ChangeRow],
    ) -> None:
        self.timeline = timeline
        self.states = _by_path(symbols)
        self._lifetimes = _by_path(lifecycles)
        self._changes = _by_path(changes)
        self._paths: dict[str, set[str]] = defaultdict(set)
        for row in (row for rows in self.states.values() for row in rows):
            self._paths[row["canonical_path"]].add(row["path"])
        self._origins = {(c["new"], c["new_version"]): c["path"] for c in changes if c["kind"] in RELOCATED}

    def state_at(self, path: str, version: str) -> SymbolRow | None:
        """Return the state of a path in a release."""
        return next(iter(holding_at(self.states.get(path, ()), version)), None)

    def paths_of(self, path: str, canonical: str) -> list[str]:
        """Return the paths that an API had: this one, the others of its definition, and those it was moved from."""
        paths = [path, *sorted(self._paths[canonical] - {path})]
        for name in paths:
            paths += [old for old in self._before(name) if old not in paths]
        return paths

    def _before(self, path: str) -> Iterator[str]:
        """Yield what a path was called before, where it, or its class or module, was renamed or moved."""
        for life in self._lifetimes.get(path, ()):
            head, tail = path, ""
            while head:
                if old := self._origins.get((head, life["first_version"])):
                    yield old + tail
                head, _, name = head.rpartition(".")
                tail = f".{name}{tail}"

    def arrivals(self, paths: Sequence[str]) -> list[Occurrence]:
        """Return when each of the paths came."""
        lifetimes = (life for path in paths for life in self._lifetimes.get(path, ()))
        return [Occurrence(life["first_version"], life["introduced_in"] is not None) for life in lifetimes]

    def removals(self, paths: Sequence[str]) -> list[Occurrence]:
        """Return when each of the paths went."""
        lifetimes = (life for path in paths for life in self._lifetimes.get(path, ()))
        return [Occurrence(life["removed_in"], True) for life in lifetimes if life["removed_in"]]

    def states_with(self, paths: Sequence[str], holds: Callable[[SymbolRow], bool]) -> list[Occurrence]:
        """Return when each of the paths came into a state in which something holds.

        It is exact where the release before has the path without it, or is known not to have the path.
        """
        return [occurrence for path in paths for occurrence in self._states_with(path, holds)]

    def _states_with(self, path: str, holds: Callable[[SymbolRow], bool]) -> Iterator[Occurrence]:
        introduced = {life["introduced_in"] for life in self._lifetimes.get(path, ())}
        before: SymbolRow | None = None
        for row in self.states.get(path, ()):
            follows = before is not None and self.timeline.follows(row["first_version"], before["last_version"])
            if holds(row) and not (follows and before is not None and holds(before)):
                without = follows and before is not None and is_observable(before)
                yield Occurrence(row["first_version"], without or row["first_version"] in introduced)
            before = row

    def changes(
        self, paths: Sequence[str], kinds: Collection[ChangeKind], parameter: str | None = None
    ) -> list[Occurrence]:
        """Return when the paths, or one parameter of theirs, changed in one of the ways."""
        rows = (row for path in paths for row in self._changes.get(path, ()))
        return [
            Occurrence(row["new_version"], True)
            for row in rows
            if row["kind"] in kinds and (parameter is None or parameter in {row["parameter"], row["new"]})
        ]


def is_observable(row: SymbolRow) -> bool:
    """Return whether a `symbols` row shows what its API is, not merely that it is there."""
    return row["kind"] not in _UNSEEN and not _UNSEEN_LABELS.intersection(row["labels"])


def _by_path(rows: Iterable[R]) -> dict[str, list[R]]:
    groups: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[row["path"]].append(row)
    for group in groups.values():
        if "first_version" in group[0]:
            group.sort(key=lambda row: Version(row["first_version"]))
    return groups
