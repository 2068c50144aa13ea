"""Which decisions count, and what they make of a sample: pure rules over its history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus

RULINGS = frozenset({DecisionKind.ACCEPT, DecisionKind.REJECT, DecisionKind.EDIT})
"""Decisions that say what becomes of a sample."""
STANDS = RULINGS | {DecisionKind.SKIP}
"""Decisions after which an annotator is not asked again."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a decision was made on: the hash of the content, and the kinds of flags that were shown."""

    content: str
    flags: frozenset[str]

    def holds_for(self, now: Judged) -> bool:
        """Say whether a decision on this still counts: the content is the same, and no flag has come up since."""
        return self.content == now.content and now.flags <= self.flags


@dataclass(frozen=True, slots=True)
class Step:
    """A decision as the rules see it; `passed` tells of an edit whether its newest validation did."""

    id: int
    who: str
    kind: DecisionKind
    judged: Judged
    after: tuple[tuple[str, str], ...] = ()
    settles: bool = False
    undoes: int | None = None
    passed: bool = False

    @property
    def ruling(self) -> tuple[DecisionKind, tuple[tuple[str, str], ...]]:
        """What two annotators have to have in common to agree."""
        return self.kind, self.after


def stands(steps: Iterable[Step], now: Judged) -> dict[str, Step]:
    """Return where each annotator stands: their newest decision on the sample as it is that was not undone.

    A rejection outlasts flags that come up after it: another doubt makes nothing better.
    """
    known = sorted(steps, key=lambda step: step.id)
    undone = {step.undoes for step in known if step.kind == DecisionKind.UNDO}
    counting = [step for step in known if step.kind in STANDS and step.id not in undone]
    of_content = [step for step in counting if step.judged.content == now.content]
    overruled = max((step.id for step in of_content if step.kind in RULINGS - {DecisionKind.REJECT}), default=-1)
    newest = {step.who: step for step in of_content}.values()
    rejections = [step for step in newest if step.kind == DecisionKind.REJECT and step.id > overruled]
    seen = [step for step in of_content if step.judged.holds_for(now)]
    return {step.who: step for step in (*seen, *rejections)}


def status_of(standing: Collection[Step], twice: bool) -> QueueStatus:
    """Return the status of a sample from where its annotators stand.

    The newest decision counts; of a sample that is judged twice two people have to agree, or a third decision, made
    when the conflict was known, settles it.
    """
    rulings = counting(standing, twice)
    if any(step.kind == DecisionKind.EDIT and not step.passed for step in rulings):
        return QueueStatus.DRAFT
    settled = any(step.settles for step in rulings)
    if len(rulings) < (2 if twice and not settled else 1):
        return QueueStatus.PENDING
    if len({step.ruling for step in rulings}) > 1:
        return QueueStatus.CONFLICTING
    return QueueStatus.DISCARDED if rulings[0].kind == DecisionKind.REJECT else QueueStatus.SUBMITTED


def counting(standing: Collection[Step], twice: bool) -> Sequence[Step]:
    """Return the decisions that make the status, oldest first."""
    rulings = sorted((step for step in standing if step.kind in RULINGS), key=lambda step: step.id)
    settling = [step for step in rulings if step.settles]
    if settling:
        return settling[-1:]
    return rulings if twice else rulings[-1:]
