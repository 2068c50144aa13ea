"""Two score files compared on the tasks that both have: differences with intervals, and a paired test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.estimate import SEED, expected_best, mean_of
from pipeline.evaluation.scores.result import Result, Verdict
from pipeline.evaluation.scores.tasks import Errata
from pipeline.evaluation.views import TaskView

PERMUTATIONS = 10_000
_AT_A_TIME = 500
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of a family in both files, over the `tasks` that both have: means, second minus first, and its p.

    `first_only` and `second_only` count the tasks on which that one is better. `low` and `high` bound the difference
    at 95%. `exact` says that p is McNemar's. It is that of a permutation test where scores are neither 0 nor 1, or
    several tasks of a cluster differ.
    """

    family: Family
    metric: Metric
    tasks: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    first_only: int
    second_only: int
    p: float
    exact: bool


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """Differences, tasks that only one file has, tasks that errata took back, and conditions that differ.

    `prompts_differ` counts the common tasks whose prompts are not the same.
    """

    differences: Sequence[Difference]
    common: int
    first_alone: int
    second_alone: int
    withdrawn: Mapping[str, str]
    prompts_differ: int
    conditions: Mapping[str, tuple[str, str]]


def compare_results(first: Result, second: Result, k: int, resamples: int, errata: Errata) -> ScoreComparison:
    """Compare two score files at k samples; a task's id is the hash of its content, so equal ids are equal tasks.

    Tasks with an erratum are left out.
    """
    both = [{(task.family, task.id): task for task in result.tasks} for result in (first, second)]
    every = both[0].keys() & both[1].keys()
    withdrawn = {of: errata[of] for _, of in sorted(every) if of in errata}
    pairs = [(both[0][key], both[1][key]) for key in sorted(every) if key[1] not in withdrawn]
    return ScoreComparison(
        differences=[*_differences(pairs, k, resamples)],
        common=len(pairs),
        first_alone=len(both[0].keys() - every),
        second_alone=len(both[1].keys() - every),
        withdrawn=withdrawn,
        prompts_differ=sum(a.prompt_sha256 != b.prompt_sha256 for a, b in pairs),
        conditions=dict(_conditions(first, second)),
    )


def _differences(pairs: Sequence[tuple[Verdict, Verdict]], k: int, resamples: int) -> Iterator[Difference]:
    for family in Family:
        of_family = [pair for pair in pairs if pair[0].family is family]
        for metric in Metric:
            values = [
                (a, b, first.cluster or first.id)
                for first, second in of_family
                if (a := _value(first, metric, k)) is not None and (b := _value(second, metric, k)) is not None
            ]
            if values:
                yield _difference(family, metric, values, resamples)


def _value(task: Verdict, metric: Metric, k: int) -> float | None:
    samples = task.metrics.get(metric)
    return expected_best(samples, k) if samples else None


def _difference(
    family: Family, metric: Metric, values: Sequence[tuple[float, float, str]], resamples: int
) -> Difference:
    changes = [second - first for first, second, _ in values]
    clusters = [cluster for *_, cluster in values]
    estimate = mean_of(changes, resamples, clusters)
    by_cluster: dict[str, list[float]] = defaultdict(list)
    for cluster, change in zip(clusters, changes, strict=True):
        if abs(change) > _EPSILON:
            by_cluster[cluster].append(change)
    # Only where each task is right or wrong are the differences -1, 0 and 1.
    exact = all(abs(abs(change) - 1) < _EPSILON for cluster in by_cluster.values() for change in cluster)
    exact = exact and all(len(cluster) == 1 for cluster in by_cluster.values())
    first_only = sum(change < -_EPSILON for change in changes)
    second_only = sum(change > _EPSILON for change in changes)
    return Difference(
        family=family,
        metric=metric,
        tasks=len(values),
        first=sum(first for first, *_ in values) / len(values),
        second=sum(second for _, second, _ in values) / len(values),
        difference=estimate.mean or 0.0,
        low=estimate.low or 0.0,
        high=estimate.high or 0.0,
        first_only=first_only,
        second_only=second_only,
        p=mcnemar(first_only, second_only) if exact else permutation([*map(sum, by_cluster.values())]),
        exact=exact,
    )


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the two-sided p of the exact McNemar test, of the tasks on which only one of two is right.

    Without a difference either is as likely, so the smaller number is binomial with 1/2 (McNemar 1947, Psychometrika
    12:153; the exact conditional form: Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91).
    """
    n, fewer = first_only + second_only, min(first_only, second_only)
    return min(1.0, float(2 * sum(comb(n, i) for i in range(fewer + 1)) / 2**n))


def permutation(changes: Sequence[float], permutations: int = PERMUTATIONS) -> float:
    """Return the two-sided p of the paired permutation test on differences summed by cluster, with a fixed seed.

    Without a difference each has either sign (Fisher 1935, The Design of Experiments, section 21). The draws are a
    sample of all signs, so that p is (b + 1) / (m + 1) (Phipson and Smyth 2010, 10.2202/1544-6115.1585).
    """
    values = np.array([change for change in changes if abs(change) > _EPSILON])
    if not len(values):
        return 1.0
    generator, least, as_far = np.random.default_rng(SEED), abs(values.sum()) - _EPSILON, 0
    for start in range(0, permutations, _AT_A_TIME):
        drawn = min(_AT_A_TIME, permutations - start)
        signs = generator.integers(0, 2, (drawn, len(values))) * 2 - 1
        as_far += int((abs(signs @ values) >= least).sum())
    return (as_far + 1) / (permutations + 1)


def _conditions(first: Result, second: Result) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the conditions that differ: each may explain a difference of the scores."""
    for (name, one), (_, other) in zip(_conditions_of(first), _conditions_of(second), strict=True):
        if one != other:
            yield name, (one, other)


def _conditions_of(result: Result) -> Iterator[tuple[str, str]]:
    yield "snapshot", f"{result.snapshot} {result.manifest_sha256[:12]}"
    yield "view", str(TaskView(result.view, result.cutoff))
    yield "driftline", result.driftline
    for name in ("model", "setting", "parameters", "samples"):
        yield name, str(getattr(result.measured, name)) if result.measured else "unknown"
    if (machine := result.machine) is None:
        yield "machine", "nothing was run"
    else:
        limits = f"{machine.time_s:g} s, {machine.memory_mib} MiB, {machine.repeats} repeats"
        yield "machine", f"{machine.system}, {machine.processors} processors, {machine.sandbox}, {limits}"
