"""The releases stage: which releases of a library are taken, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pipeline.crawl.archives import BadArchive, UnsafeArchive
from pipeline.crawl.artifacts import ArtifactStore, choose_artifact
from pipeline.crawl.http import BadAnswer, BrokenOff, NotFound, Unreachable, WrongHash
from pipeline.crawl.index import IndexFile, Project, project
from pipeline.crawl.licences import LicenceRules, spdx
from pipeline.crawl.manifest import Artifact, parse_metadata
from pipeline.lake import Output, Reject, Row
from pipeline.terms import RejectReason

_REASONS: dict[type[Exception], RejectReason] = {
    Unreachable: RejectReason.INDEX_UNREACHABLE,
    BrokenOff: RejectReason.INDEX_UNREACHABLE,
    NotFound: RejectReason.NO_FILES,
    BadAnswer: RejectReason.NO_FILES,
    WrongHash: RejectReason.WRONG_HASH,
    BadArchive: RejectReason.BAD_ARCHIVE,
    UnsafeArchive: RejectReason.UNSAFE_ARCHIVE,
}


@dataclass(frozen=True, slots=True)
class Period:
    """The covered period of a refresh, [since, until) in UTC; None on a side means without end on that side."""

    since: datetime | None = None
    until: datetime | None = None

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
class Wanted:
    """What a profile wants of a library: a range of versions, and at most so many of the newest in it."""

    library: str
    versions: SpecifierSet
    latest: int | None
    period: Period


@dataclass(frozen=True, slots=True)
class Candidate:
    """A final release that can be taken, before its file was fetched."""

    version: str
    uploaded: datetime
    file: IndexFile
    predecessor: str | None


def releases_stage(
    wanted: Wanted,
    known: Sequence[Row],
    index_url: str,
    store: ArtifactStore,
    licences: LicenceRules,
    workers: int,
    wanted_sources: Callable[[str], bool] | None = None,
) -> Output:
    """Take the releases that are wanted and new, beside those `known` from earlier runs, which stay.

    Their sources (those paths from the import root that are wanted) are in the store afterwards.
    The unit is a release in the wanted range. When the index cannot be asked, or does not know the library any
    more, what is known stays as it is and the library is a reject.
    """
    try:
        found = project(store.fetcher, index_url, wanted.library)
    except (Unreachable, NotFound, BadAnswer) as error:
        return _without_index(wanted.library, known, error)
    finals, refused = finals_of(found, wanted.versions)
    taken = select(finals, wanted, frozenset(row["version"] for row in known))
    made = {row["version"]: row | {"predecessor": _predecessor(finals, row)} for row in known}
    new = [candidate for candidate in taken if candidate.version not in made]
    with ThreadPoolExecutor(workers) as pool:
        read = partial(_release, library=wanted.library, store=store, licences=licences, wanted=wanted_sources)
        for result in pool.map(read, new):
            if isinstance(result, Reject):
                refused.append(result)
            else:
                made[result["version"]] = result
    if not made and not refused:
        refused.append(Reject(wanted.library, RejectReason.NO_RELEASES, f"no release in {wanted.versions or 'any'}"))
    rows = [made[version] for version in sorted(made, key=Version)]
    return Output({"releases": rows}, len(rows) + len(refused), len(rows), refused)


def _without_index(library: str, known: Sequence[Row], error: Exception) -> Output:
    reason = {
        NotFound: RejectReason.NO_SUCH_LIBRARY,
        BadAnswer: RejectReason.BAD_INDEX_ANSWER,
        Unreachable: RejectReason.INDEX_UNREACHABLE,
    }[type(error)]
    seen = "no project of that name" if isinstance(error, NotFound) else str(error)
    reject = Reject(library, reason, f"{seen}. Check the name in the profile, or the index setting, and run again.")
    return Output({"releases": known}, len(known) + 1, len(known), [reject])


def finals_of(found: Project, versions: SpecifierSet) -> tuple[list[Candidate], list[Reject]]:
    """Return the final releases of a library in PEP 440 order, and what is refused within a range of versions.

    Candidates are not limited to the range, since the predecessor of a release may lie outside of it.
    """
    finals: dict[Version, Candidate] = {}
    refused = []
    for spelled, files in found.releases.items():
        result = _candidate(spelled, files)
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


def _candidate(spelled: str, files: Sequence[IndexFile]) -> Candidate | Reject:
    try:
        version = Version(spelled)
    except InvalidVersion:
        return Reject(spelled, RejectReason.INVALID_VERSION, "not a version by PEP 440, it has no place in the order")
    if version.is_prerelease:
        return Reject(spelled, RejectReason.PRE_RELEASE, "only final releases are taken")
    usable = [file for file in files if not file.yanked]
    if files and not usable:
        return Reject(spelled, RejectReason.YANKED, "withdrawn by its authors")
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


def select(finals: Sequence[Candidate], wanted: Wanted, known: frozenset[str]) -> list[Candidate]:
    """Return the candidates to take: those in range and period, and, for a bounded period, each one's predecessor.

    Without its predecessor a release of this week could not be compared with anything. What is taken depends on
    the index and the period alone, so past periods can be taken later, in any order, with the same result.
    """
    in_range = [c for c in finals if wanted.versions.contains(c.version)]
    if wanted.latest is not None:
        in_range = in_range[-wanted.latest :]
    chosen = {c.version for c in in_range if wanted.period.covers(c.uploaded)}
    if wanted.period.since is not None:
        chosen |= {c.predecessor for c in finals if c.version in chosen and c.predecessor}
    return [c for c in finals if c.version in chosen or c.version in known]


def _predecessor(finals: Iterable[Candidate], row: Row) -> str | None:
    """Return the predecessor as the index has it now; a release that was yanked since keeps the one it had."""
    before: Mapping[str, str | None] = {c.version: c.predecessor for c in finals}
    kept: str | None = row["predecessor"]
    return before.get(row["version"], kept)


def _release(
    candidate: Candidate,
    library: str,
    store: ArtifactStore,
    licences: LicenceRules,
    wanted: Callable[[str], bool] | None,
) -> Row | Reject:
    file = candidate.file
    try:
        tree, manifest = store.read(Artifact(file.url, file.sha256, file.size, file.kind), library, wanted)
    except tuple(_REASONS) as error:
        # Without the mirror's address, so that the row is the same wherever it was made.
        detail = str(error).replace(f"{file.url}: ", "")
        return Reject(candidate.version, _REASONS[type(error)], f"{file.filename}: {detail}")
    if not tree.import_names:
        return Reject(candidate.version, RejectReason.NO_MODULES, f"{file.filename} holds no package or module to read")
    metadata = parse_metadata(manifest.metadata)
    licence, stated = spdx(metadata.licence_expression, metadata.licence_text, metadata.classifiers, licences)
    return {
        "library": library,
        "version": candidate.version,
        "release_time": candidate.uploaded,
        "predecessor": candidate.predecessor,
        "requires_python": file.requires_python,
        "artifact": file.filename,
        "artifact_kind": file.kind,
        "sha256": file.sha256,
        "size": file.size or manifest.artifact.size,
        "url": file.url,
        "import_names": list(tree.import_names),
        "licence": licence,
        "licence_stated": stated,
        "attribution": metadata.author,
        "purl": f"pkg:pypi/{library}@{candidate.version}",
    }
