"""What the index says of releases that environments are made of: when they came, on which Pythons they run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.core.settings import settings
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.wheel_metadata import WheelMetadata
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.index.index import IndexFile, Project, project
from pipeline.index.suggestions import did_you_mean, nearest_versions


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """A release as the index knows it; `newest_upload` is of the release and of all that is pinned beside it."""

    release_time: datetime
    requires_python: str | None
    newest_upload: datetime
    files: tuple[IndexFile, ...]


class IndexFacts:
    """The projects of an index, each asked for once in the life of this object; many threads may ask."""

    def __init__(self, index_url: str, fetcher: Fetcher | None = None) -> None:
        self.index_url = index_url
        self.fetcher = fetcher or Fetcher(timeout_s=settings().timeout_s)
        self.about = WheelMetadata(self.fetcher)
        self._projects: dict[str, Project | NotFound] = {}
        self._asking: dict[str, threading.Lock] = {}

    def project(self, name: str) -> Project:
        """Return what the index has of a distribution.

        Errors: NotFound, Unreachable, BadAnswer.
        """
        with self._asking.setdefault(name, threading.Lock()):
            if name not in self._projects:
                try:
                    self._projects[name] = project(self.fetcher, self.index_url, name)
                except NotFound as error:
                    self._projects[name] = error
        result = self._projects[name]
        if isinstance(result, NotFound):
            raise NotFound(*result.args)
        return result

    def has(self, name: str) -> bool:
        """Return whether the index has a distribution.

        Errors: IndexUnreachable.
        """
        try:
            return bool(self.project(name).releases)
        except NotFound:
            return False
        except (Unreachable, BadAnswer) as error:
            raise IndexUnreachable(str(error)) from None

    def release(self, request: EnvironmentRequest) -> ReleaseFacts:
        """Return the facts of a requested release; what the `request` states goes before what the index says.

        Errors: StepFailed with NO_FILES where the index has no such release, or none with a file that can be
        installed; IndexUnreachable.
        """
        files = self._files(request.library, request.version)
        uploaded = [file.uploaded for file in files if file.uploaded]
        time = request.release_time or min(uploaded, default=None)
        if time is None:
            missing = f"{request.library} {request.version}: the index does not tell when it was uploaded"
            raise StepFailed(EnvironmentOutcome.NO_FILES, missing)
        requires_python = request.requires_python or next((f.requires_python for f in files if f.requires_python), None)
        return ReleaseFacts(time, requires_python, max([time, *self._pinned(request.pins)]), files)

    def _files(self, library: str, version: str) -> tuple[IndexFile, ...]:
        try:
            project = self.project(library)
        except NotFound:
            raise StepFailed(
                EnvironmentOutcome.NO_FILES, f"the index does not know {library}{did_you_mean(library)}"
            ) from None
        except (Unreachable, BadAnswer) as error:
            raise IndexUnreachable(str(error)) from None
        files = _of_version(project, version)
        if not files:
            near = ", ".join(nearest_versions(version, project.releases))
            nearest = f"the nearest are {near}" if near else "it has no release"
            problem = (
                " has no file that can be installed" if files == () else f": the index has no such release; {nearest}"
            )
            raise StepFailed(EnvironmentOutcome.NO_FILES, f"{library} {version}{problem}")
        return files

    def _pinned(self, pins: Sequence[str]) -> list[datetime]:
        """Return when the releases were uploaded that are pinned exactly; what is not there is for uv to tell."""
        times = []
        for pin in pins:
            try:
                requirement = Requirement(pin)
                exact = [s.version for s in requirement.specifier if s.operator in ("==", "===")]
                files = self._files(canonicalize_name(requirement.name), exact[0]) if exact else ()
            except (InvalidRequirement, StepFailed):
                continue
            times += [min(file.uploaded for file in files if file.uploaded)] if files else []
        return times


def _of_version(project: Project, version: str) -> tuple[IndexFile, ...] | None:
    """Return the files of a release, however it is spelled (PEP 440); None where there is no such release."""
    if version in project.releases:
        return project.releases[version]
    same = [files for spelled, files in project.releases.items() if _parsed(spelled) == _parsed(version) is not None]
    return same[0] if same else None


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None
