"""A lock where wheels do not do: resolved inside the sandbox, and believed only as far as it can be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.builds.build_run import Job, dated, uv_options
from pipeline.execution.environments.builds.build_site import BuildSite, NothingHelps, most_informative
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.index_proxy import View, everything
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import Built, Pin, read_lock, write_lock
from pipeline.execution.environments.resolution.wheel_compatibility import WheelsFirst, fits
from pipeline.execution.sandbox.sandbox import SCRATCH


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be resolved: `later` has the cut-offs of those that do not go by the common one."""

    requirements: Sequence[str]
    interpreter: Interpreter
    cutoff: datetime
    later: Mapping[str, datetime]

    def cutoff_of(self, name: str) -> datetime:
        """Return as of when a distribution is resolved."""
        return self.later.get(name, self.cutoff)

    def exact(self) -> dict[str, str]:
        """Return the versions that are asked for exactly."""
        parsed = [Requirement(text) for text in self.requirements]
        specifiers = {canonicalize_name(requirement.name): list(requirement.specifier) for requirement in parsed}
        return {name: own[0].version for name, own in specifiers.items() if len(own) == 1 and own[0].operator == "=="}


def lock_with_builds(site: BuildSite, question: Question) -> str:
    """Resolve, building what must be built to know what it needs, and return a lock that says what is to be built.

    Errors: StepFailed with UNRESOLVABLE, BUILD_FAILED or TIMED_OUT; IndexUnreachable.
    """
    view = WheelsFirst(question.interpreter.python, question.cutoff_of, question.exact())
    try:
        text = _resolve(site, question, view)
    except StepFailed as error:
        if error.outcome is not EnvironmentOutcome.UNRESOLVABLE or not view.hid:
            raise
        text = _resolve(site, question, everything)
    try:
        pins = [_checked(site, question, pin) for pin in read_lock(text)]
    except ValueError as error:
        raise StepFailed(EnvironmentOutcome.BUILD_FAILED, f"the lock that came out cannot be used: {error}") from None
    return write_lock(pins)


def _resolve(site: BuildSite, question: Question, view: View) -> str:
    """Resolve under the constraints of the time, and where a build fails under them, under all of them, or none."""
    job = Job(_arguments(question), {"wanted.txt": "".join(f"{line}\n" for line in question.requirements).encode()})
    failures: list[StepFailed] = []
    for constraints in _constraints(site, question):
        try:
            return site.run(job, question.interpreter, view, constraints).result.decode("utf-8", "replace")
        except NothingHelps:
            raise
        except StepFailed as error:
            if error.outcome is EnvironmentOutcome.UNRESOLVABLE:
                raise
            failures.append(error)
    raise most_informative(failures)


def _constraints(site: BuildSite, question: Question) -> Iterator[tuple[str, ...]]:
    """Yield what build requirements are held to: for the youngest that is asked for exactly, for the oldest, or not."""
    exact = question.exact().items()
    times = sorted(f.uploaded for name, version in exact for f in site.files(name, version) if f.uploaded)
    days = [times[-1], times[0]] if times else [question.cutoff]
    sets = [site.rules.constraints_of(day, question.interpreter.python) for day in days]
    yield from dict.fromkeys([*sets, ()])


def _arguments(question: Question) -> list[str]:
    arguments = ["pip", "compile", f"{SCRATCH}/wanted.txt", *uv_options(question.interpreter)]
    arguments += ["--build-constraints", f"{SCRATCH}/constraints.txt", "--generate-hashes"]
    arguments += dated(question.cutoff, question.later)
    return [*arguments, "--no-header", "--no-annotate", "--no-emit-index-url", "--quiet"]


def _checked(site: BuildSite, question: Question, pin: Pin) -> Pin:
    """Return a pin whose hashes are those of files of the index; where no wheel fits, only that of the source stays."""
    files = [file for file in site.files(pin.name, pin.version) if file.sha256 in pin.sha256s]
    if {file.sha256 for file in files} != set(pin.sha256s):
        raise ValueError(f"the index has no such files of {pin.requirement}")
    if any(fits(file, question.interpreter.python) for file in files):
        return pin
    sources = sorted((f for f in files if f.kind is ArtifactKind.SDIST), key=lambda file: file.filename)
    if not sources or sources[0].uploaded is None:
        raise ValueError(f"{pin.requirement} has neither a wheel that fits nor a source distribution")
    constraints = site.rules.constraints_of(sources[0].uploaded, question.interpreter.python)
    return Pin(pin.name, pin.version, (sources[0].sha256,), Built(question.cutoff_of(pin.name), constraints))
