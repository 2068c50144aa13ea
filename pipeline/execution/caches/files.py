"""Caches of files: which are there, when each was used, and those used longest ago taken away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database and is worth nothing without it (https://www.sqlite.org/tempfiles.html)."""

NOT_CACHED = (".lock", *COMPANIONS)
"""Endings of files that go with others, or hold nothing."""


@dataclass(frozen=True, slots=True)
class Used:
    """A file: its bytes on disk, a database with its companions, and when it was last read or written (epoch)."""

    path: Path
    bytes: int
    time: float


def files_below(folder: Path) -> list[Used]:
    """Return the files of a cache, the one used longest ago first; locks are not counted."""
    files = [used for path in _paths(folder) if (used := _used(path))]
    return sorted(files, key=lambda used: (used.time, used.path))


def remove_oldest(files: list[Used], excess_bytes: int, used_before: float) -> tuple[int, int]:
    """Remove files used before a time, the oldest first, until so many bytes are gone; return files and bytes removed.

    A file that somebody has open keeps its content until it is closed.
    """
    removed = gone = 0
    for used in files:
        if gone >= excess_bytes or used.time >= used_before:
            break
        for path in (used.path, *companions(used.path)):
            path.unlink(missing_ok=True)
        removed, gone = removed + 1, gone + used.bytes
    return removed, gone


def remove_empty(folder: Path) -> None:
    """Remove the folders that clearing left empty."""
    for root, _, _ in os.walk(folder, topdown=False):
        if root != str(folder):
            with contextlib.suppress(OSError):
                Path(root).rmdir()


def companions(path: Path) -> list[Path]:
    """Return what SQLite may keep beside a database."""
    return [path.with_name(path.name + ending) for ending in COMPANIONS]


def _paths(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
    for root, _, names in os.walk(folder):
        yield from (Path(root, name) for name in names if not name.endswith(NOT_CACHED))


def _used(path: Path) -> Used | None:
    """Return what is known of a file; None where it has vanished meanwhile."""
    statuses = []
    for file in (path, *companions(path)):
        with contextlib.suppress(FileNotFoundError):
            statuses.append(file.lstat())
    if not statuses:
        return None
    times = [max(status.st_atime, status.st_mtime) for status in statuses]
    return Used(path, sum(status.st_blocks * 512 for status in statuses), max(times))
