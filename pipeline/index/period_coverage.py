"""What a refresh covers: the periods that were ever taken, and which releases they want as of the end of this one.

A refresh of a past week must see what it would have seen then, whatever came since and in whatever order weeks are
taken: nothing of what the index or the lake has from later on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from packaging.version import Version

from pipeline.index.index import Project
from pipeline.index.release_selection import Candidate, Period, Wanted, finals_of, select
from pipeline.lake.rows import ReleaseRow

_NEVER = datetime.max.replace(tzinfo=UTC)
_SETTLED = timedelta(days=365)
"""After that long nothing that an environment is resolved with can be newer than the end of a period."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A period that was taken, until its end or, where it has none (`is_open`), the time at which it was taken.

    `until` is None for one without an end that is being taken now.
    """

    since: datetime | None
    until: datetime | None
    is_open: bool

    def cut(self, end: datetime | None) -> datetime | None:
        """Return where it ends for a refresh that ends there itself."""
        return min((time for time in (self.until, end) if time), default=None)

    def as_of(self, end: datetime | None) -> datetime | None:
        """Return the time from which on nothing is used for what it brought, None where there is none."""
        is_cut = end is not None and (self.until is None or end < self.until)
        return self.cut(end) if is_cut or not self.is_open else None


@dataclass(frozen=True, slots=True)
class Want:
    """A release that is covered, as the index had it at the end of the period that brought it."""

    candidate: Candidate
    end: datetime | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class Covered:
    """What a refresh covers of a library, by version: releases to have, and the predecessor of each.

    `kept` are versions of the lake that no period explains and that stay: those of a lake from before periods were
    noted, and those out of a range that was narrowed.
    """

    wants: Mapping[str, Want]
    kept: frozenset[str]
    predecessors: Mapping[str, str | None]


def periods_of(progress: Mapping[str, Any] | None, period: Period, has_latest: bool) -> list[Taken]:
    """Return the periods that earlier runs noted, with that of this run.

    Of two without an end that begin alike the later one says all; but not where only so many of the newest releases are
    taken (`has_latest`), since those of the earlier one stay.
    """
    noted = [
        Taken(_time(since), _time(until), is_open) for since, until, is_open in (progress or {}).get("periods", ())
    ]
    mine = Taken(period.since, period.until, period.until is None)
    said = [one for one in noted if mine.is_open and one.is_open and one.since == mine.since and not has_latest]
    return [one for one in noted if one not in said and one != mine] + [mine]


def told(periods: Iterable[Taken], now: datetime) -> list[list[Any]]:
    """Return periods as plain JSON values; one that is open has come as far as `now`."""
    lines = [[_iso(one.since), _iso(one.until or now), one.is_open] for one in periods]
    return sorted(lines, key=lambda line: (line[1], line[0] or ""))


def cover(found: Project, wanted: Wanted, periods: Sequence[Taken], known: Sequence[ReleaseRow]) -> Covered:
    """Tell what the periods cover of a library, as it was at the end of the one that is wanted now.

    Each period wants what it would have wanted then: the files that were there, the newest of that day. A release that
    several want is as the one that ended first had it.
    """
    end = wanted.period.until
    finals = cache(lambda time: with_known(finals_of(found, wanted.versions, time, wanted.named)[0], known, time))

    def wanted_in(one: Taken, until: datetime | None) -> list[Candidate]:
        return select(finals(until), replace(wanted, period=Period(one.since, until)))

    wants: dict[str, Want] = {}
    for one in sorted(periods, key=lambda one: one.cut(end) or _NEVER):
        until = one.cut(end)
        for candidate in wanted_in(one, until):
            as_of = one.as_of(end)
            settled = as_of is not None and as_of > candidate.uploaded + _SETTLED
            wants.setdefault(candidate.version, Want(candidate, until, None if settled else as_of))
    ever = {candidate.version for one in periods for candidate in wanted_in(one, one.until)}
    kept = {
        row["version"]
        for row in known
        if row["version"] not in wants.keys() | ever and (end is None or row["release_time"] < end)
    }
    before = {candidate.version: candidate.predecessor for candidate in finals(end)}
    return Covered(wants, frozenset(kept), {version: before.get(version) for version in wants.keys() | kept})


def with_known(finals: Sequence[Candidate], known: Iterable[ReleaseRow], end: datetime | None) -> list[Candidate]:
    """Return the final releases with those that only the lake has: withdrawn since, they stay where they were."""
    listed = {candidate.version for candidate in finals}
    gone = [row for row in known if row["version"] not in listed and (end is None or row["release_time"] < end)]
    merged = [*finals, *(Candidate(row["version"], row["release_time"], None, None) for row in gone)]
    ordered, before = [], None
    for candidate in sorted(merged, key=lambda one: Version(one.version)):
        ordered.append(replace(candidate, predecessor=before))
        before = candidate.version
    return ordered


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _iso(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat() if time else None
