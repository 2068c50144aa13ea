"""Which environment each sample needs, and which samples share one; releases are looked up on the index once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pipeline.crawl import Fetcher, NotFound, project
from pipeline.environments import Wanted
from pipeline.lake import content_id
from pipeline.validation.samples import Sample, SampleError


@dataclass(frozen=True, slots=True)
class Release:
    """A release as the index has it: how it spells the version, when it came, and on which Pythons it runs."""

    version: str
    time: datetime | None
    requires_python: str | None
    yanked: bool


class Catalogue:
    """The releases of libraries, each library asked of the index once; many threads may ask."""

    def __init__(self, fetcher: Fetcher, index_url: str) -> None:
        self._fetcher = fetcher
        self._index_url = index_url
        self._known: dict[str, dict[Version, Release]] = {}
        self._asking: dict[str, threading.Lock] = {}

    def releases(self, library: str) -> dict[Version, Release]:
        """Return the releases of a library in PEP 440 order.

        Errors: SampleError where the index has no such library; Unreachable, BadAnswer.
        """
        with self._asking.setdefault(library, threading.Lock()):
            if library not in self._known:
                self._known[library] = self._ask(library)
        return self._known[library]

    def find(self, library: str, version: str) -> Release:
        """Return a release by its version, however it is spelled.

        Errors: SampleError where there is none, as `releases`.
        """
        found = self.releases(library)
        wanted = Version(version)
        if wanted not in found:
            raise SampleError(f"version: {library} has no release {version}; {_nearest(found, wanted)}")
        return found[wanted]

    def within(self, library: str, versions: SpecifierSet, prereleases: bool = False) -> tuple[str, ...]:
        """Return the versions in a range, in PEP 440 order: final ones that were not withdrawn, or all that are there.

        Errors: as `releases`.
        """
        return tuple(
            release.version
            for version, release in self.releases(library).items()
            if not release.yanked and versions.contains(version, prereleases=prereleases or None)
            and (prereleases or not version.is_prerelease)
        )

    def _ask(self, library: str) -> dict[Version, Release]:
        try:
            found = project(self._fetcher, self._index_url, library)
        except NotFound:
            raise SampleError(f"library: the index has no {library}; give a distribution that it has") from None
        releases: dict[Version, Release] = {}
        for spelled, files in found.releases.items():
            try:
                version = Version(spelled)
            except InvalidVersion:
                continue
            kept = [file for file in files if not file.yanked] or list(files)
            times = [file.uploaded for file in kept if file.uploaded]
            pythons = [file.requires_python for file in kept if file.requires_python]
            yanked = bool(files) and all(file.yanked for file in files)
            releases[version] = Release(spelled, min(times, default=None), next(iter(pythons), None), yanked)
        return dict(sorted(releases.items()))


def _nearest(found: Iterable[Version], wanted: Version) -> str:
    versions = list(found)
    if not versions:
        return "it has none at all"
    older = [version for version in versions if version < wanted][-1:]
    newer = [version for version in versions if version > wanted][:1]
    return f"the nearest are {' and '.join(map(str, older + newer))}" if older and newer else (
        f"the {'newest' if older else 'oldest'} is {(older + newer)[0]}"
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A sample to run in a release: the number of its line, its id, and a key of all that decides how it comes out."""

    line: int
    id: str | int
    key: str
    wanted: Wanted


def job_of(line: int, sample: Sample, release: Release, settings: Sequence[Any]) -> Job:
    """Return the job of a sample in one release; `settings` is what decides beside it how a run comes out."""
    wanted = Wanted(
        library=sample.library,
        version=release.version,
        python=sample.python,
        pins=sample.extra_dependencies,
        tools=("pytest",) if sample.test_file else (),
        release_time=release.time,
        requires_python=release.requires_python,
    )
    key = content_id(sample.model_dump(exclude={"version", "library"}), sample.library, release.version, settings)
    return Job(line, sample.id, key, wanted)


def by_environment(jobs: Iterable[Job]) -> dict[Wanted, list[Job]]:
    """Group jobs by the environment that they share, in the order of the first job of each."""
    groups: dict[Wanted, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.wanted, []).append(job)
    return groups
