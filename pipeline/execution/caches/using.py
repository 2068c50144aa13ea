"""Who is at work with the caches of a data folder: all of them hold one lock together, over all processes."""

from __future__ import annotations

import errno
import os
import weakref
from pathlib import Path

from pipeline.execution.environments.file_locks import hold

IN_USE = "in_use.lock"


def use_caches(cache: Path, by: object) -> None:
    """Note that the caches are in use for as long as an object lives; a killed process is no longer at work.

    Who may not write there notes nothing, and can use only what is read whole.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        weakref.finalize(by, os.close, hold(cache / IN_USE))
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
