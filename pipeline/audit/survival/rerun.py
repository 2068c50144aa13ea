"""Run references again, one environment or project after the other, with the runners that score predictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from pipeline.audit.survival.references import Place, ProbeRun, Reference, place_of
from pipeline.audit.survival.withdrawn import OnIndex, has_file, of_lock
from pipeline.core.progress import ReportProgress, no_progress
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
from pipeline.lake.rows import EnvironmentRow, ProjectRow

_LOSSES = {
    Outcome.TIMED_OUT: Loss.TIMED_OUT,
    Outcome.FAILED_ASSERTION: Loss.FAILED_ASSERTION,
    Outcome.FLAKY: Loss.FLAKY,
}
_TRANSIENT = frozenset({EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})
# Other bytes than were published, or more of them: another try has the same result.
_FOR_GOOD = (BadArchive, UnsafeArchive, TooLarge)


class _Missing(Exception):
    """The snapshot lacks a row that another one names."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a reference no longer passes; without an outcome where it could not be run."""

    reason: Loss
    detail: str
    outcome: Outcome | None = None


@dataclass(slots=True)
class PlaceStatus:
    """Status of places: losses, yanked pins, and temporary failures (`unknown`)."""

    lost: dict[Place, Lost] = field(default_factory=dict)
    yanked: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    unknown: dict[Place, str] = field(default_factory=dict)


def run_again(
    references: Iterable[Reference], sources: Sources, runners: Runners, file: RunFile, report: ReportProgress
) -> PlaceStatus:
    """Run the runs of references that have no outcome in the file, each once; return the status of places."""
    groups: dict[Place, dict[str, Run]] = defaultdict(dict)
    for run in (run for reference in references for run in reference.runs):
        groups[place_of(run)][run.key] = run
    status, done, total = PlaceStatus(), 0, sum(map(len, groups.values()))
    for place, group in groups.items():
        row = (sources.projects if place[1] else sources.environments).get(place[0])
        report(f"{row.get('project') or row['library']} {row['version']}" if row else place[0], done, total)
        new = [run for run in group.values() if run.key not in file.outcomes]
        _run_at(place, row, new, status, sources, runners, file)
        done += len(group)
    return status


def _run_at(
    place: Place,
    row: EnvironmentRow | ProjectRow | None,
    runs: Sequence[Run],
    status: PlaceStatus,
    sources: Sources,
    runners: Runners,
    file: RunFile,
) -> None:
    """Make a place from its lock and run in it; failures are stored and do not stop other places."""
    on_index = OnIndex((), ())
    try:
        there = _there(place, row)
        on_index = _ask(there, runners)
        status.yanked[place] = on_index.yanked
        if on_index.gone:
            status.lost[place] = Lost(Loss.FILE_GONE, _listed("the index has no longer", on_index.gone))
        elif runs:
            _run_in(there, runs, sources, runners, file)
    except Exception as error:  # noqa: BLE001 - stored with each row that it stopped
        if lost := _why(error, on_index):
            status.lost[place] = lost
        else:
            status.unknown[place] = f"{type(error).__name__}: {error}"


def _there(place: Place, row: EnvironmentRow | ProjectRow | None) -> EnvironmentRow | ProjectRow:
    kind, expected = ("project", ProjectOutcome.TRACED) if place[1] else ("environment", EnvironmentOutcome.BUILT)
    if row is None or row["outcome"] != expected or not row["lock"]:
        raise _Missing(f"no {kind} {place[0]} with a lock in the snapshot: run `driftline verify` on it")
    return row


def _ask(row: EnvironmentRow | ProjectRow, runners: Runners) -> OnIndex:
    """Query the index for every file of a place.

    Errors: _Missing, IndexUnreachable.
    """
    facts = runners.engine.store.facts
    try:
        on_index = of_lock(row, facts)
    except ValueError as error:
        raise _Missing(f"its lock cannot be read: {error}") from None
    if _is_project(row) and not has_file(row["project"], row["sha256"] or "", facts):
        return OnIndex((*on_index.gone, f"{row['project']}=={row['version']} (its source)"), on_index.yanked)
    return on_index


def _is_project(row: EnvironmentRow | ProjectRow) -> TypeGuard[ProjectRow]:
    return "project" in row


def _run_in(
    row: EnvironmentRow | ProjectRow, runs: Sequence[Run], sources: Sources, runners: Runners, file: RunFile
) -> None:
    """Run in a place."""
    opened: Project | Environment = (
        open_project(row, runners.project_context) if _is_project(row) else runners.engine.store.open(row)
    )
    probes = [run for run in runs if isinstance(run, ProbeRun)]
    if probes and isinstance(opened, Environment):
        engine = runners.engine
        probed = probe(opened, list(dict.fromkeys(run.path for run in probes)), engine.sandbox, engine.rules)
        for run in probes:
            file.keep(run, probed[run.path].outcome, probed[run.path].detail)
    programs = [run for run in runs if not isinstance(run, ProbeRun)]
    run_planned(programs, sources, runners, file, no_progress)
    late = [run for run in programs if file.outcomes.get(run.key) is Outcome.TIMED_OUT]
    if late:
        # A busy machine is no loss: they run once more, one at a time.
        engine, project_context = replace(runners.engine, workers=1), replace(runners.project_context, workers=1)
        run_planned(late, sources, Runners(engine, project_context), file, no_progress)


def _why(error: Exception, on_index: OnIndex) -> Lost | None:
    """Return the loss of a place; None for a temporary failure."""
    if isinstance(error, StepFailed) and error.outcome not in _TRANSIENT:
        reason = Loss.NO_INTERPRETER if error.outcome is EnvironmentOutcome.NO_INTERPRETER else None
        yanked = _listed("; withdrawn", on_index.yanked) if on_index.yanked else ""
        return Lost(reason or (Loss.YANKED if yanked else Loss.ENVIRONMENT_NOT_BUILT), f"{error}{yanked}")
    if isinstance(error, NotFound):
        return Lost(Loss.FILE_GONE, str(error))
    if isinstance(error, _FOR_GOOD):
        return Lost(Loss.ENVIRONMENT_NOT_BUILT, f"{type(error).__name__}: {error}")
    return Lost(Loss.NOT_IN_SNAPSHOT, str(error)) if isinstance(error, _Missing) else None


def _listed(words: str, pins: Sequence[str]) -> str:
    return f"{words}: {', '.join(pins)}"


def survival_result(reference: Reference, status: PlaceStatus, file: RunFile) -> Lost | str | None:
    """Return None where all runs of a reference passed, its loss, or as text why it has no verdict yet."""
    if reference.missing is not None:
        return Lost(Loss.NOT_IN_SNAPSHOT, reference.missing)
    for run in reference.runs:
        place = place_of(run)
        if place in status.lost:
            return status.lost[place]
        outcome, detail = file.outcomes.get(run.key), file.details.get(run.key, "")
        if outcome is None or outcome in UNJUDGED:
            return status.unknown.get(place) or detail or "not run"
        if outcome is not Outcome.PASSED:
            return Lost(_LOSSES.get(outcome, Loss.OTHER_OUTCOME), detail, outcome)
    return None
