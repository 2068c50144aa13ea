"""Which decisions count, and what they make of a sample: pure rules over its history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus

RULINGS = frozenset({DecisionKind.ACCEPT, DecisionKind.REJECT, DecisionKind.EDIT})
"""Decisions that say what becomes of a sample."""
CLOSING = RULINGS | {DecisionKind.SKIP}
"""Decisions after which an annotator is not asked again."""


@dataclass(frozen=True, slots=True)
class ReviewedState:
    """What a decision was made on: the hash of the content, and the kinds of flags that were shown."""

    content: str
    flags: frozenset[str]

    def holds_for(self, now: ReviewedState) -> bool:
        """Say whether a decision on this still counts: the content is the same, and no flag has come up since."""
        return self.content == now.content and now.flags <= self.flags


@dataclass(frozen=True, slots=True)
class Step:
    """A decision as the rules see it; `passed` tells of an edit whether its newest validation did."""

    id: int
    annotator: str
    kind: DecisionKind
    state: ReviewedState
    after: tuple[tuple[str, str], ...] = ()
    settles: bool = False
    undoes: int | None = None
    passed: bool = False

    @property
    def ruling(self) -> tuple[DecisionKind, tuple[tuple[str, str], ...]]:
        """What two annotators have to have in common to agree."""
        return self.kind, self.after


def current_decisions(steps: Iterable[Step], now: ReviewedState) -> dict[str, Step]:
    """Return where each annotator stands: their newest decision on the sample as it is that was not undone.

    A rejection outlasts flags that come up after it: another doubt makes nothing better.
    """
    ordered = sorted(steps, key=lambda step: step.id)
    undone = {step.undoes for step in ordered if step.kind == DecisionKind.UNDO}
    counting = [step for step in ordered if step.kind in CLOSING and step.id not in undone]
    of_content = [step for step in counting if step.state.content == now.content]
    overruled = max((step.id for step in of_content if step.kind in RULINGS - {DecisionKind.REJECT}), default=-1)
    newest = {step.annotator: step for step in of_content}.values()
    rejections = [step for step in newest if step.kind == DecisionKind.REJECT and step.id > overruled]
    unchanged = [step for step in of_content if step.state.holds_for(now)]
    return {step.annotator: step for step in (*unchanged, *rejections)}


def status_of(current: Collection[Step], twice: bool) -> QueueStatus:
    """Return the status of a sample from where its annotators stand.

    The newest decision counts; of a sample that is judged twice two people have to agree, or a third decision, made
    when the conflict was known, settles it.
    """
    rulings = counting(current, twice)
    if any(step.kind == DecisionKind.EDIT and not step.passed for step in rulings):
        return QueueStatus.DRAFT
    settled = any(step.settles for step in rulings)
    if len(rulings) < (2 if twice and not settled else 1):
        return QueueStatus.PENDING
    if len({step.ruling for step in rulings}) > 1:
        return QueueStatus.CONFLICTING
    return QueueStatus.DISCARDED if rulings[0].kind == DecisionKind.REJECT else QueueStatus.SUBMITTED


def counting(current: Collection[Step], twice: bool) -> Sequence[Step]:
    """Return the decisions that make the status, oldest first."""
    rulings = sorted((step for step in current if step.kind in RULINGS), key=lambda step: step.id)
    settling = [step for step in rulings if step.settles]
    if settling:
        return settling[-1:]
    return rulings if twice else rulings[-1:]
