"""The releases that a refresh covers: those of all periods so far, as of the end of its own period.

A refresh of a past week uses nothing that the index or the lake has from later on, in whatever order weeks are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from packaging.version import Version

from pipeline.index.index import Project
from pipeline.index.release_selection import Candidate, Period, ReleaseRequest, finals_of, select
from pipeline.lake.rows import ReleaseRow

_NEVER = datetime.max.replace(tzinfo=UTC)
_SETTLED = timedelta(days=365)
"""After that long nothing that an environment is resolved with can be newer than the end of a period."""


@dataclass(frozen=True, slots=True)
class CoveredPeriod:
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
class CoveredRelease:
    """A release that is covered, as the index had it at the end of the period that brought it."""

    candidate: Candidate
    end: datetime | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class Covered:
    """The covered releases of a library by version, and the predecessor of each.

    `retained` are versions of the lake that no period selects and that stay: from before periods were noted, or out of
    a range that was narrowed.
    """

    releases: Mapping[str, CoveredRelease]
    retained: frozenset[str]
    predecessors: Mapping[str, str | None]


def periods_of(progress: Mapping[str, Any] | None, period: Period, has_latest: bool) -> list[CoveredPeriod]:
    """Return the periods that earlier runs noted, with that of this run.

    Of two without an end that begin alike the later one says all; but not where only so many of the newest releases are
    taken (`has_latest`), since those of the earlier one stay.
    """
    noted = [
        CoveredPeriod(_time(since), _time(until), is_open)
        for since, until, is_open in (progress or {}).get("periods", ())
    ]
    mine = CoveredPeriod(period.since, period.until, period.until is None)
    replaces = mine.is_open and not has_latest
    return [
        earlier
        for earlier in noted
        if earlier != mine and not (replaces and earlier.is_open and earlier.since == mine.since)
    ] + [mine]


def as_progress(periods: Iterable[CoveredPeriod], now: datetime) -> list[list[Any]]:
    """Return periods as plain JSON values; one that is open has come as far as `now`."""
    lines = [[_iso(period.since), _iso(period.until or now), period.is_open] for period in periods]
    return sorted(lines, key=lambda line: (line[1], line[0] or ""))


def cover(
    project: Project, request: ReleaseRequest, periods: Sequence[CoveredPeriod], rows: Sequence[ReleaseRow]
) -> Covered:
    """Return what the periods cover of a library, as of the end of the requested one.

    Each period selects what it would have selected then: the files that were there, the newest of that day. A release
    that several select is as the one that ended first had it.
    """
    end = request.period.until
    finals = cache(
        lambda time: with_withdrawn(finals_of(project, request.versions, time, request.named)[0], rows, time)
    )

    def select_in(period: CoveredPeriod, until: datetime | None) -> list[Candidate]:
        return select(finals(until), replace(request, period=Period(period.since, until)))

    releases: dict[str, CoveredRelease] = {}
    for period in sorted(periods, key=lambda period: period.cut(end) or _NEVER):
        until = period.cut(end)
        for candidate in select_in(period, until):
            as_of = period.as_of(end)
            settled = as_of is not None and as_of > candidate.uploaded + _SETTLED
            releases.setdefault(candidate.version, CoveredRelease(candidate, until, None if settled else as_of))
    ever = {candidate.version for period in periods for candidate in select_in(period, period.until)}
    retained = {
        row["version"]
        for row in rows
        if row["version"] not in releases.keys() | ever and (end is None or row["release_time"] < end)
    }
    before = {candidate.version: candidate.predecessor for candidate in finals(end)}
    return Covered(
        releases, frozenset(retained), {version: before.get(version) for version in releases.keys() | retained}
    )


def with_withdrawn(finals: Sequence[Candidate], rows: Iterable[ReleaseRow], end: datetime | None) -> list[Candidate]:
    """Return the final releases with those that only the lake has: withdrawn since, they stay where they were."""
    listed = {candidate.version for candidate in finals}
    gone = [row for row in rows if row["version"] not in listed and (end is None or row["release_time"] < end)]
    merged = [*finals, *(Candidate(row["version"], row["release_time"], None, None) for row in gone)]
    ordered, before = [], None
    for candidate in sorted(merged, key=lambda final: Version(final.version)):
        ordered.append(replace(candidate, predecessor=before))
        before = candidate.version
    return ordered


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _iso(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat() if time else None
