"""The table of scores: a figure with its interval for each metric, k and group of tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.evaluation.scores.estimate import expected_best, mean_of
from pipeline.evaluation.scores.tally import Answered
from pipeline.evaluation.scores.tasks import Task, Tasks
from pipeline.lake.rows import ScoreRow

_DIGITS = 4
# Metrics of queries, which have one answer each.
_SINGLE_ANSWER = frozenset({Metric.MRR})

Scores = Mapping[Answered, Mapping[Metric, Sequence[float]]]
Open = Mapping[Answered, Mapping[Metric, int]]
"""Samples of a task without a score, since the harness or the machine failed."""


def score_rows(
    scores: Scores, tasks: Tasks, ks: Iterable[int], resamples: int, unjudged: Open | None = None
) -> list[ScoreRow]:
    """Return the rows of the table `scores`; a family without a task of k samples has one row, its groups have none."""
    ks = sorted(set(ks))
    rows: list[ScoreRow] = []
    for family, metric, answers in _by_metric(scores, tasks):
        for k in ks if metric not in _SINGLE_ANSWER else [1]:
            values = [expected_best(samples, k) for _, samples in answers]
            for (facet, value), members in _groups(answers).items():
                clusters = [answers[at][0].cluster or answers[at][0].id for at in members]
                figure = mean_of([values[at] for at in members], resamples, clusters)
                counted = sum(len(answers[at][1]) for at in members if values[at] is not None)
                keys = ((family, answers[at][0].id) for at in members)
                waiting = sum((unjudged or {}).get(key, {}).get(metric, 0) for key in keys)
                if figure.tasks or facet is Facet.FAMILY:
                    row: ScoreRow = {
                        "family": family,
                        "metric": metric,
                        "k": k,
                        "facet": facet,
                        "value": value,
                        "mean": _rounded(figure.mean),
                        "low": _rounded(figure.low),
                        "high": _rounded(figure.high),
                        "tasks": figure.tasks,
                        "samples": counted,
                        "short": figure.short,
                        "open": waiting,
                    }
                    rows.append(row)
    return sorted(rows, key=_place)


def _place(row: ScoreRow) -> tuple[int, int, int, int, str]:
    """Return the sort key of a row: vocabularies in their own order."""
    family, metric, facet = Family(row["family"]), Metric(row["metric"]), Facet(row["facet"])
    return [*Family].index(family), [*Metric].index(metric), row["k"], [*Facet].index(facet), row["value"]


Answers = list[tuple[Task, Sequence[float]]]


def _by_metric(scores: Scores, tasks: Tasks) -> Iterator[tuple[Family, Metric, Answers]]:
    groups: dict[tuple[Family, Metric], Answers] = defaultdict(list)
    for (family, of), by_metric in scores.items():
        for metric, samples in by_metric.items():
            groups[family, metric].append((tasks[of][family], samples))
    for (family, metric), answers in groups.items():
        yield family, metric, sorted(answers, key=lambda answer: answer[0].id)


def _groups(answers: Answers) -> dict[tuple[Facet, str], list[int]]:
    groups: dict[tuple[Facet, str], list[int]] = defaultdict(list)
    for at, (task, _) in enumerate(answers):
        for group in task.groups:
            groups[group].append(at)
    return groups


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
