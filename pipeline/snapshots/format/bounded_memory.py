"""Reading what a stranger made: a small file that unpacks to more than the machine has ends in an error."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHARE = 0.8
"""Share of the memory that is free which reading one file may take."""

_lock = threading.RLock()


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Let this process take no more than most of the memory that is free, as long as the block lasts (setrlimit(2)).

    Where the kernel does not tell how much that is, nothing is bounded. Threads take turns.

    Errors: MemoryError, or Arrow's, from whatever asks for more.
    """
    used, free = _kib("/proc/self/status", "VmData:"), _kib("/proc/meminfo", "MemAvailable:")
    if used is None or free is None:
        yield
        return
    with _lock:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = (used + int(free * _SHARE)) << 10
        if soft != resource.RLIM_INFINITY:
            bound = min(bound, soft)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _kib(path: str, name: str) -> int | None:
    """Return a number of KiB that the kernel tells in one of its files (proc(5)), None where it does not."""
    try:
        with Path(path).open() as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)
    except OSError:
        return None
