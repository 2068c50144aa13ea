"""Two score files: common tasks, intervals, paired tests, errata and conditions."""

from __future__ import annotations

from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.comparison import compare_results, mcnemar, permutation
from pipeline.evaluation.scores.result import FILE, FORMAT, Result, ResultError, Verdict, read_result, write_result
from tests.errors import raises


def result(scores: dict[str, list[float]], metric: Metric = Metric.PASS, cluster: str = "", **fields: Any) -> Result:
    """A score file with the samples of tasks by id."""
    tasks = [
        Verdict(id=of, family=Family.PROBLEM, library="demo", metrics={metric: samples}, cluster=cluster)
        for of, samples in scores.items()
    ]
    head: dict[str, Any] = {"format": FORMAT, "driftline": "1", "snapshot": "mine", "manifest_sha256": "0" * 64}
    head |= {"view": View.ALL, "measured": None, "machine": None, "scores": [], "excluded": {}}
    return Result(**{**head, "tasks": tasks, **fields})


def test_only_common_tasks_count() -> None:
    first = result({"a": [1], "b": [0], "c": [0], "only": [1]})
    second = result({"a": [1], "b": [1], "c": [1], "other": [0]})
    found = compare_results(first, second, 1, 200, {})
    assert (found.common, found.first_alone, found.second_alone) == (3, 1, 1)
    (difference,) = found.differences
    assert (difference.tasks, difference.first_only, difference.second_only) == (3, 0, 2)
    assert (difference.first, difference.second) == pytest.approx((1 / 3, 1.0))
    assert difference.difference == pytest.approx(2 / 3)
    assert 0 <= difference.low < difference.difference < difference.high <= 1
    assert (difference.exact, difference.p) == (True, 0.5)


def test_many_tasks_about_one_api_are_one_piece_of_evidence() -> None:
    wrong, right = ({str(of): [float(score)] for of in range(10)} for score in (0, 1))
    (alone,) = compare_results(result(wrong), result(right), 1, 200, {}).differences
    assert (alone.exact, alone.p) == (True, 2 / 2**10)
    first, second = (result(scores, cluster="demo total") for scores in (wrong, right))
    (together,) = compare_results(first, second, 1, 200, {}).differences
    assert (together.exact, together.p, together.tasks, together.difference) == (False, 1.0, 10, 1.0)


def test_a_task_with_an_erratum_is_left_out_and_listed() -> None:
    first, second = result({"a": [1], "b": [0]}), result({"a": [1], "b": [1]})
    found = compare_results(first, second, 1, 200, {"b": "refused", "z": "refused"})
    assert (found.common, found.withdrawn) == (1, {"b": "refused"})
    assert found.differences[0].difference == 0


def test_too_few_samples_and_other_metrics_are_no_difference() -> None:
    first, second = result({"a": [1, 0], "b": [1]}), result({"a": [1, 1], "b": [1]})
    assert [each.tasks for each in compare_results(first, second, 2, 200, {}).differences] == [1]
    assert compare_results(first, result({"a": [1]}, Metric.EM), 1, 200, {}).differences == []


def test_conditions_that_differ_are_named() -> None:
    other = result({"a": [1]}, view=View.DISCRIMINATING, driftline="2")
    assert compare_results(result({"a": [1]}), result({"a": [1]}), 1, 200, {}).conditions == {}
    assert set(compare_results(result({"a": [1]}), other, 1, 200, {}).conditions) == {"view", "driftline"}
    first, second = (result({"a": [1]}, view=View.POST_CUTOFF, cutoff=date(year, 1, 1)) for year in (2023, 2024))
    assert set(compare_results(first, second, 1, 200, {}).conditions) == {"view"}


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (2, 2), (3, 9), (12, 2)])
def test_the_exact_test_counts_all_ways_to_be_as_far_apart(first: int, second: int) -> None:
    ways = [abs(sum(signs)) for signs in product((1, -1), repeat=first + second)]
    assert mcnemar(first, second) == pytest.approx(sum(way >= abs(first - second) for way in ways) / len(ways))


@pytest.mark.parametrize("changes", [[0.5, 0.25, 0.5, -0.25, 1.0], [0.1] * 8, [0.5, -0.5], [0.0, 0.3]])
def test_the_permutation_test_is_that_of_all_signs(changes: list[float]) -> None:
    sums = [
        abs(sum(s * c for s, c in zip(signs, changes, strict=True))) for signs in product((1, -1), repeat=len(changes))
    ]
    expected = sum(each >= abs(sum(changes)) - 1e-9 for each in sums) / len(sums)
    assert permutation(changes, 20_000) == pytest.approx(expected, abs=0.02)
    assert permutation(changes) == permutation(changes)


def test_differences_of_shares_are_tested_by_permutation() -> None:
    found = compare_results(result({"a": [1, 0]}), result({"a": [1, 1]}), 1, 200, {})
    assert [difference.exact for difference in found.differences] == [False]


def test_a_score_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = result({"a": [1, 0.5], "b": []})
    write_result(written, tmp_path)
    assert read_result(tmp_path) == read_result(tmp_path / FILE)
    assert [(task.id, [*task.metrics[Metric.PASS]]) for task in read_result(tmp_path).tasks] == [
        ("a", [1, 0.5]),
        ("b", []),
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', "\xff", "[" * 100_000])
def test_what_is_no_score_file(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="latin-1")
    with pytest.raises(ResultError):
        read_result(tmp_path)


def test_a_score_file_of_another_time(tmp_path: Path) -> None:
    write_result(result({}, format=99), tmp_path)
    with raises(ResultError, code="score_file_of_other_format"):
        read_result(tmp_path)
    with raises(ResultError, code="score_file_missing"):
        read_result(tmp_path / "nowhere")
