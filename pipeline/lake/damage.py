"""Damaged files of ours: what can be made again is removed, and a line says so."""

from __future__ import annotations

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_COMPANIONS = ("", "-journal", "-wal", "-shm")
"""What SQLite keeps beside a database (sqlite.org/tempfiles.html)."""


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether an error means that a file is no database, rather than that it is locked or the disk full."""
    passing = sqlite3.OperationalError | sqlite3.IntegrityError | sqlite3.ProgrammingError
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, passing)


def remove_damaged(path: Path, error: Exception) -> None:
    """Remove a database that is a cache and cannot be read, so that it is made anew."""
    log.warning("%s is damaged (%s): it held nothing that cannot be made again, and begins anew", path, error)
    for end in _COMPANIONS:
        Path(f"{path}{end}").unlink(missing_ok=True)


def read_state(path: Path, needed: frozenset[str] = frozenset()) -> dict[str, Any] | None:
    """Return a JSON object that has the keys it needs; None, with a line, where a file is there and is none."""
    try:
        found = json.loads(path.read_bytes())
        if isinstance(found, dict) and needed <= found.keys():
            return found
        problem = f"it lacks {', '.join(sorted(needed - set(found)))}" if isinstance(found, dict) else "no JSON object"
    except FileNotFoundError:
        return None
    except ValueError as error:
        problem = str(error)
    log.warning("%s is damaged (%s): what it stood for is done again", path, problem)
    return None
