"""The environments of exported programs: locks that prepare.py installs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.evaluation.export.format import ExportError, Further, Result
from pipeline.execution.environments.resolution.pinned import lock_id_of, read_lock
from pipeline.execution.environments.store import Locked
from pipeline.families.family import EnvironmentTable
from pipeline.lake.rows import AnyRow
from pipeline.snapshots.format.reader import Snapshot

ENVIRONMENTS = "environments.jsonl"
_TABLES: tuple[EnvironmentTable, ...] = ("environments", "function_environments", "problem_environments")


def environment_folder(lock_id: str | None) -> str | None:
    """Return the folder of an environment in an export, None where a row has none."""
    return f"environments/{lock_id}" if lock_id else None


def environments(snapshot: Snapshot, rows: Iterable[AnyRow]) -> Iterator[Result]:
    """Yield a record of each environment in which some rows run.

    Errors: ExportError for a lock that is not what its id states, or has more than pins.
    """
    needed = {row["lock_id"] for row in rows} - {None}
    tables = [snapshot.rows(config) for config in _TABLES if snapshot.has(config)] if needed else []
    locked = {row["lock_id"]: row for table in tables for row in table if row["lock_id"] in needed and row["lock"]}
    for lock_id, row in sorted(locked.items()):
        check_lock(row)
        yield Further(
            ENVIRONMENTS, {"folder": environment_folder(lock_id), "python": row["python"], "lock": row["lock"]}
        )


def check_lock(row: Locked) -> None:
    """Raise ExportError for a lock that is not what its id states, or has more than pins with hashes."""
    python, lock = str(row["python"]), str(row["lock"])
    try:
        read_lock(lock)
    except ValueError as error:
        raise ExportError(
            f"lock {row['lock_id']:.40}: {error}: run `driftline verify` on the snapshot", code="export_lock_invalid"
        ) from None
    if lock_id_of(python, lock) != row["lock_id"]:
        raise ExportError(
            f"lock {row['lock_id']:.40}: its content has another hash: run `driftline verify`",
            code="export_lock_invalid",
        )
