"""Estimates of a model's score: the expected best of k samples, its mean over tasks, and a confidence interval."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from pipeline.core.errors import InputError

RESAMPLES = 2000
SEED = 20240603


def expected_best(scores: Sequence[float], k: int) -> float | None:
    """Return the expected best score of k samples drawn from all n without replacement; None where n < k.

    For scores of 0 and 1 with c ones this is 1 - C(n - c, k) / C(n, k), the unbiased Pass@k (Chen et al. 2021,
    2107.03374, equation 1), and so EM@k and CDC@k; for others it is ISM@k and PM@k (Agrawal et al. 2023, 2306.10763).
    """
    n = len(scores)
    if k < 1:
        raise InputError(f"k is {k}; it counts samples, from 1", code="score_k_invalid")
    if n < k:
        return None
    lowest, highest = min(scores), max(scores)
    if lowest == highest:
        return highest
    draws, all_draws = _draws(n, k)
    return sum(score * best for score, best in zip(sorted(scores), draws, strict=True)) / all_draws


@functools.lru_cache(1024)
def _draws(n: int, k: int) -> tuple[tuple[int, ...], int]:
    """Return the number of draws of k in which the i-th smallest of n (from 0) is the best, and of all draws."""
    # The other k - 1 samples of such a draw are among the i before it.
    return tuple(comb(i, k - 1) for i in range(n)), comb(n, k)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over tasks with its 95% interval; all three are None where no task has enough samples.

    `tasks` are those that count, `short` those that have fewer than k samples and are left out.
    """

    mean: float | None
    low: float | None
    high: float | None
    tasks: int
    short: int


def mean_of(
    values: Sequence[float | None], resamples: int = RESAMPLES, clusters: Sequence[str] | None = None
) -> Estimate:
    """Return the mean over tasks of one value for each, None for a task with too few samples.

    `clusters` name what each task is about; by default each is about something of its own. The interval is the
    percentile bootstrap over clusters (Efron and Tibshirani 1993, chapter 13; for questions that come in groups: Miller
    2024, 2411.00640), with a fixed seed.
    """
    scored = [
        (cluster, value)
        for cluster, value in zip(clusters or map(str, range(len(values))), values, strict=True)
        if value is not None
    ]
    short = len(values) - len(scored)
    if not scored:
        return Estimate(None, None, None, 0, short)
    totals: dict[str, tuple[float, int]] = {}
    for cluster, value in scored:
        total, tasks = totals.get(cluster, (0.0, 0))
        totals[cluster] = total + value, tasks + 1
    low, high = _interval(list(totals.values()), resamples)
    return Estimate(sum(value for _, value in scored) / len(scored), low, high, len(scored), short)


def _interval(totals: Sequence[tuple[float, int]], resamples: int) -> tuple[float, float]:
    """Return the interval of a mean over clusters, each with the sum of its values and the number of them."""
    # Few of them are distinct: drawing the count of each is equivalent to drawing clusters, and cheaper.
    distinct, counts = np.unique(np.array(totals), axis=0, return_counts=True)
    sums, sizes = distinct.T
    if len(np.unique(sums / sizes)) == 1:
        return float(sums[0] / sizes[0]), float(sums[0] / sizes[0])
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(len(totals), counts / len(totals), resamples)
    low, high = np.percentile((drawn @ sums) / (drawn @ sizes), [2.5, 97.5])
    return float(low), float(high)
