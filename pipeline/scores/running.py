"""Pass@k: samples run in the pinned environments of the snapshot's rows, in the sandbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.environments import IndexUnreachable, StepFailed
from pipeline.scores.planning import Sources, plan
from pipeline.scores.predictions import Excluded
from pipeline.scores.runs import UNJUDGED, CaseRun, Run, RunFile
from pipeline.scores.tally import Answered
from pipeline.scores.tasks import Tasks
from pipeline.terms import Exclusion, Metric, Outcome
from pipeline.validation import Engine, run_cases

Tell = Callable[[str, int, int], None]
"""Hears what is being done, how many runs are done, and how many there are."""

_REASONS = {Outcome.NO_ENVIRONMENT: Exclusion.NO_ENVIRONMENT, Outcome.HARNESS_ERROR: Exclusion.NOT_JUDGED}


@dataclass(slots=True)
class Passes:
    """Whether the samples of each task passed, by metric, in their order; and what could not be run or judged."""

    scores: dict[Answered, dict[Metric, list[float]]] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    runs: int = 0


def run_samples(
    samples: Mapping[Answered, Sequence[str]], tasks: Tasks, sources: Sources, engine: Engine, file: RunFile, tell: Tell
) -> Passes:
    """Run the samples of tasks, equal ones once, and those not at all of which the file knows how they came out.

    A sample passes if its run does, on every repeat that the rules ask for.

    Errors: SnapshotError.
    """
    planned: dict[Answered, list[Run]] = {}
    found = Passes()
    for answered, texts in samples.items():
        family, of = answered
        planned[answered] = [run for text in dict.fromkeys(texts) for run in plan(tasks[of][family], text, sources)]
        if texts and not planned[answered]:
            detail = f"the reference of this {family} was not run by itself"
            found.excluded.append(Excluded(Exclusion.NOT_RUNNABLE, detail, of))
    every = {run.key: run for runs in planned.values() for run in runs}
    new = [run for run in every.values() if run.key not in file.outcomes]
    found.runs = len(new)
    _run_cases([run for run in new if isinstance(run, CaseRun)], sources, engine, file, tell)
    for answered, runs in planned.items():
        _judge(found, answered, samples[answered], runs, file)
    return found


def _run_cases(runs: Sequence[CaseRun], sources: Sources, engine: Engine, file: RunFile, tell: Tell) -> None:
    by_lock: dict[str, list[CaseRun]] = defaultdict(list)
    for run in runs:
        by_lock[run.lock_id].append(run)
    done = 0
    for lock_id, group in by_lock.items():
        row = sources.environments.get(lock_id)
        what = f"{row['library']} {row['version']}" if row else lock_id
        tell(what, done, len(runs))
        _run_in_environment(lock_id, group, sources, engine, file)
        done += len(group)
        tell(what, done, len(runs))


def _run_in_environment(lock_id: str, runs: Sequence[CaseRun], sources: Sources, engine: Engine, file: RunFile) -> None:
    by_key = {run.key: run for run in runs}
    row = sources.environments.get(lock_id)
    try:
        if row is None:
            raise ValueError(f"the snapshot has no environment {lock_id}")
        environment = engine.store.open(row)
    except (StepFailed, IndexUnreachable, ValueError) as error:
        for run in runs:
            file.keep(run, Outcome.NO_ENVIRONMENT, str(error))
        return
    run_cases(
        environment,
        [run.case for run in runs],
        engine.sandbox,
        engine.rules,
        engine.workers,
        lambda result: file.keep(by_key[result.id], result.outcome, result.detail),
    )


def _judge(found: Passes, answered: Answered, texts: Sequence[str], runs: Iterable[Run], file: RunFile) -> None:
    """Turn the outcomes of a task's runs into scores of its samples; what was not judged has none."""
    by_sample: dict[tuple[Metric, str], Run] = {(run.metric, run.sample): run for run in runs}
    unjudged: dict[Outcome, list[str]] = defaultdict(list)
    for metric in dict.fromkeys(metric for metric, _ in by_sample):
        for text in texts:
            key = by_sample[metric, text].key
            outcome = file.outcomes[key]
            if outcome in UNJUDGED:
                unjudged[outcome].append(file.details.get(key, ""))
            else:
                passed = float(outcome is Outcome.PASSED)
                found.scores.setdefault(answered, {}).setdefault(metric, []).append(passed)
    for outcome, details in unjudged.items():
        told = f"{len(details)} of {len(texts)} samples: {details[0]}"
        found.excluded.append(Excluded(_REASONS[outcome], told, answered[1]))
