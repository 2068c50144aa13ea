"""Cases of samples whose right code displays nothing, or what the program says already."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.scores.cases import CASES


def _row(granularity: Granularity) -> dict[str, Any]:
    mask = {"token": "app.[token-mask]()", "line": "[line-mask]"}[granularity]
    masked = f"from lib import App\napp = App()\n{mask}\n"
    return {
        "granularity": granularity,
        "core_token": "push",
        "masked_code": masked,
        "code": "from lib import App\napp = App()\napp.push()\n",
    }


def _checks(expected: str | None) -> dict[str, Any]:
    statements = ["from lib import App\n", "app = App()\n", "app.push()\n"]
    outputs = [None, None, expected]
    return {
        "preamble": "",
        "checks": [
            {"statement": one, "expected": text, "options": []} for one, text in zip(statements, outputs, strict=True)
        ],
    }


@pytest.mark.parametrize(
    ("granularity", "sample", "expected", "fails"),
    [
        (Granularity.LINE, "app.push()", None, False),
        (Granularity.LINE, "with app.push():", None, False),
        (Granularity.LINE, "pass", None, True),
        (Granularity.LINE, "app.pushed()", "\n", True),
        (Granularity.LINE, "print(1)", "1\n", False),
        (Granularity.TOKEN, "pop", None, False),
    ],
)
def test_an_answer_names_the_api_where_the_program_displays_nothing(
    granularity: Granularity, sample: str, expected: str | None, fails: bool
) -> None:
    ((_, case),) = CASES[Family.COMPLETION](_row(granularity), sample, _checks(expected))
    assert ("does not use push" in case.code) == fails


@pytest.mark.parametrize(
    ("sample", "comment", "fails"),
    [("print(12)", "  # 12", True), ("print(12)", "  # 3", False), ("print(app.push())", "  # 12", False)],
)
def test_an_answer_names_the_api_where_a_comment_says_what_is_displayed(sample: str, comment: str, fails: bool) -> None:
    row = _row(Granularity.LINE)
    row |= {each: row[each].rstrip("\n") + f"{comment}\n" for each in ("code", "masked_code")}
    ((_, case),) = CASES[Family.COMPLETION](row, sample, _checks("12\n"))
    assert ("does not use push" in case.code) == fails
