"""The database of everything that was paid for: answers, the ledger, and batches that are under way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import local

from filelock import FileLock

from pipeline.core.errors import CodedError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (
    id TEXT PRIMARY KEY, run TEXT NOT NULL, month TEXT NOT NULL, nano_usd INTEGER NOT NULL, settled INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS of_month ON ledger (month);
CREATE INDEX IF NOT EXISTS of_run ON ledger (run);
CREATE TABLE IF NOT EXISTS batched (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, batch TEXT, reservation TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ended (run TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
"""


class AnswersError(CodedError, OSError):
    """The database of answers cannot be read; nobody can make it again for nothing."""

    code = "answers_unreadable"


@dataclass(frozen=True)
class Store:
    """The database at a path, which several processes may use; it is no cache: what is in it was paid for."""

    path: Path
    _opened: local = field(default_factory=local, repr=False, compare=False)

    def sending(self) -> FileLock:
        """The lock of whoever sends a batch: what has no batch while nobody holds the lock was broken off."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self.path.with_suffix(".lock"))

    def _begun(self) -> sqlite3.Connection:
        try:
            database = sqlite3.connect(self.path, timeout=120, isolation_level=None)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=FULL")
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            raise AnswersError(
                f"{self.path}: what was paid for cannot be read ({error}): put a copy of it back; without the file"
                " every answer is asked for, and paid, again"
            ) from error
        return database

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open it for one transaction, which is on disk when it ends; inside of another it is a part of that one.

        Errors: OSError, where the file is no database or cannot be locked.
        """
        if (opened := getattr(self._opened, "database", None)) is not None:
            yield opened
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._begun()) as database:
            self._opened.database = database
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            finally:
                self._opened.database = None
            database.execute("COMMIT")
