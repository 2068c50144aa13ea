"""The tasks that errata of a snapshot took back."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.evaluation.scores.tasks import rows_of
from pipeline.snapshots.format.reader import Snapshot

Errata = Mapping[str, str]
"""What an erratum says of a row, by the id of the row."""


def read_errata(snapshot: Snapshot) -> Errata:
    """Read the errata of rows that did not come back, the last one of each row.

    Errors: SnapshotError.
    """
    columns = ("row_id", "last_snapshot", "reason", "detail", "successor_id", "restored")
    rows = rows_of(snapshot, "errata", columns)
    return {
        row["row_id"]: f"{row['reason']} after {row['last_snapshot']}: {row['detail']}"
        + (f"; its successor is {row['successor_id']}" if row["successor_id"] else "")
        for row in sorted(rows, key=lambda row: row["last_snapshot"])
        if not row["restored"]
    }
