"""What of an edit is run, with which stated outputs, and which edits are not even run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Granularity
from pipeline.lake.tables import Lake
from pipeline.quality.all_rules import CurationRules
from pipeline.quality.annotation.leaks import leak_of
from pipeline.quality.annotation.planned_runs import checks_of, planned
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.families.problems.rows import problem, run

RULES = CurationRules.read()


def stated(statement: str, expected: str | None) -> Any:
    return {"statement": f"{statement}\n", "expected": expected, "options": []}


SOURCE: Any = {"checks": [stated("f(1)", "2\n"), stated("x = 1", None), stated("f(1)", "3\n")]}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("f(1)\nx = 1\nf(1)\n", ["2\n", None, "3\n"]),
        ("import lib\nf(1)\n", [None, "2\n"]),
        ("f(1)\nf(1)\nf(1)\n", ["2\n", "3\n", None]),
        ("f(2)\n", []),
        ("f(\n", []),
        ("", []),
    ],
)
def test_statements_that_stay_keep_their_stated_outputs(code: str, expected: list[str | None]) -> None:
    assert [check["expected"] for check in checks_of(code, [SOURCE])] == expected


COMPLETION = {"core_token": "split_at", "granularity": Granularity.LINE, "masked_code": "x = 1\n[line-mask]\n"}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"description": "Part a list."}, None),
        ({"description": "Split at a place."}, "description: 'Split at' gives the name away"),
        ({"masked_code": "split_at\n[line-mask]"}, "masked_code: 'split_at' can be read"),
        ({"masked_code": "[token-mask]\n[line-mask]"}, None),
        ({"masked_code": "x = 1\n"}, r"\[line-mask\] has to stand there"),
        ({"masked_code": "[line-mask]\n[line-mask]\n"}, r"\[line-mask\] has to stand there"),
        ({"answer": "split_at(x)"}, None),
    ],
)
def test_an_edit_gives_no_name_away_and_keeps_its_mask(changed: dict[str, str], problem: str | None) -> None:
    leak = leak_of(Family.COMPLETION, COMPLETION | changed, changed, RULES)
    assert (leak is None) == (problem is None)
    assert re.search(problem or "", leak or "")


def test_an_edited_problem_runs_where_versions_are_set_apart_and_in_no_further_release(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    roles = ProblemRun.VISIBLE, ProblemRun.HIDDEN, ProblemRun.OTHER_EXAMPLE, ProblemRun.OTHER_RELEASE
    lake.write("problem_runs", LIBRARY, [run(role, Outcome.PASSED) for role in roles])
    runs = planned(lake, Family.PROBLEM, problem(), problem(solution="    return list(items)\n"), RULES)
    assert [each.subject for each in runs] == [str(role) for role in roles[:3]]


def test_code_to_be_migrated_hides_nothing() -> None:
    assert leak_of(Family.MIGRATION, {"source_name": "split"}, {"description": "Split."}, RULES) is None
