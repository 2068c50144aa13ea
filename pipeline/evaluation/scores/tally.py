"""Match predictions with tasks: the scores of every sample, and the excluded predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.families import SCORERS, Values
from pipeline.evaluation.scores.fragments import extracted
from pipeline.evaluation.scores.predictions import Excluded, Prediction
from pipeline.evaluation.scores.retrieval import reciprocal_rank
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.tasks import Task, Tasks
from pipeline.families.all_families import BY_NAME, FAMILIES
from pipeline.lake.collector import without_collector

Answered = tuple[Family, str]
"""A task that was answered, by family and id."""

Documents = Callable[[Task], Collection[str]]
"""Returns the ids of the relevant documents of a task."""

_RETRIEVAL = frozenset(family.name for family in FAMILIES if family.retrieves)


@dataclass(slots=True)
class Tally:
    """Scores of the samples of each task by metric, in the order of the samples, and exclusions.

    `samples` are as extracted, overlong ones empty; `overlong` has their numbers, from 0. `answers` has the lines that
    answer each task.
    """

    scores: dict[Answered, dict[Metric, list[float]]] = field(default_factory=dict)
    samples: dict[Answered, Sequence[str]] = field(default_factory=dict)
    overlong: dict[Answered, Collection[int]] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    answers: dict[tuple[Answered, bool], list[int]] = field(default_factory=dict)
    counted: int = 0


def tally(
    tasks: Tasks,
    predictions: Iterable[tuple[int, Prediction | Excluded]],
    rules: ScoreRules,
    documents: Documents,
) -> Tally:
    """Score every sample of every prediction without running it.

    A task with several lines is excluded, and so is an unanswered task of a family with answers.
    """
    counts = Tally()
    with without_collector(), warnings.catch_warnings():
        # Invalid escapes in predictions are no problem of the scorer.
        warnings.simplefilter("ignore")
        for line, prediction in predictions:
            excluded = (
                prediction
                if isinstance(prediction, Excluded)
                else _count(counts, tasks, line, prediction, rules, documents)
            )
            if excluded is not None:
                counts.excluded.append(excluded)
    counts.excluded += _twice(counts)
    counts.excluded += _unanswered(counts, tasks)
    return counts


def _count(
    counts: Tally, tasks: Tasks, line: int, prediction: Prediction, rules: ScoreRules, documents: Documents
) -> Excluded | None:
    task = _task(tasks, prediction, line)
    if isinstance(task, Excluded):
        return task
    answered = (task.family, task.id)
    lines = counts.answers.setdefault((answered, prediction.documents is not None), [])
    lines.append(line)
    if len(lines) > 1:
        return None
    if prediction.documents is not None:
        counts.counted += 1
        relevant = documents(task)
        if not relevant:
            return Excluded(Exclusion.NO_DOCUMENT, Exclusion.NO_DOCUMENT.meaning, task.id, line)
        counts.scores.setdefault(answered, {})[Metric.MRR] = [reciprocal_rank(prediction.documents, relevant)]
        return None
    written = prediction.completions or ()
    overlong = {number for number, text in enumerate(written) if len(text) > rules.sample_chars}
    # An overlong answer counts as wrong: leaving it out would raise the figure.
    samples = [
        "" if number in overlong else as_answer(task.family, task.row.get("granularity"), text)
        for number, text in enumerate(written)
    ]
    counts.counted += len(samples)
    counts.scores.setdefault(answered, {}).update(score(task, samples))
    counts.samples[answered] = samples
    if overlong:
        counts.overlong[answered] = overlong
        problem = f"{len(overlong)} samples longer than {rules.sample_chars} characters (curation_rules/scores.yaml)"
        return Excluded(Exclusion.SAMPLE_TOO_LONG, problem, task.id, line)
    return None


def as_answer(family: Family, granularity: str | None, sample: str) -> str:
    """Return what counts of a sample: its code, but of a scene all, where a fence may be what is missing."""
    return sample if BY_NAME[family].verbatim else extracted(sample, granularity)


def score(task: Task, samples: Iterable[str]) -> dict[Metric, list[float]]:
    """Return the scores of the samples of a task by metric; metrics that do not apply are left out."""
    scorer, row = SCORERS[task.family], task.row
    scores: dict[Metric, list[float]] = {}
    by_sample: dict[str, Values] = {}
    for sample in samples:
        values = by_sample.get(sample)
        if values is None:
            values = by_sample[sample] = scorer(row, sample)
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
    """Return why a prediction answers none of the tasks with its id."""
    if prediction.family not in (None, *families):
        return f"the snapshot has this id as {', '.join(families)}, not as {prediction.family}"
    return f"`documents` answer queries ({', '.join(sorted(_RETRIEVAL))}); the task of this id is {', '.join(families)}"


def _twice(counts: Tally) -> list[Excluded]:
    """Remove the scores of tasks that several lines answer, and return the lines as exclusions."""
    excluded = []
    for (answered, retrieval), lines in counts.answers.items():
        if len(lines) == 1:
            continue
        scores = counts.scores.get(answered, {})
        gone = [metric for metric in scores if (metric is Metric.MRR) == retrieval]
        for metric in gone:
            del scores[metric]
        if not retrieval:
            counts.samples.pop(answered, None)
        problem = "all samples of a task belong on one line; this one is answered on the lines " + ", ".join(
            map(str, lines)
        )
        excluded += [Excluded(Exclusion.DUPLICATE_ID, problem, answered[1], line) for line in lines]
    return excluded


def _unanswered(counts: Tally, tasks: Tasks) -> list[Excluded]:
    answered = {each for each, _ in counts.answers}
    families = {family for family, _ in answered}
    return [
        Excluded(Exclusion.NOT_PREDICTED, f"no line answers this {family}", task.id)
        for of_id in tasks.values()
        for family, task in of_id.items()
        if family in families and (family, task.id) not in answered
    ]
