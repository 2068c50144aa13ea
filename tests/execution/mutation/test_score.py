"""The score of mutants, the rules about it, and tests that somebody wrote run on mutants."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore, too_weak
from pipeline.quality.acceptance.quality import QualityRules
from tests.errors import raises

SHIPPED = load(RULES / "mutation.yaml", MutationRules)
FAILS = load(RULES / "quality.yaml", QualityRules).fails_in_target
HALF = SHIPPED.model_copy(update={"min_score": dict.fromkeys(SHIPPED.min_score, 0.5)})


@pytest.mark.parametrize(
    ("score", "share", "detail"),
    [
        (MutationScore(8, 4, 0), 0.5, None),
        (MutationScore(8, 3, 2), 0.5, None),
        (MutationScore(9, 4, 0), 0.4444, "4 of 9 changed references fail, 50% wanted"),
        (MutationScore(9, 2, 3), 0.3333, "2 of 6 changed references fail, 50% wanted"),
        (MutationScore(3, 0, 3), None, "none of 3 changed references differs from the reference"),
        (MutationScore(), None, "no changed reference could be run"),
    ],
)
def test_equivalent_mutants_do_not_count(score: MutationScore, share: float | None, detail: str | None) -> None:
    assert score.share == share
    reject = too_weak({"id": "r", **score.columns}, Family.PROBLEM, HALF)
    assert (reject.detail if reject else None) == detail
    assert reject is None or reject.reason is RejectReason.WEAK_TESTS


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.API_MISSING, MutationScore(5, 3, 1)),
        (Outcome.PASSED, MutationScore(5, 2, 2)),
        (Outcome.TIMED_OUT, MutationScore(4, 2, 1)),
    ],
)
def test_code_for_another_release_is_one_more_mutant(outcome: Outcome, expected: MutationScore) -> None:
    """Killed where the release cannot run it, equivalent where it is right too; a time-out says nothing."""
    assert MutationScore(4, 2, 1).with_other_code(outcome, FAILS) == expected


@pytest.mark.parametrize("family", [Family.COMPLETION, None])
def test_every_family_with_tests_has_its_number_and_no_other(family: Family | None) -> None:
    numbers = {str(name): 1 for name in SHIPPED.mutants if name is not Family.SCENE}
    if family is not None:
        numbers |= {str(Family.SCENE): 1, str(family): 1}
    with raises(ValueError, "scene"):
        MutationRules.model_validate(SHIPPED.model_dump() | {"mutants": numbers})
