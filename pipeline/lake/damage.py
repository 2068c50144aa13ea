"""Damaged files of ours: what can be made again is removed, and a line says so; what cannot is named and left."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline.core.errors import FatalError

log = logging.getLogger(__name__)

_COMPANIONS = ("", "-journal", "-wal", "-shm")
"""What SQLite keeps beside a database (sqlite.org/tempfiles.html)."""


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether an error means that a file is no database, rather than that it is locked or the disk full."""
    passing = sqlite3.OperationalError | sqlite3.IntegrityError | sqlite3.ProgrammingError
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, passing)


class Damaged(FatalError):
    """A file of ours cannot be read: the message names it, says why, and what to do."""

    code = "lake_file_damaged"


def remove_damaged(path: Path, error: Exception | str) -> None:
    """Remove a file that is a cache and cannot be read, so that it is made anew; a folder in its place is set aside."""
    if path.is_dir():
        set_folder_aside(path)
        return
    log.warning("%s was damaged (%s): cache removed, it will be rebuilt.", path, error)
    for end in _COMPANIONS:
        Path(f"{path}{end}").unlink(missing_ok=True)


def set_folder_aside(path: Path) -> None:
    """Rename a folder found where a file is expected."""
    aside = path.with_name(f"{path.name}.aside-{time.time_ns()}")
    path.rename(aside)
    log.warning("%s is a folder where a file belongs: it is now %s", path, aside.name)


def heal_database(path: Path) -> None:
    """Remove a database that is a cache, and of which not even the list of tables can be read, before it is opened."""
    if path.is_dir():
        set_folder_aside(path)
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path)) as database:
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        remove_damaged(path, error)


def read_state(
    path: Path, needed: frozenset[str] = frozenset(), earlier_names: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any] | None:
    """Return a JSON object that has the keys it needs; None, with a line, where a file is there and is none.

    `earlier_names` are those that other releases gave to keys, with the names of now.
    """
    try:
        state = json.loads(path.read_bytes())
        if isinstance(state, dict):
            state = renamed(state, earlier_names)
        if isinstance(state, dict) and needed <= state.keys():
            return state
        problem = f"it lacks {', '.join(sorted(needed - set(state)))}" if isinstance(state, dict) else "no JSON object"
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        set_folder_aside(path)
        return None
    except ValueError as error:
        problem = str(error)
    log.warning("%s was damaged (%s): its work will be repeated.", path, problem)
    return None


def renamed(state: Mapping[str, Any], earlier_names: Mapping[str, str]) -> dict[str, Any]:
    """Return a state whose keys have the names of now."""
    return {earlier_names.get(key, key): value for key, value in state.items()}
