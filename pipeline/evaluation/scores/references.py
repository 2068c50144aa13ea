"""References on this machine: one that is slow or fails here makes the verdicts on its task doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from pipeline.core.progress import ReportProgress
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.planning import Sources, plan
from pipeline.evaluation.scores.running import Runners, run_planned
from pipeline.evaluation.scores.runs import UNJUDGED, ProjectRun, Run, RunFile
from pipeline.evaluation.scores.tasks import Task
from pipeline.families.all_families import BY_NAME

SLOW = 0.5
"""The share of the time limit from which a reference is slow: a right answer of twice its time would fail."""


class ReferenceRun(msgspec.Struct, frozen=True, kw_only=True):
    """A reference that is slow on this machine, or does not pass here; `alone` is its time with nothing beside it."""

    id: str
    family: Family
    outcome: Outcome
    detail: str
    time_s: float
    limit_s: float
    alone_s: float

    @property
    def passed(self) -> bool:
        """Whether it passed when it ran alone."""
        return self.outcome is Outcome.PASSED

    @property
    def slow(self) -> bool:
        """Whether it is slow with nothing beside it, so that the machine is too slow for the limit."""
        return self.alone_s > SLOW * self.limit_s


def doubtful_references(
    tasks: Iterable[Task], sources: Sources, runners: Runners, path: Path, report: ReportProgress
) -> Sequence[ReferenceRun]:
    """Run the references of tasks, once for each machine; return those that took over half the limit, or failed.

    These are run a second time, alone. `path` is the file with outcomes and times.
    """
    runs = {run.key: run for task in tasks for run in _plan(task, sources)}
    with RunFile(path, None) as file:
        run_planned([run for key, run in runs.items() if key not in file.outcomes], sources, runners, file, report)
        doubtful = [run for key, run in runs.items() if _is_doubtful(run, file, runners)]
    engine, project_context = replace(runners.engine, workers=1), replace(runners.project_context, workers=1)
    with RunFile(None, None) as again:
        run_planned(doubtful, sources, Runners(engine, project_context), again, report)
    return [
        ReferenceRun(
            id=run.answered[1],
            family=run.answered[0],
            outcome=again.outcomes[run.key],
            detail=again.details[run.key],
            time_s=round(file.times_s[run.key], 3),
            limit_s=_limit_s(run, runners),
            alone_s=round(again.times_s[run.key], 3),
        )
        for run in doubtful
    ]


def _plan(task: Task, sources: Sources) -> Sequence[Run]:
    reference = task.row.get(BY_NAME[task.family].reference)
    return plan(task, reference, sources) if isinstance(reference, str) else []


def _is_doubtful(run: Run, file: RunFile, runners: Runners) -> bool:
    outcome = file.outcomes[run.key]
    if outcome in UNJUDGED:
        return False  # the samples have no verdict either
    return outcome is not Outcome.PASSED or file.times_s[run.key] > SLOW * _limit_s(run, runners)


def _limit_s(run: Run, runners: Runners) -> float:
    """Return the limit of a whole run, in seconds."""
    return runners.project_context.rules.time_s if isinstance(run, ProjectRun) else runners.engine.rules.time_s
