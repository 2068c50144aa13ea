"""Reading decisions back: the history of a sample, and what of it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, select

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.quality.annotation.database import BULK, decisions, samples, standings, validations
from pipeline.quality.annotation.entries import Decision, Validation
from pipeline.quality.annotation.status import ReviewedState, Step, current_decisions
from pipeline.quality.annotation.store import Store


def history(connection: Connection, seq: int) -> tuple[Decision, ...]:
    """Return every decision on a sample, oldest first, those on what it was before too."""
    rows, checked = rows_of(connection, seq), validations_of(connection, seq)
    current = reviewed_state(connection, seq)
    counting = {step.id for step in current_decisions((step_of(row, checked) for row in rows), current).values()}
    return tuple(_decision(row, current, row["id"] in counting, checked.get(row["id"])) for row in rows)


def last_decided(store: Store, annotator: str) -> list[str]:
    """Return the ids of the samples of an annotator's newest decision that stands, which is what they can undo.

    They are several where it was one decision on many samples, and none where no decision stands.
    """
    is_current = and_(standings.c.seq == decisions.c.seq, standings.c.decision_id == decisions.c.id)
    query = (
        select(samples.c.id, decisions.c.origin)
        .join(decisions, decisions.c.seq == samples.c.seq)
        .join(standings, is_current)
        .where(decisions.c.who == annotator, ~samples.c.gone)
        .order_by(decisions.c.time.desc(), decisions.c.id.desc())
    )
    with store.reading() as connection:
        newest = connection.execute(query.limit(1)).first()
        if newest is None:
            return []
        if not newest.origin.startswith(BULK):
            return [newest.id]
        return list(connection.execute(query.where(decisions.c.origin == newest.origin)).scalars())


def rows_of(connection: Connection, seq: int) -> Sequence[RowMapping]:
    """Return the rows of `decisions` of a sample, oldest first."""
    query = select(decisions).where(decisions.c.seq == seq).order_by(decisions.c.id)
    return connection.execute(query).mappings().all()


def validations_of(connection: Connection, seq: int) -> dict[int, Validation]:
    """Return the newest validation of each edit of a sample, by decision."""
    query = (
        select(validations)
        .join(decisions, decisions.c.id == validations.c.decision_id)
        .where(decisions.c.seq == seq)
        .order_by(validations.c.id)
    )
    return {row["decision_id"]: _validation(row) for row in connection.execute(query).mappings()}


def reviewed_state(connection: Connection, seq: int) -> ReviewedState:
    """Return what an annotator judges who sees the sample now."""
    row = connection.execute(select(samples.c.content, samples.c.flags).where(samples.c.seq == seq)).one()
    return ReviewedState(row.content, frozenset(kind for kind, _ in row.flags))


def step_of(row: RowMapping, checked: dict[int, Validation]) -> Step:
    """Return a row of `decisions` as the rules see it."""
    validation = checked.get(row["id"])
    return Step(
        id=row["id"],
        annotator=row["who"],
        kind=DecisionKind(row["kind"]),
        state=ReviewedState(row["content"], frozenset(row["flags"])),
        after=tuple(sorted(row["after"].items())),
        settles=row["settles"],
        undoes=row["undoes"],
        passed=validation is not None and validation.passed,
    )


def _validation(row: RowMapping) -> Validation:
    runs: list[dict[str, Any]] = row["runs"]
    return Validation(row["passed"], row["problem"], tuple(runs), row["time"])


def _decision(row: RowMapping, current: ReviewedState, counts: bool, validation: Validation | None) -> Decision:
    return Decision(
        id=row["id"],
        annotator=row["who"],
        time=row["time"],
        kind=DecisionKind(row["kind"]),
        objection=Objection(row["objection"]) if row["objection"] else None,
        comment=row["comment"],
        before=row["before"],
        after=row["after"],
        settles=row["settles"],
        undoes=row["undoes"],
        seconds=row["seconds"],
        origin=row["origin"],
        of_this=counts or ReviewedState(row["content"], frozenset(row["flags"])).holds_for(current),
        counts=counts,
        validation=validation,
    )
