"""Which final releases of a library an index has, as of a time, and which of them a period wants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.artifacts import choose_artifact
from pipeline.index.index import IndexFile, Project
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class Period:
    """The covered period of a refresh, [since, until) in UTC; None on a side means without end on that side.

    Of a library that was never crawled `from_start_if_new` covers all releases before the end.
    """

    since: datetime | None = None
    until: datetime | None = None
    from_start_if_new: bool = False

    def covers(self, time: datetime) -> bool:
        """Tell whether a time lies in the period."""
        return (self.since is None or self.since <= time) and (self.until is None or time < self.until)

    def within(self, since: date | None, until: date | None) -> Period:
        """Return the part of the period that begins at one day's midnight, UTC, and ends at another's."""
        starts = [time for time in (self.since, _midnight(since)) if time]
        ends = [time for time in (self.until, _midnight(until)) if time]
        return Period(max(starts, default=None), min(ends, default=None))


def _midnight(day: date | None) -> datetime | None:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The requested releases of a library: a range of versions, and at most `latest` of the newest in it.

    They are final and not withdrawn; releases that are `named` may be neither.
    """

    library: str
    versions: SpecifierSet
    latest: int | None
    period: Period
    named: frozenset[Version] = frozenset()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release that can be taken, before its file was fetched; `file` is None where only the lake has it."""

    version: str
    uploaded: datetime
    file: IndexFile | None
    predecessor: str | None


def finals_of(
    project: Project, versions: SpecifierSet, end: datetime | None = None, named: Collection[Version] = ()
) -> tuple[list[Candidate], list[Reject]]:
    """Return the final releases of a library in PEP 440 order, and what is refused within a range of versions.

    Candidates are not limited to the range, since the predecessor of a release may lie outside of it. With an `end`
    files that were uploaded then or later are not seen, and so are releases that had none before. Releases that are
    `named` are taken where they are no final ones, or withdrawn (PEP 440 and 592 want them named exactly).
    """
    finals: dict[Version, Candidate] = {}
    refused = []
    for spelled, listed in project.releases.items():
        files = [file for file in listed if end is None or file.uploaded is None or file.uploaded < end]
        if listed and not files:
            continue
        result = _candidate(spelled, files, named)
        if isinstance(result, Candidate):
            finals[Version(spelled)] = result
        elif _in_range(spelled, versions):
            refused.append(result)
    ordered = []
    before: str | None = None
    for version in sorted(finals):
        final = finals[version]
        ordered.append(Candidate(final.version, final.uploaded, final.file, before))
        before = final.version
    return ordered, sorted(refused, key=lambda reject: reject.key)


def _in_range(spelled: str, versions: SpecifierSet) -> bool:
    """Tell whether a version counts for a range; one that is not PEP 440 counts for every range."""
    try:
        return versions.contains(spelled, prereleases=True)
    except InvalidVersion:
        return True


def _candidate(spelled: str, files: Sequence[IndexFile], named: Collection[Version]) -> Candidate | Reject:
    try:
        version = Version(spelled)
    except InvalidVersion:
        return Reject(spelled, RejectReason.INVALID_VERSION, "not a version by PEP 440, it has no place in the order")
    if version.is_prerelease and version not in named:
        return Reject(spelled, RejectReason.PRE_RELEASE, "only final releases are taken")
    usable = [file for file in files if not file.yanked] or (files if version in named else [])
    if files and not usable:
        return Reject(spelled, RejectReason.YANKED, RejectReason.YANKED.meaning)
    chosen = choose_artifact(usable)
    if chosen is None:
        return Reject(spelled, RejectReason.NO_FILES, "the index lists no wheel and no source distribution for it")
    times = [file.uploaded for file in usable if file.uploaded]
    if not times:
        return Reject(
            spelled,
            RejectReason.BAD_INDEX_ANSWER,
            "the index gives no upload times, neither in the project document nor in the simple API (PEP 700)",
        )
    return Candidate(spelled, min(times), chosen, None)


def select(finals: Sequence[Candidate], request: ReleaseRequest) -> list[Candidate]:
    """Return the candidates to take: those in range and period, and, for a bounded period, each one's predecessor.

    Without its predecessor a release of this week could not be compared with anything. What is taken depends on
    the index and the period alone, so past periods can be taken later, in any order, with the same result.
    """
    # of the others only named ones are among them
    in_range = [c for c in finals if request.versions.contains(c.version, prereleases=True)]
    if request.latest is not None:
        in_range = in_range[-request.latest :]
    chosen = {c.version for c in in_range if request.period.covers(c.uploaded)}
    if request.period.since is not None:
        chosen |= {c.predecessor for c in finals if c.version in chosen and c.predecessor}
    return [c for c in finals if c.version in chosen]
