"""Scratch folders on our own disk, for sandboxes that have no file system of their own."""

from __future__ import annotations

import contextlib
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder; names may have folders in them."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def remove(folder: Path) -> None:
    """Delete a scratch folder in which other people's code wrote, once that has ended; links are not followed.

    A folder that was closed to its owner is opened again. What cannot be deleted stays, and does no harm.
    """
    shutil.rmtree(folder, onerror=_open_and_retry)


def _open_and_retry(_: Callable[..., object], path: str, __: object) -> None:
    """Open the folders that are in the way of deleting a path; if there are any, delete it after all."""
    with contextlib.suppress(OSError):
        closed = [Path(folder) for folder in (Path(path).parent, path) if _is_closed(Path(folder))]
        for folder in closed:
            folder.chmod(0o700)
        if closed and stat.S_ISDIR(Path(path).lstat().st_mode):
            remove(Path(path))
        elif closed:
            Path(path).unlink()


def _is_closed(folder: Path) -> bool:
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & 0o700 != 0o700
