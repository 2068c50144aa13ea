"""In which order an environment is tried: interpreters, the best first, and on each the rungs of the ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.environments.failures import StepFailed
from pipeline.environments.fitting import fits
from pipeline.environments.index_facts import ReleaseFacts
from pipeline.environments.interpreters import Interpreter, preference
from pipeline.environments.rules import EnvironmentRules
from pipeline.environments.wanted import Wanted
from pipeline.lake import Row
from pipeline.terms import EnvironmentOutcome, Rung

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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try: on an interpreter, with what a rung allows, with dependencies as of a time."""

    interpreter: Interpreter
    rung: Rung
    cutoff: datetime

    @property
    def builds(self) -> bool:
        """Whether source distributions may be built."""
        return self.rung in (Rung.BUILDS, Rung.BUILDS_LATER)


def attempts(
    wanted: Wanted, facts: ReleaseFacts, interpreters: Sequence[Interpreter], rules: EnvironmentRules
) -> Iterator[Attempt]:
    """Yield what is to be tried, in order, until one works; nothing is resolved later than `wanted.as_of`.

    Errors: StepFailed with NO_INTERPRETER where none fits.
    """
    for interpreter in _candidates(wanted, facts, interpreters, rules):
        usual = rules.cutoff(facts.newest_upload, interpreter.python)
        cutoff, later = (_until(wanted, time) for time in (usual, usual + timedelta(days=rules.later_days)))
        yield Attempt(interpreter, Rung.WHEELS, cutoff)
        yield Attempt(interpreter, Rung.BUILDS, cutoff)
        if later == cutoff:
            continue
        yield Attempt(interpreter, Rung.WHEELS_LATER, later)
        yield Attempt(interpreter, Rung.BUILDS_LATER, later)


def _until(wanted: Wanted, time: datetime) -> datetime:
    return min(time, wanted.as_of) if wanted.as_of is not None else time


def farthest(rows: Sequence[Row]) -> Row:
    """Return the attempt that came farthest, which tells most; of several the first, which should have worked."""
    return max(rows, key=lambda row: _FARTHEST.index(row["outcome"]))


def _candidates(
    wanted: Wanted, facts: ReleaseFacts, interpreters: Sequence[Interpreter], rules: EnvironmentRules
) -> list[Interpreter]:
    """Return the Python that was asked for, or the best few of those that the release can be run on."""
    here = "here is " + (", ".join(found.python for found in interpreters) or "none")
    if wanted.python:
        found = [interpreter for interpreter in interpreters if interpreter.python == wanted.python]
        if not found or wanted.python not in rules.python_released:
            advice = "install it, or let uv do so with DRIFTLINE_INSTALL_PYTHON=true"
            problem = f"Python {wanted.python} is not installed; {here}; {advice}"
            raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, problem)
        return found
    newest = _until(wanted, facts.newest_upload + timedelta(days=rules.slack_days))
    there = [file for file in facts.files if file.uploaded and file.uploaded <= newest]
    fit = preference(
        interpreters,
        facts.requires_python,
        facts.release_time,
        rules,
        lambda python: any(fits(file, python) for file in there),
    )
    if not fit:
        asked = facts.requires_python or "of any version"
        problem = f"asks for Python {asked}, of which none is installed; {here}"
        raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, problem)
    return fit[: rules.interpreters_tried]
