"""A snapshot with tasks of every family whose answers can be run."""

from __future__ import annotations

from pathlib import Path

from pipeline.execution.environments.resolution.pinned import lock_id_of
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.evaluation.export.test_harbor import LOCK, PYTHON, tables

EXECUTED = ("published_migrations", "published_problems", "published_functions", "releases")
"""Tables of which the rows that are in environments replace the others."""


def snapshot(folder: Path, sha256: str = "0" * 64, lock: str = LOCK) -> Path:
    """Publish rows of every family: the project has a source distribution of that hash, the environment a lock."""
    static, executed = lake_tables(sha256), tables(lock=lock)
    for name, rows in executed.items():
        locks = [{of: lock_id_of(PYTHON, lock) for of in ("lock_id", "target_lock_id") if row.get(of)} for row in rows]
        rows = [{**row, **other} for row, other in zip(rows, locks, strict=True)]
        static[name] = rows if name in EXECUTED else [*static.get(name, []), *rows]
    return snapshot_of(static, folder)
