"""Which releases of a dependent are read: one for each release of the library in whose days it came out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.pins.matrix import Published
from pipeline.index.index import IndexFile, Project
from pipeline.index.release_selection import Period
from pipeline.lake.ids import content_id
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class DependentRelease:
    """A release of a dependent with its source distribution."""

    dependent: str
    version: str
    uploaded: datetime
    sdist: IndexFile

    @property
    def purl(self) -> str:
        """The package URL, which is also the key of what is refused of it."""
        return purl(self.dependent, self.version)


def purl(name: str, version: str) -> str:
    """Return the package URL of a release (https://github.com/package-url/purl-spec)."""
    return f"pkg:pypi/{name}@{version}"


class Days:
    """Which release of a library was its newest at a time, by all final releases that it has."""

    def __init__(self, finals: Iterable[Published]) -> None:
        self._times: list[datetime] = []
        self._newest: list[str] = []
        for final in sorted(finals, key=lambda final: (final.uploaded, Version(final.version))):
            if not self._newest or Version(final.version) > Version(self._newest[-1]):
                self._times.append(final.uploaded)
                self._newest.append(final.version)

    def newest_at(self, time: datetime) -> str | None:
        """Return the newest release by version at a time, None before the first."""
        place = bisect_right(self._times, time)
        return self._newest[place - 1] if place else None


def choose(
    dependent: Project, library: str, days: Days, covered: Set[str], period: Period, most: int
) -> list[DependentRelease | Reject]:
    """Return the releases of a dependent to read, at most so many, or what was refused in their place.

    In the days in which one of the `covered` releases of the library was its newest, the last release of the dependent
    that has a source distribution is taken: code written then is most likely for that release. Of more than `most`,
    those are taken whose hashes are smallest, so that what was taken stays taken when releases are added.
    """
    by_newest: dict[str, list[tuple[datetime, DependentRelease | Reject]]] = {}
    for spelled, files in dependent.releases.items():
        time = min((file.uploaded for file in files if file.uploaded), default=None)
        newest = days.newest_at(time) if time and period.covers(time) else None
        if time and newest in covered:
            by_newest.setdefault(str(newest), []).append((time, _release(dependent.library, spelled, files, time)))
    ranked = sorted(by_newest, key=lambda newest: content_id(library, dependent.library, newest))
    return [_last(by_newest[newest]) for newest in sorted(ranked[:most], key=Version)]


def _last(releases: Sequence[tuple[datetime, DependentRelease | Reject]]) -> DependentRelease | Reject:
    """Return the last release that can be read, else why the last one cannot be."""

    def place(release: tuple[datetime, DependentRelease | Reject]) -> tuple[bool, datetime, str]:
        time, read = release
        return (False, time, read.key) if isinstance(read, Reject) else (True, time, read.purl)

    return max(releases, key=place)[1]


def _release(dependent: str, spelled: str, files: Sequence[IndexFile], time: datetime) -> DependentRelease | Reject:
    key = purl(dependent, spelled)
    try:
        if Version(spelled).is_prerelease:
            return Reject(key, RejectReason.PRE_RELEASE, "only final releases of dependents are read")
    except InvalidVersion:
        return Reject(key, RejectReason.INVALID_VERSION, "not a version by PEP 440")
    usable = [file for file in files if not file.yanked]
    if not usable:
        return Reject(key, RejectReason.YANKED, "withdrawn by its authors")
    sdists = [file for file in usable if file.kind is ArtifactKind.SDIST]
    if not sdists:
        return Reject(key, RejectReason.NO_FILES, "the index lists no source distribution of it")
    return DependentRelease(dependent, spelled, time, min(sdists, key=lambda file: file.filename))
