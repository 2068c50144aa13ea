"""From the scores of samples to a figure for a model: the expectation over k samples, and how sure it is."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

RESAMPLES = 2000
SEED = 20240603


def expected_best(scores: Sequence[float], k: int) -> float | None:
    """Return the expected best score of k samples drawn from all n without replacement; None where n < k.

    For scores of 0 and 1 with c ones this is 1 - C(n - c, k) / C(n, k), the unbiased Pass@k (Chen et al. 2021,
    2107.03374, equation 1), and so EM@k and CDC@k; for others it is ISM@k and PM@k (Agrawal et al. 2023, 2306.10763).
    """
    n = len(scores)
    if k < 1:
        raise ValueError(f"k is {k}; it counts samples, from 1")
    if n < k:
        return None
    lowest, highest = min(scores), max(scores)
    if lowest == highest:
        return highest
    draws, all_draws = _draws(n, k)
    return sum(score * best for score, best in zip(sorted(scores), draws, strict=True)) / all_draws


@functools.lru_cache(1024)
def _draws(n: int, k: int) -> tuple[tuple[int, ...], int]:
    """Return of how many draws of k the i-th smallest of n (from 0) is the best, and how many draws there are."""
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


def estimate(tasks: Sequence[Sequence[float]], k: int) -> Estimate:
    """Return the mean over tasks of the expected best of k, given the scores of each task's samples."""
    return mean_of([expected_best(scores, k) for scores in tasks])


def mean_of(values: Sequence[float | None], resamples: int = RESAMPLES) -> Estimate:
    """Return the mean over tasks of a value of each, of which None says that it has too few samples.

    The interval is the percentile bootstrap over tasks (Efron and Tibshirani 1993, chapter 13), with a fixed seed.
    """
    known = np.array([value for value in values if value is not None])
    short = len(values) - len(known)
    if not len(known):
        return Estimate(None, None, None, 0, short)
    low, high = _interval(known, resamples)
    return Estimate(float(known.mean()), low, high, len(known), short)


def _interval(values: np.ndarray[tuple[int], np.dtype[np.float64]], resamples: int) -> tuple[float, float]:
    # Distinct values are few, so that drawing how often each comes is the same as drawing tasks, and cheap.
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 1:
        return float(distinct[0]), float(distinct[0])
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(len(values), counts / len(values), resamples)
    low, high = np.percentile(drawn @ distinct / len(values), [2.5, 97.5])
    return float(low), float(high)
