"""Interval coding: a state that holds over a run of consecutive releases is one row with its first and last version."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import is_not
from typing import Any

from packaging.version import Version

from pipeline.lake.rows import AnyRow, R, ReleaseRow


def chains(releases: Iterable[ReleaseRow]) -> list[list[str]]:
    """Group the versions of a library's `releases` rows into runs without a gap, in PEP 440 order.

    A gap is a release that the index has and the lake has not: what happened inside it is not known, so no state
    is said to hold across it and no change is derived over it.
    """
    runs: list[list[str]] = []
    for release in sorted(releases, key=lambda row: Version(row["version"])):
        if runs and release["predecessor"] == runs[-1][-1]:
            runs[-1].append(release["version"])
        else:
            runs.append([release["version"]])
    return runs


@dataclass(slots=True)
class _Living:
    """A state that holds: since when, and its row if this run made it."""

    first_version: str
    row: dict[str, Any] | None


class Intervals:
    """The interval-coded rows of one table, made release by release.

    `rows` are new; their last_version is None while the state holds. `ended` gives the last version of rows that an
    earlier run made, by (key, first version). Two rows are one state where `same` says so.
    """

    def __init__(self, same: Callable[[AnyRow, AnyRow], bool]) -> None:
        self.rows: list[dict[str, Any]] = []
        self.ended: dict[tuple[str, str], str] = {}
        self._same = same
        self._living: dict[str, _Living] = {}
        self._states: Mapping[str, AnyRow] = {}
        self._last = ""

    def resume(self, version: str, states: Mapping[str, AnyRow], since: Mapping[str, str]) -> None:
        """Take up after `version`, whose states are in the lake already; `since` maps key to first version there."""
        self._last, self._states = version, states
        self._living = {key: _Living(since[key], None) for key in states}

    def advance(self, version: str, states: Mapping[str, AnyRow]) -> None:
        """Go on to the next release, with the rows that hold in it by key."""
        living, before = self._living, self._states
        # most rows are the very ones of the last release
        for key in list(compress(states, map(is_not, states.values(), map(before.get, states)))):
            row_so_far, state = living.get(key), states[key]
            if row_so_far is not None:
                if self._same(before[key], state):
                    continue
                self._end(key, row_so_far)
            row = {**state, "first_version": version, "last_version": None}
            living[key] = _Living(version, row)
            self.rows.append(row)
        if len(living) > len(states):
            for key in living.keys() - states.keys():
                self._end(key, living.pop(key))
        self._last, self._states = version, states

    def gap(self) -> None:
        """End every state at the release before: the one that follows is not its successor."""
        for key, living in self._living.items():
            self._end(key, living)
        self._living, self._states = {}, {}

    def _end(self, key: str, living: _Living) -> None:
        if living.row is None:
            self.ended[key, living.first_version] = self._last
        else:
            living.row["last_version"] = self._last


def encode(
    runs: Sequence[Sequence[str]],
    states: Mapping[str, Mapping[str, AnyRow]],
    state_of: Callable[[AnyRow], Hashable],
) -> list[Any]:
    """Turn the rows of each version into rows with `first_version` and `last_version`, both of them known.

    `states` maps version to key to row; two rows are one state when `state_of` gives the same for both. The row
    that is kept is that of the first version of its run.
    """
    coded = Intervals(lambda one, other: state_of(one) == state_of(other))
    for run in runs:
        for version in run:
            coded.advance(version, states.get(version, {}))
        coded.gap()
    return coded.rows


def holds_at(row: AnyRow, version: Version) -> bool:
    """Return whether an interval-coded row holds in a version; one without last_version still holds."""
    last = row["last_version"]
    return Version(row["first_version"]) <= version and (last is None or version <= Version(last))


def holding_at(rows: Iterable[R], version: str) -> list[R]:
    """Return the interval-coded rows that hold in a version, that is first_version <= version <= last_version."""
    release = Version(version)
    return [row for row in rows if holds_at(row, release)]
