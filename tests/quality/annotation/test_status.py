"""Which decisions count: the rules against a model that replays a history step by step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.quality.annotation.status import ReviewedState, Step, counting, current_decisions, status_of

NOW = ReviewedState("now", frozenset({"audit"}))
A, R, E, S = DecisionKind.ACCEPT, DecisionKind.REJECT, DecisionKind.EDIT, DecisionKind.SKIP


def said(number: int, who: str, kind: DecisionKind, **others) -> Step:
    return Step(number, who, kind, NOW, **others)


def status(*steps: Step, twice: bool = False) -> QueueStatus:
    return status_of(current_decisions(steps, NOW).values(), twice)


def test_a_single_decision_settles_a_sample_of_a_single_review() -> None:
    assert status() == QueueStatus.PENDING
    assert status(said(1, "ann", A)) == QueueStatus.SUBMITTED
    assert status(said(1, "ann", R)) == QueueStatus.DISCARDED
    assert status(said(1, "ann", S)) == QueueStatus.PENDING
    assert status(said(1, "ann", DecisionKind.COMMENT)) == QueueStatus.PENDING


def test_the_newest_decision_counts_and_undoing_it_restores_the_previous_one() -> None:
    first, second = said(1, "ann", A), said(2, "bob", R)
    assert status(first, second) == QueueStatus.DISCARDED
    undone = said(3, "bob", DecisionKind.UNDO, undoes=2)
    assert status(first, second, undone) == QueueStatus.SUBMITTED
    assert status(first, said(2, "ann", DecisionKind.UNDO, undoes=1)) == QueueStatus.PENDING


def test_an_edit_is_a_draft_until_it_has_passed() -> None:
    change = (("description", "other"),)
    assert status(said(1, "ann", E, after=change)) == QueueStatus.DRAFT
    assert status(said(1, "ann", E, after=change, passed=True)) == QueueStatus.SUBMITTED


def test_two_people_have_to_agree_where_two_judge() -> None:
    ann = said(1, "ann", A)
    assert status(ann, twice=True) == QueueStatus.PENDING
    assert status(ann, said(2, "ann", A), twice=True) == QueueStatus.PENDING
    assert status(ann, said(2, "bob", A), twice=True) == QueueStatus.SUBMITTED
    assert status(ann, said(2, "bob", R), twice=True) == QueueStatus.CONFLICTING
    assert status(ann, said(2, "bob", R), said(3, "cy", R, settles=True), twice=True) == QueueStatus.DISCARDED
    edits = [said(n, who, E, after=(("description", who),), passed=True) for n, who in enumerate(("ann", "bob"))]
    assert status(*edits, twice=True) == QueueStatus.CONFLICTING


def test_a_decision_on_other_content_or_before_a_new_flag_does_not_count() -> None:
    before = Step(1, "ann", A, ReviewedState("before", NOW.flags))
    unseen = Step(2, "ann", A, ReviewedState("now", frozenset()))
    more = Step(3, "ann", A, ReviewedState("now", NOW.flags | {"flaky"}))
    assert status(before) == status(unseen) == QueueStatus.PENDING
    assert status(more) == QueueStatus.SUBMITTED


def test_a_rejection_outlasts_a_new_flag_unless_it_was_overruled() -> None:
    unseen = ReviewedState("now", frozenset())
    ann, bob = Step(1, "ann", R, unseen), Step(2, "bob", R, unseen)
    assert status(ann) == status(ann, bob) == status(ann, bob, twice=True) == QueueStatus.DISCARDED
    assert status(ann, Step(2, "bob", A, unseen)) == QueueStatus.PENDING
    assert status(ann, Step(2, "ann", S, unseen)) == QueueStatus.PENDING
    assert status(ann, said(2, "ann", DecisionKind.UNDO, undoes=1)) == QueueStatus.PENDING
    assert status(ann, said(2, "bob", A)) == QueueStatus.SUBMITTED
    assert status(Step(1, "ann", R, ReviewedState("before", NOW.flags))) == QueueStatus.PENDING


HISTORIES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([A, R, S, DecisionKind.UNDO])), max_size=14)


@given(HISTORIES, st.booleans())
def test_the_status_is_that_of_a_history_replayed(history: list[tuple[str, DecisionKind]], twice: bool) -> None:
    """The model keeps a stack of decisions for each annotator; undoing takes the top away."""
    stacks: dict[str, list[tuple[int, DecisionKind]]] = {who: [] for who in "abc"}
    steps: list[Step] = []
    for number, (who, kind) in enumerate(history):
        if kind == DecisionKind.UNDO:
            if not stacks[who]:
                continue
            steps.append(said(number, who, kind, undoes=stacks[who].pop()[0]))
        else:
            stacks[who].append((number, kind))
            steps.append(said(number, who, kind))
    tops = {who: stack[-1] for who, stack in stacks.items() if stack}
    assert {who: (step.id, step.kind) for who, step in current_decisions(steps, NOW).items()} == tops
    rulings = [kind for _, kind in sorted(tops.values()) if kind != S]
    counted = rulings if twice else rulings[-1:]
    expected = QueueStatus.PENDING
    if len(counted) > 1 and len(set(counted)) > 1:
        expected = QueueStatus.CONFLICTING
    elif len(counted) >= (2 if twice else 1):
        expected = QueueStatus.SUBMITTED if counted[0] == A else QueueStatus.DISCARDED
    assert status(*steps, twice=twice) == expected


def test_only_settling_decisions_count() -> None:
    steps = [said(1, "ann", A), said(2, "bob", R), said(3, "cy", A, settles=True)]
    assert [step.id for step in counting(steps, twice=True)] == [3]
