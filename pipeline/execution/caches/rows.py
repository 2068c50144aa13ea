"""Caches in SQLite: the rows that were written longest ago taken away, and their space given back."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

# What lies in which table and column; of several the first is cleared before the next is touched. Rows are in the order
# of their rowid, which is that of their coming.
_TABLES: Mapping[str, str] = {"contents": "zstd", "trees": "manifest", "records": "record", "runs": "result"}


def has_rows(path: Path) -> bool:
    """Return whether a file is a database with rows that can be cleared one by one."""
    return path.suffix == ".sqlite" and bool(_tables(path))


def shrink_rows(path: Path, limit_bytes: int) -> int:
    """Remove the oldest rows until the database is below a size, and return how many; nobody else may use it.

    Errors: sqlite3.Error, among them that the disk has no room for the smaller copy: the rows are gone all the same,
    and their space is used for the next ones.
    """
    removed = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        while (size := path.stat().st_blocks * 512) > limit_bytes:
            rows = _remove_share(database, _tables(path), 1 - limit_bytes / size)
            if not rows:
                break
            removed += rows
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return removed


def _remove_share(database: sqlite3.Connection, tables: list[str], share: float) -> int:
    """Remove the oldest rows with a share of all bytes, and return how many rows.

    A share, since a row takes more room than its bytes: what it takes is known only when the rest is packed anew.
    """
    sums = (f"SELECT total(length({_TABLES[table]})) FROM {table}" for table in tables)  # noqa: S608 - our own names
    excess = share * sum(database.execute(query).fetchone()[0] for query in sums)
    removed = 0
    for table in tables:
        rows, gone = _remove_oldest(database, table, excess)
        removed, excess = removed + rows, excess - gone
    return removed


def _tables(path: Path) -> list[str]:
    """Return the tables of a database that can be cleared, in order; none where it is damaged or of another kind."""
    tables = []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            for table, column in _TABLES.items():
                schema = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table]).fetchone()
                if schema and column in schema[0] and "WITHOUT ROWID" not in schema[0]:
                    tables.append(table)
    except sqlite3.Error:
        return []
    return tables


def _remove_oldest(database: sqlite3.Connection, table: str, excess: float) -> tuple[int, int]:
    """Remove rows of a table until so many bytes are gone; return rows and bytes."""
    rows = gone = 0
    last = None
    lengths = f"SELECT rowid, length({_TABLES[table]}) FROM {table} ORDER BY rowid"  # noqa: S608 - our own names
    for rowid, length in database.execute(lengths):
        if gone >= excess:
            break
        rows, gone, last = rows + 1, gone + length, rowid
    if last is not None:
        database.execute(f"DELETE FROM {table} WHERE rowid <= ?", [last])  # noqa: S608 - our own names
    return rows, gone
