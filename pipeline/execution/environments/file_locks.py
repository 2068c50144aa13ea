"""Who uses an environment, over all processes of a machine: locks on files beside it, which a killed process loses.

All who use it hold the one together; who takes it away must have that alone. Of those who use it and find it missing,
one makes it and has the other lock alone. When an environment was last taken is the time of the first file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

IN_USE = ".lock"
BUILDING = ".making"


def hold(path: Path) -> int:
    """Hold a lock together with others, and note the time; returns the descriptor, which holds it until closed."""
    descriptor = _locked(path, fcntl.LOCK_SH)
    os.utime(descriptor)
    return descriptor


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock alone, waiting for all others."""
    descriptor = _locked(path, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone_now(path: Path) -> Iterator[bool]:
    """Hold a lock alone if nobody has it; whether that is so is what it gives. Inside, the file may be removed."""
    try:
        descriptor = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def last_held(path: Path) -> float:
    """Return when a lock was last taken, in seconds of the epoch; 0 if it never was."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _locked(path: Path, how: int) -> int:
    """Open and lock a file; again if it was removed by who held it alone while we waited."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, how)
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(descriptor).st_ino:
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
