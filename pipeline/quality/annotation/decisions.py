"""Deciding: every decision is a row of its own, by whom and when, and none is ever changed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, RowMapping, delete, insert, or_, select

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.review import FlagKind
from pipeline.quality.annotation.bookkeeping import settle
from pipeline.quality.annotation.database import (
    BULK,
    LONGEST_NAME,
    decisions,
    leases,
    samples,
    standings,
    validations,
    views,
)
from pipeline.quality.annotation.entries import Validation
from pipeline.quality.annotation.history import reviewed_state, rows_of, step_of
from pipeline.quality.annotation.status import CLOSING, RULINGS, current_decisions
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.view import View, unpack

_AHEAD = timedelta(days=1)  # how far another machine's clock may be ahead


class DecisionError(CodedError, ValueError):
    """A decision cannot be taken: the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class NewDecision:
    """What an annotator says of a sample.

    `after` has the new values of the fields that an edit changes; `content` is the hash of what was on the page
    (`Entry.content`), `flags` the kinds that were, so that nobody decides on what has changed meanwhile. What was said
    elsewhere brings its `origin` (the file that it comes from), when it was said, and how many seconds it took.
    """

    kind: DecisionKind
    objection: Objection | None = None
    comment: str = ""
    after: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    flags: frozenset[FlagKind] | None = None
    origin: str = ""
    time: datetime | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The number of a decision, and the status of the sample with it."""

    decision_id: int
    status: QueueStatus


@dataclass(frozen=True, slots=True)
class Bulk:
    """What came of one decision on many samples: which were decided, and why the others were not, by id."""

    decided: tuple[str, ...]
    refused: Mapping[str, str]


def decide(store: Store, sample_id: str, annotator: str, decision: NewDecision) -> Decided:
    """Add a decision on a sample; an edit counts once `add_validation` says that it passed.

    Errors: DecisionError for what is incomplete, does not fit the sample, or is about a sample that somebody else has
    open or that has changed.
    """
    with store.writing() as connection:
        return _decide(store, connection, sample_id, annotator, decision)


def decide_many(store: Store, sample_ids: Sequence[str], annotator: str, decision: NewDecision) -> Bulk:
    """Add the same decision, which is no edit, on many samples, each by itself: a refused one stops no other.

    Errors: DecisionError for an edit, and for more samples than the rules allow.
    """
    if decision.kind == DecisionKind.EDIT:
        raise DecisionError("an edit is of one sample: make it on each", code="edit_of_several")
    if len(sample_ids) > store.rules.max_bulk:
        raise DecisionError(
            f"{len(sample_ids)} samples at once, {store.rules.max_bulk} are allowed: choose fewer",
            code="decision_of_too_many",
        )
    decided, refused = [], {}
    bulk = f"{BULK}{uuid.uuid4().hex}"
    with store.writing() as connection:
        for sample_id in dict.fromkeys(sample_ids):
            try:
                _decide(store, connection, sample_id, annotator, decision, bulk)
                decided.append(sample_id)
            except DecisionError as error:
                refused[sample_id] = str(error)
    return Bulk(tuple(decided), refused)


def add_validation(store: Store, decision_id: int, validation: Validation) -> QueueStatus:
    """Keep what came of running an edit, and return the status of its sample with it.

    Errors: DecisionError where the decision is no edit.
    """
    with store.writing() as connection:
        query = select(decisions.c.seq).where(decisions.c.id == decision_id, decisions.c.kind == DecisionKind.EDIT)
        seq: int | None = connection.execute(query).scalar()
        if seq is None:
            raise DecisionError(f"decision {decision_id} is no edit", code="decision_not_edit")
        row = {
            "decision_id": decision_id,
            "time": store.clock(),
            "passed": validation.passed,
            "problem": validation.problem,
            "runs": list(validation.runs),
        }
        connection.execute(insert(validations).values(**row))
        return settle(store, connection, seq)


def _decide(
    store: Store, connection: Connection, sample_id: str, annotator: str, decision: NewDecision, bulk: str = ""
) -> Decided:
    query = select(samples).where(samples.c.id == sample_id, ~samples.c.gone).with_for_update()
    sample = connection.execute(query).mappings().one_or_none()
    if sample is None:
        raise DecisionError(
            f"no sample {sample_id} is in the queue: a refresh has taken it out, or it was never there",
            code="sample_not_in_queue",
        )
    data = connection.execute(select(views.c.data).where(views.c.seq == sample["seq"])).scalar_one()
    view = unpack(data)
    _check(store, connection, sample, view, annotator, decision)
    row = {
        "seq": sample["seq"],
        "who": annotator,
        "time": decision.time or store.clock(),
        "kind": decision.kind,
        "objection": decision.objection,
        "comment": decision.comment.strip(),
        "before": {name: view.content[name] for name in decision.after},
        "after": dict(decision.after),
        "content": sample["content"],
        "flags": sorted({kind for kind, _ in sample["flags"]}),
        "settles": decision.kind in RULINGS and _is_settling(connection, sample),
        "undoes": _undone(connection, sample["seq"], annotator) if decision.kind == DecisionKind.UNDO else None,
        "seconds": decision.seconds,
        "origin": (decision.origin or bulk)[:LONGEST_NAME],
    }
    if not bulk and decision.kind in CLOSING and not decision.origin:
        row["seconds"] = _seconds(store, connection, sample["seq"], annotator)
    decision_id = connection.execute(insert(decisions).values(**row).returning(decisions.c.id)).scalar_one()
    status = settle(store, connection, sample["seq"])
    if decision.kind in CLOSING - {DecisionKind.EDIT}:
        connection.execute(delete(leases).where(leases.c.seq == sample["seq"], leases.c.who == annotator))
    return Decided(decision_id, status)


def _check(
    store: Store, connection: Connection, sample: RowMapping, view: View, annotator: str, decision: NewDecision
) -> None:
    """Refuse what cannot be a decision on a sample."""
    _check_texts(store, annotator, decision)
    if decision.kind == DecisionKind.REJECT and decision.objection is None:
        raise DecisionError("a rejection needs a reason: choose one of the list", code="rejection_without_reason")
    if decision.kind != DecisionKind.REJECT and decision.objection is not None:
        raise DecisionError(
            f"only a rejection has a reason, and this is: {decision.kind}", code="reason_without_rejection"
        )
    if not decision.comment.strip() and (
        decision.kind == DecisionKind.COMMENT or decision.objection == Objection.OTHER
    ):
        raise DecisionError("the comment is empty: say what it is", code="comment_empty")
    if decision.kind == DecisionKind.EDIT:
        _check_edit(view, decision.after)
    elif decision.after:
        raise DecisionError(f"only an edit changes fields, and this is: {decision.kind}", code="fields_without_edit")
    _check_unchanged(sample, decision)
    _check_newest(store, connection, sample, annotator, decision)
    held = select(leases.c.who).where(
        leases.c.seq == sample["seq"], leases.c.who != annotator, leases.c.until > store.clock()
    )
    holder = connection.execute(held).scalar()
    if holder and decision.kind in CLOSING and not decision.origin:
        raise DecisionError(f"{holder} has this sample open: take another one", code="sample_open_elsewhere")


def _check_texts(store: Store, annotator: str, decision: NewDecision) -> None:
    """Refuse a name or a text that is missing, too long, or that no database and no file can hold."""
    if not annotator.strip():
        raise DecisionError("no annotator is signed in", code="annotator_missing")
    if len(annotator) > LONGEST_NAME:
        raise DecisionError(
            f"a name of {len(annotator)} characters, {LONGEST_NAME} are allowed", code="annotator_name_too_long"
        )
    for name, text in {"name": annotator, "comment": decision.comment, **decision.after}.items():
        if len(text) > store.rules.max_text:
            raise DecisionError(
                f"{name}: {len(text)} characters, {store.rules.max_text} are allowed", code="text_too_long"
            )
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise DecisionError(
                f"{name}: holds a null byte or half a character, which no text can hold", code="text_invalid"
            )


def _check_edit(view: View, after: Mapping[str, str]) -> None:
    content = view.content
    if unknown := sorted(set(after) - set(content)):
        raise DecisionError(
            f"{', '.join(unknown)}: not among what can be edited here ({', '.join(sorted(content))})",
            code="field_not_editable",
        )
    if not any(content[name] != value for name, value in after.items()):
        raise DecisionError("the edit changes nothing: accept the sample instead", code="edit_empty")
    for choice in view.choices:
        if choice.name in after and after[choice.name] not in choice.options:
            raise DecisionError(
                f"{choice.name}: {after[choice.name]!r} is none of {', '.join(choice.options)}",
                code="field_value_unknown",
            )


def _check_unchanged(sample: RowMapping, decision: NewDecision) -> None:
    """Refuse a decision on what is not as it was shown; another flag is no reason to reject less."""
    if decision.content is not None and decision.content != sample["content"]:
        raise DecisionError("the sample has changed since it was opened: look at it again", code="sample_changed")
    if decision.flags is None or decision.kind not in CLOSING - {DecisionKind.REJECT}:
        return
    if new := sorted({kind for kind, _ in sample["flags"]} - decision.flags):
        raise DecisionError(
            f"the sample has been flagged since it was opened ({', '.join(new)}): look at it again",
            code="sample_flagged",
        )


def _check_newest(
    store: Store, connection: Connection, sample: RowMapping, annotator: str, decision: NewDecision
) -> None:
    """Refuse what was said elsewhere before a decision that counts: the newest one does, and not the last read."""
    if decision.time is None or decision.kind == DecisionKind.COMMENT:
        return
    if decision.time > store.clock() + _AHEAD:
        raise DecisionError(
            f"it was made on {decision.time:%Y-%m-%d}, which is in the future", code="decision_in_future"
        )
    query = (
        select(decisions.c.who, decisions.c.time)
        .join(standings, standings.c.decision_id == decisions.c.id)
        .where(standings.c.seq == sample["seq"], decisions.c.time > decision.time)
        .order_by(decisions.c.time.desc())
    )
    if sample["twice"]:
        query = query.where(or_(decisions.c.who == annotator, decisions.c.settles))
    if (newer := connection.execute(query).first()) is not None:
        raise DecisionError(
            f"{newer.who} has decided since, on {newer.time:%Y-%m-%d %H:%M} UTC: look at it again",
            code="decision_outdated",
        )


def _is_settling(connection: Connection, sample: RowMapping) -> bool:
    """Say whether a ruling now is made by somebody who knows of a conflict, or changes what settled one."""
    if sample["status"] == QueueStatus.CONFLICTING:
        return True
    query = (
        select(decisions.c.id)
        .join(standings, standings.c.decision_id == decisions.c.id)
        .where(standings.c.seq == sample["seq"], decisions.c.settles)
    )
    return connection.execute(query).first() is not None


def _undone(connection: Connection, seq: int, annotator: str) -> int:
    steps = (step_of(row, {}) for row in rows_of(connection, seq))
    own = current_decisions(steps, reviewed_state(connection, seq)).get(annotator)
    if own is None:
        raise DecisionError("nothing to undo: no decision of yours on this sample counts", code="nothing_to_undo")
    return own.id


def _seconds(store: Store, connection: Connection, seq: int, annotator: str) -> float | None:
    """Return how long an annotator has had a sample open."""
    query = select(leases.c.since).where(leases.c.seq == seq, leases.c.who == annotator)
    since = connection.execute(query).scalar()
    return round((store.clock() - since).total_seconds(), 3) if since else None
