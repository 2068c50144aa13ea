"""Decisions are added, never changed, and what cannot be one is refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.review import FlagKind
from pipeline.quality.annotation.database import decisions
from pipeline.quality.annotation.decisions import DecisionError, NewDecision, add_validation, decide, decide_many
from pipeline.quality.annotation.queue import Filter, look, open_sample, progress
from pipeline.quality.annotation.store import Store
from tests.errors import raises
from tests.quality.annotation.rows import FAILED, ONCE, PASSED, TWICE, Clock, filled, sample, store_in

ACCEPT, UNDO = NewDecision(DecisionKind.ACCEPT), NewDecision(DecisionKind.UNDO)
REJECT = NewDecision(DecisionKind.REJECT, Objection.BAD_CODE)
EDIT = NewDecision(DecisionKind.EDIT, after={"description": "Another text."})


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Store, Clock]:
    store, clock = store_in(tmp_path)
    return filled(store, (sample(n, FlagKind.AUDIT, FlagKind.TOO_LONG) for n in range(6))), clock


def counts(store: Store, wanted: Filter | None = None) -> dict[str, int]:
    return {str(status): number for status, number in progress(store, wanted or Filter()).items() if number}


def test_every_decision_is_stored_and_counted(desk: tuple[Store, Clock]) -> None:
    store, clock = desk
    open_sample(store, "id0", "ann")
    clock.turn(12.5)
    assert decide(store, "id0", "ann", ACCEPT).status == QueueStatus.SUBMITTED
    assert counts(store) == counts(store, Filter(flag=FlagKind.TOO_LONG)) == {"pending": 5, "submitted": 1}
    assert decide(store, "id0", "ann", UNDO).status == QueueStatus.PENDING
    assert decide(store, "id0", "ann", REJECT).status == QueueStatus.DISCARDED
    assert counts(store) == {"pending": 5, "discarded": 1}
    history = look(store, "id0").history
    assert [(item.kind, item.counts) for item in history] == [
        (DecisionKind.ACCEPT, False),
        (DecisionKind.UNDO, False),
        (DecisionKind.REJECT, True),
    ]
    assert (history[0].seconds, history[1].undoes) == (12.5, history[0].id)


def test_an_edit_counts_when_it_has_passed_and_keeps_before_and_after(desk: tuple[Store, Clock]) -> None:
    store, _ = desk
    made = decide(store, "id1", "ann", EDIT)
    assert made.status == QueueStatus.DRAFT
    assert add_validation(store, made.decision_id, FAILED) == QueueStatus.DRAFT
    assert add_validation(store, made.decision_id, PASSED) == QueueStatus.SUBMITTED
    (edit,) = look(store, "id1").history
    assert (edit.before, edit.after) == ({"description": "Text 1."}, {"description": "Another text."})
    assert edit.validation is not None
    assert edit.validation.passed
    with raises(DecisionError, code="decision_not_edit"):
        add_validation(store, decide(store, "id2", "ann", ACCEPT).decision_id, PASSED)


def test_a_conflict_is_settled_by_a_decision_that_knows_of_it(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path, TWICE)
    filled(store, [sample(0)])
    assert decide(store, "id0", "ann", ACCEPT).status == QueueStatus.PENDING
    assert decide(store, "id0", "bob", REJECT).status == QueueStatus.CONFLICTING
    assert decide(store, "id0", "cy", REJECT).status == QueueStatus.DISCARDED
    assert [item.settles for item in look(store, "id0").history] == [False, False, True]
    assert decide(store, "id0", "cy", UNDO).status == QueueStatus.CONFLICTING


def test_a_decision_before_a_new_flag_settles_nothing(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path, TWICE)
    filled(store, [sample(0)])
    for who, said in (("ann", ACCEPT), ("bob", REJECT), ("cy", ACCEPT)):
        decide(store, "id0", who, said)
    filled(store, [sample(0, FlagKind.AUDIT, FlagKind.FLAKY)])
    assert decide(store, "id0", "ann", EDIT).status == QueueStatus.DRAFT
    assert decide(store, "id0", "bob", REJECT).status == QueueStatus.DRAFT
    assert not any(item.settles for item in look(store, "id0").history[3:])


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (NewDecision(DecisionKind.REJECT), "rejection_without_reason"),
        (NewDecision(DecisionKind.REJECT, Objection.OTHER), "comment_empty"),
        (NewDecision(DecisionKind.ACCEPT, Objection.OTHER, "why"), "reason_without_rejection"),
        (NewDecision(DecisionKind.COMMENT, comment=" "), "comment_empty"),
        (NewDecision(DecisionKind.COMMENT, comment="x" * (ONCE.max_text + 1)), "text_too_long"),
        (NewDecision(DecisionKind.EDIT), "edit_empty"),
        (NewDecision(DecisionKind.EDIT, after={"description": "Text 0."}), "edit_empty"),
        (NewDecision(DecisionKind.EDIT, after={"code": "g()"}), "field_not_editable"),
        (NewDecision(DecisionKind.EDIT, after={"version": "3.0"}), "field_value_unknown"),
        (NewDecision(DecisionKind.EDIT, after={"description": "a\0b"}), "text_invalid"),
        (NewDecision(DecisionKind.COMMENT, comment="a\0b"), "text_invalid"),
        (NewDecision(DecisionKind.COMMENT, comment="\ud800"), "text_invalid"),
        (
            NewDecision(DecisionKind.ACCEPT, flags=frozenset({FlagKind.AUDIT})),
            "sample_flagged",
        ),
        (NewDecision(DecisionKind.ACCEPT, after={"description": "x"}), "fields_without_edit"),
        (NewDecision(DecisionKind.ACCEPT, content="another"), "sample_changed"),
        (NewDecision(DecisionKind.UNDO), "nothing_to_undo"),
    ],
)
def test_an_invalid_decision_is_refused_and_not_stored(desk: tuple[Store, Clock], said: NewDecision, code: str) -> None:
    store, _ = desk
    with raises(DecisionError, code=code):
        decide(store, "id0", "ann", said)
    with store.reading() as connection:
        assert connection.execute(select(decisions)).all() == []


def test_a_sample_leased_by_another_cannot_be_decided(desk: tuple[Store, Clock]) -> None:
    store, _ = desk
    open_sample(store, "id0", "ann")
    with raises(DecisionError, code="sample_open_elsewhere"):
        decide(store, "id0", "bob", ACCEPT)
    decide(store, "id0", "bob", NewDecision(DecisionKind.COMMENT, comment="look at the test"))
    with raises(DecisionError, code="sample_not_in_queue"):
        decide(store, "gone", "bob", ACCEPT)
    with raises(DecisionError, code="annotator_missing"):
        decide(store, "id1", " ", ACCEPT)
    with raises(DecisionError, "201", "200", code="annotator_name_too_long"):
        decide(store, "id1", "a" * 201, ACCEPT)


def test_a_bulk_decision_omits_samples_that_cannot_be_decided(desk: tuple[Store, Clock]) -> None:
    store, _ = desk
    open_sample(store, "id2", "bob")
    made = decide_many(store, ["id0", "id1", "id2", "gone", "id0"], "ann", REJECT)
    assert made.decided == ("id0", "id1")
    assert set(made.refused) == {"id2", "gone"}
    assert counts(store) == {"pending": 4, "discarded": 2}
    with raises(DecisionError, code="edit_of_several"):
        decide_many(store, ["id3"], "ann", EDIT)
    with raises(DecisionError, "500", code="decision_of_too_many"):
        decide_many(store, [f"id{n}" for n in range(501)], "ann", ACCEPT)
