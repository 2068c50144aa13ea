"""References run again, an environment or project at a time, with the runners that score predictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipeline.audit.survival.references import Place, ProbeRun, Reference, place_of
from pipeline.audit.survival.withdrawn import OnIndex, has_file, of_lock
from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.survival import Loss
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.running import Runners, run_planned
from pipeline.evaluation.scores.runs import UNJUDGED, Run, RunFile
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.probes import probe
from pipeline.families.repository_tasks.project import Project
from pipeline.families.repository_tasks.project_context import open_project
from pipeline.families.repository_tasks.sdists import TooLarge
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import NotFound
from pipeline.lake.schema import Row

Tell = Callable[[str, int, int], None]
"""Hears what is being done, how many runs are done, and how many there are."""

_LOSSES = {
    Outcome.TIMED_OUT: Loss.TIMED_OUT,
    Outcome.FAILED_ASSERTION: Loss.FAILED_ASSERTION,
    Outcome.FLAKY: Loss.FLAKY,
}
_TRANSIENT = frozenset({EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})
# Other bytes than were published, or more of them: trying again will bring the same.
_FOR_GOOD = (BadArchive, UnsafeArchive, TooLarge)


class _Lacking(Exception):
    """The snapshot does not have what a row names."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a reference does not pass any more; without an outcome where it could not be run."""

    reason: Loss
    detail: str
    outcome: Outcome | None = None


@dataclass(slots=True)
class Found:
    """What was seen of the places of references: why one cannot be used, what was withdrawn, what nobody knows yet."""

    lost: dict[Place, Lost] = field(default_factory=dict)
    yanked: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    unknown: dict[Place, str] = field(default_factory=dict)


def run_again(references: Iterable[Reference], sources: Sources, runners: Runners, file: RunFile, tell: Tell) -> Found:
    """Run what references ask for and the file does not know, each run once; say what stood against it by place."""
    groups: dict[Place, dict[str, Run]] = defaultdict(dict)
    for run in (run for reference in references for run in reference.runs):
        groups[place_of(run)][run.key] = run
    found, done, total = Found(), 0, sum(map(len, groups.values()))
    for place, group in groups.items():
        row = (sources.projects if place[1] else sources.environments).get(place[0])
        tell(f"{row.get('project') or row['library']} {row['version']}" if row else place[0], done, total)
        new = [run for run in group.values() if run.key not in file.outcomes]
        _run_at(place, row, new, found, sources, runners, file)
        done += len(group)
    return found


def _run_at(
    place: Place, row: Row | None, runs: Sequence[Run], found: Found, sources: Sources, runners: Runners, file: RunFile
) -> None:
    """Make a place from its lock and run in it; what cannot be made is told, and keeps nobody else from running."""
    on_index = OnIndex((), ())
    try:
        there = _there(place, row)
        on_index = _ask(place, there, runners)
        found.yanked[place] = on_index.yanked
        if on_index.gone:
            found.lost[place] = Lost(Loss.FILE_GONE, _listed("the index has no longer", on_index.gone))
        elif runs:
            _run_in(place, there, runs, sources, runners, file)
    except Exception as error:  # noqa: BLE001 - told of each row that it kept from being run
        if lost := _why(error, on_index):
            found.lost[place] = lost
        else:
            found.unknown[place] = f"{type(error).__name__}: {error}"


def _there(place: Place, row: Row | None) -> Row:
    kind, made = ("project", ProjectOutcome.TRACED) if place[1] else ("environment", EnvironmentOutcome.BUILT)
    if row is None or row["outcome"] != made or not row["lock"]:
        raise _Lacking(f"no {kind} {place[0]} with a lock in the snapshot: run `driftline verify` on it")
    return row


def _ask(place: Place, row: Row, runners: Runners) -> OnIndex:
    """Ask the index for every file that a place is made of.

    Errors: _Lacking, IndexUnreachable.
    """
    facts = runners.engine.store.facts
    try:
        found = of_lock(row, facts)
    except ValueError as error:
        raise _Lacking(f"its lock cannot be read: {error}") from None
    if place[1] and not has_file(row["project"], row["sha256"], facts):
        return OnIndex((*found.gone, f"{row['project']}=={row['version']} (its source)"), found.yanked)
    return found


def _run_in(place: Place, row: Row, runs: Sequence[Run], sources: Sources, runners: Runners, file: RunFile) -> None:
    """Run in a place, which stays as long as this does."""
    opened: Project | Environment = open_project(row, runners.workshop) if place[1] else runners.engine.store.open(row)
    probes = [run for run in runs if isinstance(run, ProbeRun)]
    if probes and isinstance(opened, Environment):
        engine = runners.engine
        seen = probe(opened, list(dict.fromkeys(run.path for run in probes)), engine.sandbox, engine.rules)
        for run in probes:
            file.keep(run, seen[run.path].outcome, seen[run.path].detail)
    programs = [run for run in runs if not isinstance(run, ProbeRun)]
    run_planned(programs, sources, runners, file, _nobody_hears)
    late = [run for run in programs if file.outcomes.get(run.key) is Outcome.TIMED_OUT]
    if late:
        # A busy machine is no reason: they run once more, one at a time.
        engine, workshop = replace(runners.engine, workers=1), replace(runners.workshop, workers=1)
        run_planned(late, sources, Runners(engine, workshop), file, _nobody_hears)


def _nobody_hears(what: str, done: int, total: int) -> None:
    """Hear of a place what was told of it already."""


def _why(error: Exception, on_index: OnIndex) -> Lost | None:
    """Return why a place cannot be used any more; None for what may pass by itself."""
    if isinstance(error, StepFailed) and error.outcome not in _TRANSIENT:
        reason = Loss.NO_INTERPRETER if error.outcome is EnvironmentOutcome.NO_INTERPRETER else None
        yanked = _listed("; withdrawn", on_index.yanked) if on_index.yanked else ""
        return Lost(reason or (Loss.YANKED if yanked else Loss.ENVIRONMENT_NOT_BUILT), f"{error}{yanked}")
    if isinstance(error, NotFound):
        return Lost(Loss.FILE_GONE, str(error))
    if isinstance(error, _FOR_GOOD):
        return Lost(Loss.ENVIRONMENT_NOT_BUILT, f"{type(error).__name__}: {error}")
    return Lost(Loss.NOT_IN_SNAPSHOT, str(error)) if isinstance(error, _Lacking) else None


def _listed(words: str, pins: Sequence[str]) -> str:
    return f"{words}: {', '.join(pins)}"


def came_out(reference: Reference, found: Found, file: RunFile) -> Lost | str | None:
    """Return what became of a reference: None where all of it passed, why not, or, as text, why nobody knows yet."""
    if reference.lacking is not None:
        return Lost(Loss.NOT_IN_SNAPSHOT, reference.lacking)
    for run in reference.runs:
        place = place_of(run)
        if place in found.lost:
            return found.lost[place]
        outcome, detail = file.outcomes.get(run.key), file.details.get(run.key, "")
        if outcome is None or outcome in UNJUDGED:
            return found.unknown.get(place) or detail or "not run"
        if outcome is not Outcome.PASSED:
            return Lost(_LOSSES.get(outcome, Loss.OTHER_OUTCOME), detail, outcome)
    return None
