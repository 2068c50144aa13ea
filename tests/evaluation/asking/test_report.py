"""The report of an evaluation, made of scores."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.evaluation.asking.report import report_of
from pipeline.evaluation.scores.result import Result
from pipeline.families.all_families import BY_NAME


def result(*scores: Any) -> Result:
    return Result(
        format=1,
        driftline="0",
        snapshot="demo",
        manifest_sha256="0" * 64,
        view=View.ALL,
        measured=None,
        machine=None,
        scores=scores,
        excluded={},
        tasks=(),
    )


def score(family: Family, metric: Metric, mean: float) -> dict[str, Any]:
    facet = BY_NAME[family].apart
    value = "all" if facet is Facet.FAMILY else "token"
    row = {"family": family, "facet": facet, "value": value, "metric": metric, "k": 1, "tasks": 3}
    return row | {"mean": mean, "low": mean, "high": mean}


@pytest.mark.parametrize("family", Family)
def test_the_main_metric_of_a_family_is_its_headline(family: Family) -> None:
    report = report_of(result(score(family, Metric.PM, 0.125), score(family, BY_NAME[family].metric, 0.625)))
    (headline,) = [line for line in report.splitlines() if line.startswith("**")]
    assert "0.625" in headline


def test_without_a_run_another_metric_is_the_headline() -> None:
    report = report_of(result(score(Family.COMPLETION, Metric.PM, 0.125), score(Family.COMPLETION, Metric.EM, 0.625)))
    (headline,) = [line for line in report.splitlines() if line.startswith("**")]
    assert "0.625" in headline
