"""Where a build is tried: what it is given to work with, what is added when it lacks something, how it failed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_version

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.builds.build_rules import BuildRules
from pipeline.execution.environments.builds.build_run import Job, Ran, run_uv
from pipeline.execution.environments.resolution.failures import FailureRules, IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.index_proxy import IndexProxy, View
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import Pin
from pipeline.execution.environments.resolution.resolver import portable_log
from pipeline.execution.sandbox.permissions import PermissionRefused
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.index.index import IndexFile

_ADDED = 4
_REQUESTS = 5000
_LINES = 10
_FAILED = re.compile(r"Failed to (?:download and )?build `([A-Za-z0-9._-]+)(?:==([^`]+)`| @ |`)")
_UNRESOLVABLE = re.compile(r"No solution found when resolving dependencies|was not found in the package registry")
_FULL = re.compile(r"No space left on device|os error 28")
_COMPILED = re.compile(r"error: command .* failed with exit (?:status|code)|ninja: build stopped|make: \*\*\*")
_NOISE = re.compile(r"hint:|\d* *\||(?:copying|creating|adding|skipping) ")
_PROBLEM = re.compile(
    r"(?i)error|fatal|exception|not found|no such file|cannot|can't|missing|unsatisfiable|because"
    r"|killed|sigkill|mismatch|http status|failed to fetch"
)


class NothingHelps(StepFailed):
    """A build failed in a way that other build requirements do not change: something is missing, or is not valid C."""


@dataclass(frozen=True, slots=True)
class BuildSite:
    """What every build here has in common."""

    sandbox: Sandbox
    facts: IndexFacts
    rules: BuildRules
    signs: FailureRules

    def files(self, name: str, version: str) -> list[IndexFile]:
        """Return the files of a release, however the index spells its version.

        Errors: StepFailed with NO_FILES where the index has none; IndexUnreachable.
        """
        try:
            project = self.facts.project(name)
        except (Unreachable, BadAnswer) as error:
            raise IndexUnreachable(str(error)) from None
        except NotFound as error:
            raise StepFailed(EnvironmentOutcome.NO_FILES, portable_log(str(error))) from None
        canonical = canonicalize_version(version)
        return [
            f
            for spelled, files in project.releases.items()
            if canonicalize_version(spelled) == canonical
            for f in files
        ]

    def file(self, pin: Pin) -> IndexFile:
        """Return the file of a pin that is to be built.

        Errors: StepFailed with NO_FILES where the index has it no more; IndexUnreachable.
        """
        for file in self.files(pin.name, pin.version):
            if file.sha256 in pin.sha256s:
                return file
        raise StepFailed(
            EnvironmentOutcome.NO_FILES, f"the index has no file of {pin.requirement} with the locked hash"
        )

    def run(self, job: Job, interpreter: Interpreter, view: View, constraints: Sequence[str]) -> Ran:
        """Run a job under constraints on build requirements, and once more with each that was needed and not declared.

        Errors: StepFailed with BUILD_FAILED, UNRESOLVABLE or TIMED_OUT, NothingHelps; IndexUnreachable.
        """
        added: defaultdict[str, list[str]] = defaultdict(list)
        while True:
            gateway = IndexProxy(self.facts, view, self.rules.download_mib << 20, _REQUESTS)
            try:
                ran = run_uv(_furnished(job, constraints, added), interpreter, gateway, self.sandbox, self.rules)
            except PermissionRefused as error:
                raise NothingHelps(EnvironmentOutcome.BUILD_FAILED, f"nothing can be built here: {error}") from None
            if ran.status == 0:
                return ran
            if gateway.unreachable:
                raise IndexUnreachable(gateway.unreachable[0])
            failed, undeclared = job.wheel or _failed(ran.log), self.rules.undeclared_in(ran.log)
            if not failed or not undeclared or undeclared in added[failed] or len(added[failed]) == _ADDED:
                raise self._failure(ran)
            added[failed].append(undeclared)

    def _failure(self, ran: Ran) -> StepFailed:
        if ran.status is None:
            return NothingHelps(EnvironmentOutcome.TIMED_OUT, f"building: not done after {self.rules.time_s:g} s")
        detail = portable_log(error_lines(ran.log))
        if _FULL.search(ran.log):
            space = f"scratch space beyond {self.rules.scratch_mib} MiB"
            return NothingHelps(EnvironmentOutcome.BUILD_FAILED, detail, space)
        if _UNRESOLVABLE.search(ran.log) and not _FAILED.search(ran.log):
            return StepFailed(EnvironmentOutcome.UNRESOLVABLE, detail)
        missing = self.signs.missing("build", ran.log)
        kind = NothingHelps if missing or _COMPILED.search(ran.log) else StepFailed
        return kind(EnvironmentOutcome.BUILD_FAILED, detail, " ".join(missing) if missing else None, _culprit(ran.log))


def most_informative(failures: Sequence[StepFailed]) -> StepFailed:
    """Return the first failure of several tries that came as far as building, else the first."""
    return next((failure for failure in failures if "unsatisfiable" not in failure.detail), failures[0])


def error_lines(log: str) -> str:
    """Return the lines of a build's log that name a problem, the last of them, each once; else its last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = list(dict.fromkeys(line for line in lines if _PROBLEM.search(line) and not _NOISE.match(line)))
    return "\n".join((errors or lines)[-_LINES:])


def _failed(log: str) -> str | None:
    match = _FAILED.search(log)
    return match[1] if match else None


def _culprit(log: str) -> str | None:
    match = _FAILED.search(log)
    return f"{match[1]}=={match[2]}" if match and match[2] else None


def _furnished(job: Job, constraints: Sequence[str], added: Mapping[str, Sequence[str]]) -> Job:
    """Return the job with the files that every command names: constraints, and uv's settings."""
    extra = "".join(f'"{name}" = [{", ".join(map(repr, more))}]\n' for name, more in sorted(added.items()) if more)
    settings = f"[extra-build-dependencies]\n{extra}" if extra else ""
    limits = "".join(f"{constraint}\n" for constraint in constraints)
    return replace(job, files={**job.files, "uv.toml": settings.encode(), "constraints.txt": limits.encode()})
