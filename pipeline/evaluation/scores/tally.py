"""Predictions against tasks: the scores of every sample, and every prediction that could not be counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.families import SCORERS, Values
from pipeline.evaluation.scores.fences import unfenced
from pipeline.evaluation.scores.predictions import Excluded, Prediction
from pipeline.evaluation.scores.retrieval import reciprocal_rank
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.tasks import Task, Tasks
from pipeline.families.all_families import FAMILIES
from pipeline.lake.collector import without_collector

Answered = tuple[Family, str]
"""A task that was answered, by family and id."""

Documents = Callable[[Task], Collection[str]]
"""Tells the ids of the documents that a retriever should find for a task."""

_RETRIEVAL = frozenset(family.name for family in FAMILIES if family.retrieves)


@dataclass(slots=True)
class Tally:
    """What was counted: scores of the samples of each task by metric, in the order of the samples, and what was not.

    `samples` are kept where they are to be run. `answers` says on which line each task was answered.
    """

    scores: dict[Answered, dict[Metric, list[float]]] = field(default_factory=dict)
    samples: dict[Answered, Sequence[str]] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    answers: dict[tuple[Answered, bool], list[int]] = field(default_factory=dict)
    counted: int = 0


def tally(
    tasks: Tasks,
    predictions: Iterable[tuple[int, Prediction | Excluded]],
    rules: ScoreRules,
    documents: Documents,
    keep: bool = False,
    *,
    unnoticed: bool = False,
) -> Tally:
    """Score every sample of every prediction without running it; `keep` the samples, to run them later.

    A task that several lines answer is not counted at all, since nobody knows which was meant; one that no line
    answers, of a family of which some task was answered, is told.
    """
    found = Tally()
    with without_collector(), warnings.catch_warnings():
        # A prediction's invalid escape is a fault of its own, not of whoever scores it.
        warnings.simplefilter("ignore")
        for line, prediction in predictions:
            excluded = (
                prediction
                if isinstance(prediction, Excluded)
                else _count(found, tasks, line, prediction, rules, documents, keep)
            )
            if excluded is not None:
                found.excluded.append(excluded)
    found.excluded += _twice(found)
    found.excluded += _unanswered(found, tasks, unnoticed)
    return found


def _count(
    found: Tally, tasks: Tasks, line: int, prediction: Prediction, rules: ScoreRules, documents: Documents, keep: bool
) -> Excluded | None:
    task = _task(tasks, prediction, line)
    if isinstance(task, Excluded):
        return task
    answered = (task.family, task.id)
    lines = found.answers.setdefault((answered, prediction.documents is not None), [])
    lines.append(line)
    if len(lines) > 1:
        return None
    if prediction.documents is not None:
        found.counted += 1
        wanted = documents(task)
        if not wanted:
            return Excluded(Exclusion.NO_DOCUMENT, Exclusion.NO_DOCUMENT.meaning, task.id, line)
        found.scores.setdefault(answered, {})[Metric.MRR] = [reciprocal_rank(prediction.documents, wanted)]
        return None
    written = prediction.completions or ()
    # An answer that is too long is a wrong one, which must not raise the figure by being left out.
    samples = [unfenced(task.family, sample) if len(sample) <= rules.sample_chars else "" for sample in written]
    found.counted += len(samples)
    found.scores.setdefault(answered, {}).update(score(task, samples))
    if keep:
        found.samples[answered] = samples
    if too_long := sum(len(sample) > rules.sample_chars for sample in written):
        problem = f"{too_long} samples longer than {rules.sample_chars} characters (curation_rules/scores.yaml)"
        return Excluded(Exclusion.SAMPLE_TOO_LONG, problem, task.id, line)
    return None


def score(task: Task, samples: Iterable[str]) -> dict[Metric, list[float]]:
    """Return the scores of the samples of a task by metric; those that say nothing of this task are not there."""
    scorer, row = SCORERS[task.family], task.row
    scores: dict[Metric, list[float]] = {}
    seen: dict[str, Values] = {}
    for sample in samples:
        values = seen.get(sample)
        if values is None:
            values = seen[sample] = scorer(row, sample)
        for metric, value in values.items():
            if value is not None:
                scores.setdefault(metric, []).append(float(value))
    return scores


def _task(tasks: Tasks, prediction: Prediction, line: int) -> Task | Excluded:
    of_id: Mapping[Family, Task] = tasks.get(prediction.id, {})
    fitting = [
        task
        for family, task in of_id.items()
        if prediction.family in (None, family) and (prediction.documents is None or family in _RETRIEVAL)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        families = ", ".join(sorted(of_id))
        problem = f'several tasks have this id; add "family", one of {families}'
        return Excluded(Exclusion.AMBIGUOUS_ID, problem, prediction.id, line)
    problem = "the snapshot has no such task"
    if of_id:
        problem = _other_kind(sorted(of_id), prediction)
    return Excluded(Exclusion.UNKNOWN_ID, problem, prediction.id, line)


def _other_kind(families: Sequence[Family], prediction: Prediction) -> str:
    """Say why a prediction answers none of the tasks that have its id."""
    if prediction.family not in (None, *families):
        return f"the snapshot has this id as {', '.join(families)}, not as {prediction.family}"
    return f"`documents` answer queries ({', '.join(sorted(_RETRIEVAL))}); the task of this id is {', '.join(families)}"


def _twice(found: Tally) -> list[Excluded]:
    """Take out what several lines answer."""
    excluded = []
    for (answered, retrieval), lines in found.answers.items():
        if len(lines) == 1:
            continue
        scores = found.scores.get(answered, {})
        gone = [metric for metric in scores if (metric is Metric.MRR) == retrieval]
        for metric in gone:
            del scores[metric]
        if not retrieval:
            found.samples.pop(answered, None)
        problem = "all samples of a task stand on one line; this one is answered on the lines " + ", ".join(
            map(str, lines)
        )
        excluded += [Excluded(Exclusion.DUPLICATE_ID, problem, answered[1], line) for line in lines]
    return excluded


def _unanswered(found: Tally, tasks: Tasks, unnoticed: bool) -> list[Excluded]:
    answered = {each for each, _ in found.answers}
    families = {family for family, _ in answered}
    return [
        Excluded(Exclusion.NOT_PREDICTED, f"no line answers this {family}", task.id)
        for of_id in tasks.values()
        for family, task in of_id.items()
        if family in families and (family, task.id) not in answered and (unnoticed or not task.is_unnoticed)
    ]
