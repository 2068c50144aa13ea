"""Uids that runs have to themselves, and descriptors that they are handed."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

FIRST_UID, _SLOTS = 210_000, 4096


@contextlib.contextmanager
def own_uid() -> Iterator[int]:
    """Reserve a uid that no other run on this machine has, since the limit on processes counts by uid.

    The reservation is an abstract Unix socket, which the kernel gives back even if we are killed.
    """
    with socket.socket(socket.AF_UNIX) as reservation:
        for number in range(FIRST_UID, FIRST_UID + _SLOTS):
            with contextlib.suppress(OSError):
                reservation.bind(f"\0driftline-sandbox-{number}")
                break
        else:
            raise RuntimeError(f"all {_SLOTS} sandbox uids are taken: are that many runs going on here?")
        yield number


class Descriptors:
    """What a command is handed as open descriptors, so that nothing lies on disk under a guessable name."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._ours: list[int] = []

    def add(self, content: bytes) -> int:
        """Hand over a content as a file in memory."""
        descriptor = os.memfd_create("driftline")
        self.numbers.append(descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def to_read(self) -> tuple[int, int]:
        """Return our end of a pipe, to read from without waiting, and the end to write to, which is handed over."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        return self._share(ours, theirs)

    def to_write(self) -> tuple[int, int]:
        """Return our end of a pipe, to write to, and the end to read from, which is handed over."""
        theirs, ours = os.pipe()
        return self._share(ours, theirs)

    def _share(self, ours: int, theirs: int) -> tuple[int, int]:
        self._ours.append(ours)
        self.numbers.append(theirs)
        return ours, theirs

    def close(self) -> None:
        """Close our copies of them all."""
        for descriptor in self.numbers + self._ours:
            os.close(descriptor)


@contextlib.contextmanager
def open_descriptors() -> Iterator[Descriptors]:
    """Collect descriptors, closed at the end of the `with` block."""
    descriptors = Descriptors()
    try:
        yield descriptors
    finally:
        descriptors.close()
