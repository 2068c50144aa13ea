"""What is kept beside the decisions so that it need not be worked out again: standings, status, queue and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.quality.annotation.database import queue, samples, standings, tallies
from pipeline.quality.annotation.history import reviewed_state, rows_of, step_of, validations_of
from pipeline.quality.annotation.status import current_decisions, status_of
from pipeline.quality.annotation.store import Store

_QUEUE_COLUMNS = ("seq", "status", "library", "family", "source", "raised")


def settle(store: Store, connection: Connection, seq: int) -> QueueStatus:
    """Work out again where a sample stands after something was said of it, and return its status."""
    checked = validations_of(connection, seq)
    current = current_decisions(
        (step_of(row, checked) for row in rows_of(connection, seq)), reviewed_state(connection, seq)
    )
    connection.execute(delete(standings).where(standings.c.seq == seq))
    if current:
        rows = [
            {"seq": seq, "who": annotator, "decision_id": step.id, "kind": step.kind}
            for annotator, step in current.items()
        ]
        connection.execute(insert(standings), rows)
    row = connection.execute(select(samples).where(samples.c.seq == seq)).mappings().one()
    status = status_of(current.values(), row["twice"])
    if status != row["status"]:
        take_out(store, connection, [row])
        connection.execute(update(samples).where(samples.c.seq == seq).values(status=status))
        put_in(store, connection, [{**row, "status": status}])
    return status


def put_in(store: Store, connection: Connection, rows: Sequence[Mapping[Any, Any]]) -> None:
    """Put samples into the queue under each of their flags, and count them; those that are gone stay out."""
    there = [row for row in rows if not row["gone"]]
    entries = [{name: row[name] for name in _QUEUE_COLUMNS} | {"flag": flag} for row in there for flag in _flags(row)]
    if entries:
        connection.execute(insert(queue), entries)
    _count(store, connection, there, 1)


def take_out(store: Store, connection: Connection, rows: Sequence[Mapping[Any, Any]]) -> None:
    """Take samples out of the queue and of the counts; their decisions stay."""
    there = [row for row in rows if not row["gone"]]
    for row in there:
        connection.execute(delete(queue).where(queue.c.seq == row["seq"]))
    _count(store, connection, there, -1)


def _count(store: Store, connection: Connection, rows: Iterable[Mapping[Any, Any]], by: int) -> None:
    counted: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        counted.update((flag, row["library"], row["family"], row["source"], row["status"]) for flag in _flags(row))
    for (flag, library, family, source, status), number in sorted(counted.items()):
        key = {"flag": flag, "library": library, "family": family, "source": source, "status": status}
        counting = store.insert(tallies).values(**key, samples=by * number)
        more = {"samples": tallies.c.samples + by * number}
        connection.execute(counting.on_conflict_do_update(index_elements=list(tallies.primary_key), set_=more))


def _flags(row: Mapping[Any, Any]) -> Iterable[str]:
    return sorted({"", *(kind for kind, _ in row["flags"])})
