"""A lease says which worker has a part of the lake: one at a time, and none for longer than it lives.

A lease is a numbered key that can be created only once. Its holder writes it again and again; whoever waits watches it
by a clock of its own, so that no two clocks have to agree, and takes the next number when it has been silent for too
long. The number goes with all that its holder commits: what a worker commits that was thought dead stands below what
its successor does, and is not read.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.core.errors import FatalError
from pipeline.lake.objects import ObjectStore

log = logging.getLogger(__name__)

_LEASE = ".lease"


class LeaseLost(FatalError):
    """Another worker took over, since this one gave no sign of life for too long; nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease on the part of the lake below a prefix."""

    store: ObjectStore
    prefix: str
    number: int

    def check(self) -> None:
        """Raise LeaseLost where somebody holds a later lease."""
        newest = _newest(self.store, self.prefix)
        if newest > self.number:
            raise LeaseLost(
                f"{self.prefix}: another worker took over (lease {newest} after {self.number}): this one was silent for"
                " longer than DRIFTLINE_LEASE_S. The other one does the work; nothing has to be done"
            )


@contextmanager
def leased(
    store: ObjectStore, prefix: str, patience_s: float, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Lease]:
    """Hold the lease on a prefix; wait for whoever holds it until that one ends, or is silent for `patience_s`."""
    lease = _taken(store, prefix, patience_s, sleep)
    ended = threading.Event()
    beating = threading.Thread(target=_beat, args=(lease, patience_s / 4, ended), daemon=True)
    beating.start()
    try:
        yield lease
    finally:
        ended.set()
        beating.join()
        store.write(_key(prefix, lease.number), _sign(0) | {"released": True})


def _taken(store: ObjectStore, prefix: str, patience_s: float, sleep: Callable[[float], None]) -> Lease:
    seen: tuple[int, Mapping[str, Any] | None] | None = None
    since = time.monotonic()
    while True:
        newest = _newest(store, prefix)
        held = store.read(_key(prefix, newest)) if newest else {"released": True}
        if (newest, held) != seen:
            seen, since = (newest, held), time.monotonic()
        free = held is not None and held.get("released")
        if free or time.monotonic() - since > patience_s:
            if store.create(_key(prefix, newest + 1), _sign(0)):
                return Lease(store, prefix, newest + 1)
            continue
        sleep(min(patience_s / 4, 5.0))


def _beat(lease: Lease, every_s: float, ended: threading.Event) -> None:
    """Write the lease again and again until its holder has ended; a store that is silent for a while is asked again."""
    beats = 0
    while not ended.wait(every_s):
        beats += 1
        try:
            lease.store.write(_key(lease.prefix, lease.number), _sign(beats))
        except Exception as error:  # noqa: BLE001 - clients of stores have errors of their own, and none may end the beat
            log.warning("%s: no sign of life could be given: %s: %s", lease.prefix, type(error).__name__, error)


def _sign(beats: int) -> dict[str, Any]:
    """Return what a lease says: who holds it, for people, and something that is new each time."""
    return {"host": socket.gethostname(), "process": os.getpid(), "beats": beats, "word": uuid.uuid4().hex}


def _newest(store: ObjectStore, prefix: str) -> int:
    numbers = [int(key.removesuffix(_LEASE)) for key in store.keys(prefix) if key.endswith(_LEASE)]
    return max(numbers, default=0)


def _key(prefix: str, number: int) -> str:
    return f"{prefix}/{number:08d}{_LEASE}"


def forget_leases(store: ObjectStore, prefix: str, before: int) -> None:
    """Remove the leases below a number that nobody can hold any more."""
    old = [key for key in store.keys(prefix) if key.endswith(_LEASE) and int(key.removesuffix(_LEASE)) < before]
    store.remove(f"{prefix}/{key}" for key in old)
