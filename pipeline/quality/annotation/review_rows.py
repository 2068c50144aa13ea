"""Settled decisions, as rows of the table `reviews`, which acceptance reads."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import Connection, RowMapping, select

from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import ReviewEditRun, ReviewRow
from pipeline.lake.stage import Reject
from pipeline.quality.annotation.database import samples
from pipeline.quality.annotation.history import reviewed_state, rows_of, step_of, validations_of
from pipeline.quality.annotation.status import counting, current_decisions
from pipeline.quality.annotation.store import Store

_RUN: dict[str, Any] = {"detail": None, "code": None, "statements": None, "executed": None}


def settled(store: Store, library: str) -> tuple[list[ReviewRow], list[Reject]]:
    """Return what was settled of a library's samples, in the order of their ids, and the samples that raise.

    Those that left the queue count too: that nothing is flagged any more makes no decision void.
    """
    done = (QueueStatus.SUBMITTED, QueueStatus.DISCARDED)
    query = select(samples).where(samples.c.library == library, samples.c.status.in_(done)).order_by(samples.c.id)
    with store.reading() as connection:
        decided = connection.execute(query).mappings().all()
        return parted(guarded(decided, lambda sample: str(sample["id"]), lambda sample: [_row(connection, sample)]))


def _row(connection: Connection, sample: RowMapping) -> ReviewRow:
    seq = sample["seq"]
    checked, rows = validations_of(connection, seq), {row["id"]: row for row in rows_of(connection, seq)}
    current = current_decisions(
        (step_of(row, checked) for row in rows.values()), reviewed_state(connection, seq)
    ).values()
    rulings = counting(current, sample["twice"])
    decided = rows[rulings[-1].id]
    runs = checked[decided["id"]].runs if decided["id"] in checked else ()
    return {
        "instance_id": sample["id"],
        "library": sample["library"],
        "family": sample["family"],
        "content": decided["content"],
        "flags": decided["flags"],
        "kind": decided["kind"],
        "objection": decided["objection"],
        "edits": [{"name": name, "value": value} for name, value in sorted(decided["after"].items())],
        "runs": cast("list[ReviewEditRun]", [_RUN | run for run in runs]),
        "annotators": len(rulings),
    }
