"""Which environment each sample needs, and which samples share one; releases are looked up on the index once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.validation.samples.samples import Sample, SampleError
from pipeline.index.http import NotFound
from pipeline.index.index import IndexFile, Project
from pipeline.lake.ids import content_id


@dataclass(frozen=True, slots=True)
class Release:
    """A release as the index spells it, and on which Pythons it says that it runs; `yanked`: withdrawn as a whole."""

    version: str
    requires_python: str | None
    yanked: bool


class Catalogue:
    """The releases of libraries, in PEP 440 order; `ask` returns what the index has of one and is asked once."""

    def __init__(self, ask: Callable[[str], Project]) -> None:
        self._ask = ask
        self._cache: dict[str, dict[Version, Release]] = {}

    def releases(self, library: str) -> dict[Version, Release]:
        """Return the releases of a library.

        Errors: SampleError where the index has no such library; Unreachable, BadAnswer.
        """
        if library not in self._cache:
            try:
                project = self._ask(library)
            except NotFound:
                message = f"library: the index has no {library}; give a distribution that it has"
                raise SampleError(message, code="sample_library_unknown") from None
            releases = (_release(spelled, files) for spelled, files in project.releases.items() if _valid(spelled))
            by_version = ((Version(release.version), release) for release in releases)
            self._cache[library] = dict(sorted(by_version, key=lambda pair: pair[0]))
        return self._cache[library]

    def find(self, library: str, version: str) -> Release:
        """Return a release by its version, however it is spelled.

        Errors: SampleError where there is none, and as `releases`.
        """
        releases, parsed = self.releases(library), Version(version)
        if parsed not in releases:
            raise SampleError(
                f"version: {library} has no release {version}; {_nearest(list(releases), parsed)}",
                code="sample_release_unknown",
            )
        return releases[parsed]

    def within(self, library: str, versions: SpecifierSet, prereleases: bool = False) -> tuple[str, ...]:
        """Return the versions in a range that were not withdrawn, final ones only unless pre-releases are wanted.

        Errors: as `releases`.
        """
        return tuple(
            release.version
            for version, release in self.releases(library).items()
            if not release.yanked
            and (prereleases or not version.is_prerelease)
            and versions.contains(version, prereleases=True)
        )


def _valid(version: str) -> bool:
    try:
        return bool(Version(version))
    except InvalidVersion:
        return False


def _release(spelled: str, files: Sequence[IndexFile]) -> Release:
    requires_python = next((file.requires_python for file in files if file.requires_python), None)
    return Release(spelled, requires_python, bool(files) and all(file.yanked for file in files))


def _nearest(versions: Sequence[Version], missing: Version) -> str:
    """Say which releases are the neighbours of one that is not there."""
    place = bisect_left(versions, missing)
    near = [str(version) for version in versions[max(0, place - 1) : place + 1]]
    return f"the nearest: {', '.join(near)}" if near else "it has none that can be installed"


@dataclass(frozen=True, slots=True)
class Need:
    """What a sample needs to be run, without its code, of which `digest` is a hash; `line` is where it stands."""

    line: int
    id: str | int
    library: str
    version: str
    python: str | None
    pins: tuple[str, ...]
    tools: tuple[str, ...]
    digest: str


def need_of(line: int, sample: Sample) -> Need:
    """Return what a sample needs; pytest is there for plain assertions too, so that both share an environment."""
    tools = ("pytest",) if sample.test or sample.test_file else ()
    pins = sample.extra_dependencies
    return Need(line, sample.id, sample.library, sample.version, sample.python, pins, tools, digest_of(sample))


def digest_of(sample: Sample) -> str:
    """Return a hash of what is run, whatever it is run in."""
    return content_id(sample.model_dump(include={"id", "code", "test", "test_file", "module", "timeout_s"}))


@dataclass(frozen=True, slots=True)
class Job:
    """A sample to run in a release: its line, id and digest, and a key of all that decides how it comes out.

    `added` are requirements that it turned out to need, and does not name.
    """

    line: int
    id: str | int
    digest: str
    key: str
    request: EnvironmentRequest
    added: tuple[str, ...] = ()

    def adding(self, requirement: str) -> Job:
        """Return this job with one more requirement beside its release."""
        request = replace(self.request, undeclared=tuple(sorted({*self.request.undeclared, requirement})))
        return replace(self, request=request, added=(*self.added, requirement))


def job_of(need: Need, release: Release, settings: Sequence[Any]) -> Job:
    """Return the job of a sample in one release; `settings` is what decides beside it how a run comes out."""
    request = EnvironmentRequest(need.library, release.version, need.python, need.pins, need.tools)
    return Job(need.line, need.id, need.digest, content_id(need.digest, asdict(request), settings), request)


def by_environment(jobs: Iterable[Job]) -> dict[EnvironmentRequest, list[Job]]:
    """Group jobs by the environment that they share, in the order of the first job of each."""
    groups: dict[EnvironmentRequest, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.request, []).append(job)
    return groups
