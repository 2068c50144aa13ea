"""Estimators: worked examples, what they are equal to, and what happens where there are too few samples."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation.scores.estimate import expected_best, mean_of
from tests.errors import raises

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("scores", "k", "expected"),
    [
        ([1, 0, 0, 0, 0, 0], 1, 1 / 6),
        ([1, 0, 0, 0, 0, 0], 3, 0.5),  # 1 - C(5,3) / C(6,3) = 1 - 10/20
        ([1, 1, 0, 0, 0, 0], 3, 0.8),  # 1 - 4/20
        ([0.2, 0.8], 1, 0.5),
        ([0.2, 0.8], 2, 0.8),
        ([1, 0], 3, None),
        ([], 1, None),
    ],
)
def test_worked_examples(scores: list[float], k: int, expected: float | None) -> None:
    assert expected_best(scores, k) == (expected if expected is None else pytest.approx(expected))


@given(SCORES, st.data())
def test_it_is_the_mean_over_all_draws(scores: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    draws = [max(draw) for draw in combinations(scores, k)]
    assert expected_best(scores, k) == pytest.approx(sum(draws) / len(draws))


@given(st.integers(1, 100), st.data())
def test_of_ones_and_zeros_it_is_pass_at_k(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    expected = 1 - comb(n - c, k) / comb(n, k)
    assert expected_best([1.0] * c + [0.0] * (n - c), k) == pytest.approx(expected)


def test_k_counts_samples() -> None:
    with raises(ValueError, code="score_k_invalid"):
        expected_best([1.0], 0)


def test_tasks_with_too_few_samples_are_left_out_and_counted() -> None:
    figure = mean_of([expected_best(scores, 3) for scores in ([1, 1, 1], [0, 0, 0], [1])])
    assert (figure.mean, figure.tasks, figure.short) == (0.5, 2, 1)
    assert mean_of([None]).mean is None
    assert mean_of([]).tasks == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_interval_holds_the_mean_of_its_values_and_is_the_same_each_time(values: list[float]) -> None:
    figure = mean_of(values)
    assert figure.low is not None
    assert figure.high is not None
    assert min(values) - 1e-9 <= figure.low <= figure.high <= max(values) + 1e-9
    assert mean_of(values) == figure


def test_more_tasks_make_it_narrower() -> None:
    few, many = (mean_of([1.0, 0.0] * count) for count in (10, 1000))
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.high - few.low > 0.2 > 0.1 > many.high - many.low > 0


def test_tasks_about_one_thing_count_as_one() -> None:
    """Ten tasks about each of twenty things say as much as twenty tasks if who can answer one can answer all ten."""
    values = [1.0, 0.0] * 10
    repeated = [value for value in values for _ in range(10)]
    alike = mean_of(repeated, clusters=[str(place // 10) for place in range(200)])
    own, once = mean_of(repeated), mean_of(values)
    assert (alike.mean, alike.low, alike.high, alike.tasks) == (once.mean, once.low, once.high, 200)
    assert alike.low is not None
    assert own.low is not None
    assert alike.low < own.low - 0.1


def test_clusters_count_by_their_tasks() -> None:
    figure = mean_of([1.0, 1.0, 1.0, 0.0, None], clusters=["a", "a", "a", "b", "a"])
    assert (figure.mean, figure.low, figure.high, figure.tasks, figure.short) == (0.75, 0.0, 1.0, 4, 1)
