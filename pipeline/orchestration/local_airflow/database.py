"""How Airflow's processes share the SQLite file of a local Airflow: whoever will write says so before it reads.

A savepoint begins a transaction that reads first. Where another process writes before its own first write, SQLite
ends it at once with "database is locked", however long it would wait (https://sqlite.org/rescode.html#busy_snapshot);
and `airflow backfill create` makes a savepoint for each run, beside a scheduler that writes all the time.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from typing import Any, Self

_ADDRESS = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_WAIT_S = 60.0


class _Cursor(sqlite3.Cursor):
    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        if sql.startswith("SAVEPOINT") and not self.connection.in_transaction:
            super().execute("BEGIN IMMEDIATE")
        return super().execute(sql, parameters)


class Connection(sqlite3.Connection):
    """A connection whose savepoints wait for their turn to write."""

    def cursor(self, factory: Any = _Cursor) -> Any:
        """Return a cursor that does so."""
        return super().cursor(factory)


def connect_args(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return how a local Airflow connects: nothing special where the environment names a database of another kind."""
    elsewhere = any(name.startswith(_ADDRESS) for name in environment)
    return {} if elsewhere else {"timeout": _WAIT_S, "factory": Connection}


CONNECT_ARGS = connect_args(os.environ)
"""What `airflow.cfg` names."""
