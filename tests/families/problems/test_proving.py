"""An exception in the proof of one problem is the reject of that one, and the others are proven."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.problems import proving, recording
from pipeline.families.problems.drafts import Draft, draft
from pipeline.lake.stage import Reject
from tests.e2e.test_guarding import raising_once
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS
from tests.families.problems.test_witnessed import DRAFTING, PADDED, candidate_of, library_of

PLACE: Any = SimpleNamespace(roots=frozenset({"lib"}), row={"import_names": ["lib"]}, environment=None)
RUNNER: Any = SimpleNamespace(sandbox=None, rules=None, workers=1, memory=None)


def record(tried: Sequence[recording.Tried], *_: Any) -> list[Any]:
    """Give the stated value for the first input, and another one for each of the others."""

    def printed(number: int) -> str:
        shown = str(number) if number else "[1, None]"
        return f"driftline-recorded {json.dumps({'number': number, 'shown': shown, 'is_literal': True})}\n"

    return [
        SimpleNamespace(outcome=Outcome.PASSED, output="".join(map(printed, range(len(each.inputs))))) for each in tried
    ]


@pytest.mark.parametrize(
    "work",
    [
        "proving.paired_inputs",
        "proving.put_together",
        "proving.choose",
        "apis.siblings.neighbours",
        "proving.hidden_tests",
        "proving._repeatable",
        "recording.mutants_of",
        "recording.gives",
    ],
)
def test_a_problem_that_raises_is_a_reject_and_the_others_are_proven(
    monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    first = draft(candidate_of(PADDED), library_of(), RULES_OF_PROBLEMS, DRAFTING)
    assert isinstance(first, Draft)
    second = replace(first, row={**first.row, "id": "second"})
    for each in (proving, recording):
        monkeypatch.setattr(each, "record", record)
    monkeypatch.setattr(recording, "hurried", lambda runner, rules: runner)
    monkeypatch.setattr(proving, "run_tested", lambda *_: defaultdict(list))
    monkeypatch.setattr(
        proving, "run_cases", lambda _, cases, *__, **___: [SimpleNamespace(outcome=Outcome.PASSED) for _ in cases]
    )
    raising_once(monkeypatch, f"pipeline.families.problems.{work}")
    made = list(proving.prove([first, second], library_of(), {"1.1": PLACE}, RUNNER, RULES_OF_PROBLEMS, MUTATION))
    (reject,) = (each for each in made if isinstance(each, Reject))
    assert (reject.key, reject.reason) == (first.id, RejectReason.INTERNAL_ERROR)
    (trial,) = (each for each in made if not isinstance(each, Reject))
    assert trial.draft.id == "second"
    assert trial.recorded
