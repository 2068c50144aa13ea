"""Scratch folders on our own disk, for sandboxes that have no file system of their own."""

from __future__ import annotations

import contextlib
import os
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


def _open_and_retry(function: Callable[..., object], path: str, _: object) -> None:
    with contextlib.suppress(OSError):
        for closed in (os.path.dirname(path), path):  # noqa: PTH120 - as rmtree gives it
            if stat.S_ISDIR(os.lstat(closed).st_mode):
                os.chmod(closed, 0o700)  # noqa: PTH101
        if function is os.unlink or function is os.rmdir:
            function(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
