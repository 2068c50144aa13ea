"""In which order an environment is tried: interpreters, the best first, and on each the rungs of the ladder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.running import EnvironmentOutcome, Rung
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.index_facts import ReleaseFacts
from pipeline.execution.environments.resolution.interpreters import Interpreter, preference
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import EnvironmentRules
from pipeline.execution.environments.resolution.wheel_compatibility import fits
from pipeline.index.index import IndexFile, Project
from pipeline.lake.rows import EnvironmentRow

_FARTHEST = (
    EnvironmentOutcome.NO_FILES,
    EnvironmentOutcome.UNRESOLVABLE,
    EnvironmentOutcome.INSTALL_FAILED,
    EnvironmentOutcome.BUILD_FAILED,
    EnvironmentOutcome.IMPORT_FAILED,
    EnvironmentOutcome.MISSING_SYSTEM_LIBRARY,
    EnvironmentOutcome.TIMED_OUT,
    EnvironmentOutcome.NO_SPACE,
    EnvironmentOutcome.BUILT,
)
"""How an attempt can end, by how far it came."""


_MOVES = 3
"""Later wheels of one dependency that are tried: the next one seldom fits a Python that this one does not."""


@dataclass(frozen=True, slots=True)
class Move:
    """A dependency that is taken at a later wheel than that of the day, uploaded at `uploaded`."""

    name: str
    before: str
    after: str
    uploaded: datetime

    @property
    def requirement(self) -> str:
        """The later release as a requirement."""
        return f"{self.name}=={self.after}"

    def __str__(self) -> str:
        return f"{self.name} {self.before} -> {self.after} (wheel of {self.uploaded:%Y-%m-%d})"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try: on an interpreter, with what a rung allows, with dependencies as of a time, but for one that moved."""

    interpreter: Interpreter
    rung: Rung
    cutoff: datetime
    moved: Move | None = None

    @property
    def builds(self) -> bool:
        """Whether source distributions may be built."""
        return self.rung in (Rung.BUILDS, Rung.ONE_LATER, Rung.BUILDS_LATER)

    @property
    def is_later(self) -> bool:
        """Whether everything is taken as of a later day."""
        return self.rung in (Rung.WHEELS_LATER, Rung.BUILDS_LATER)


Moves = Callable[[Interpreter, datetime, datetime], Iterator[Move]]
"""From an interpreter, the cut-off and a later one to the moves of what failed on that interpreter so far."""


def attempts(
    request: EnvironmentRequest,
    facts: ReleaseFacts,
    interpreters: Sequence[Interpreter],
    rules: EnvironmentRules,
    moves: Moves,
) -> Iterator[Attempt]:
    """Yield what is to be tried, in order, until one works; nothing is resolved later than `wanted.as_of`.

    `moves` is asked once the attempts as of the cut-off have failed.

    Errors: StepFailed with NO_INTERPRETER where none fits.
    """
    for interpreter in _candidates(request, facts, interpreters, rules):
        usual = rules.cutoff(facts.newest_upload, interpreter.python)
        cutoff, later = (_until(request, time) for time in (usual, usual + timedelta(days=rules.later_days)))
        yield Attempt(interpreter, Rung.WHEELS, cutoff)
        yield Attempt(interpreter, Rung.BUILDS, cutoff)
        if later == cutoff:
            continue
        for move in moves(interpreter, cutoff, later):
            yield Attempt(interpreter, Rung.ONE_LATER, cutoff, move)
        yield Attempt(interpreter, Rung.WHEELS_LATER, later)
        yield Attempt(interpreter, Rung.BUILDS_LATER, later)


def _until(request: EnvironmentRequest, time: datetime) -> datetime:
    return min(time, request.as_of) if request.as_of is not None else time


def later_wheels(project: Project, before: str, python: str, cutoff: datetime, until: datetime) -> Iterator[Move]:
    """Yield the next releases of a dependency that have a wheel for a Python X.Y, uploaded before `until`.

    Of the release that it has now a wheel counts that came after the cut-off.
    """
    moves = []
    for version, files in project.releases.items():
        days = [file.uploaded for file in files if file.uploaded and _is_usable(file, python)]
        if days and min(days) < until and _follows(version, before, min(days) >= cutoff):
            moves.append(Move(canonicalize_name(project.library), before, version, min(days)))
    yield from sorted(moves, key=lambda move: Version(move.after))[:_MOVES]


def _is_usable(file: IndexFile, python: str) -> bool:
    with contextlib.suppress(InvalidSpecifier):
        if not SpecifierSet(file.requires_python or "").contains(python):
            return False
    return fits(file, python) and not file.yanked


def _follows(version: str, before: str, or_same: bool) -> bool:
    try:
        later, earlier = Version(version), Version(before)
    except InvalidVersion:
        return False
    return not later.is_prerelease and (later > earlier or (or_same and later == earlier))


def farthest(rows: Sequence[EnvironmentRow]) -> EnvironmentRow:
    """Return the attempt that came farthest, which tells most; of several the first, which should have worked."""
    return max(rows, key=lambda row: _FARTHEST.index(row["outcome"]))


def _candidates(
    request: EnvironmentRequest, facts: ReleaseFacts, interpreters: Sequence[Interpreter], rules: EnvironmentRules
) -> list[Interpreter]:
    """Return the Python that was asked for, or the best few of those that the release can be run on."""
    here = "here is " + (", ".join(matching.python for matching in interpreters) or "none")
    if request.python:
        matching = [interpreter for interpreter in interpreters if interpreter.python == request.python]
        if not matching or request.python not in rules.python_released:
            advice = "install it, or let uv do so with DRIFTLINE_INSTALL_PYTHON=true"
            problem = f"Python {request.python} is not installed; {here}; {advice}"
            raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, problem)
        return matching
    newest = _until(request, facts.newest_upload + timedelta(days=rules.slack_days))
    there = [file for file in facts.files if file.uploaded and file.uploaded <= newest]
    fit = preference(
        interpreters,
        facts.requires_python,
        facts.release_time,
        rules,
        lambda python: any(fits(file, python) for file in there),
    )
    if not fit:
        requires_python = facts.requires_python or "of any version"
        problem = f"asks for Python {requires_python}, of which none is installed; {here}"
        raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, problem)
    return fit[: rules.interpreters_tried]
