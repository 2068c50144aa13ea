"""A process that we started and all that came of it: how much memory and how many files it has, and its end."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PAGE = os.sysconf("SC_PAGE_SIZE")
_CHILD = re.compile(rb'"child-pid": (\d+)')
_GONE_MS = 10_000


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a command: `info` is the pipe in which bubblewrap says which process holds the namespace.

    `info` is the end to read from; the end to write to is among `pass_fds`. `scratch` are the folders, as the command
    sees them, whose files are counted.
    """

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    info: int | None = None
    scratch: tuple[str, ...] = ()


class Tree:
    """A started command with its pipes, unbuffered, and everything that descends from it."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.process = subprocess.Popen(
            launch.argv,
            bufsize=0,
            env=dict(launch.variables),
            cwd=launch.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=launch.pass_fds,
            start_new_session=True,
        )
        self._first: int | None = None
        self._first_fd: int | None = None

    @property
    def pipes(self) -> dict[str, IO[bytes]]:
        """The three pipes by name."""
        named = {"stdin": self.process.stdin, "stdout": self.process.stdout, "stderr": self.process.stderr}
        return {name: pipe for name, pipe in named.items() if pipe is not None}

    def first(self) -> int | None:
        """Return the first process of the namespace as we see it; None where there is none, or none yet."""
        if self._first is None and self.launch.info is not None:
            with contextlib.suppress(BlockingIOError):
                said = _CHILD.search(os.read(self.launch.info, 4096))
                if said:
                    self._first = int(said.group(1))
                    with contextlib.suppress(ProcessLookupError):
                        self._first_fd = os.pidfd_open(self._first)
        return self._first

    def memory_bytes(self, enough: int = 0) -> int:
        """Return the resident bytes of all processes.

        Pages that processes share count in each of them, which is quick to read, unless the sum is then more than
        `enough`: then they are counted once.
        """
        pids = list(self._members())
        resident = sum(_resident(pid) for pid in pids)
        return resident if resident <= enough else sum(_proportional(pid) for pid in pids)

    def files(self) -> int:
        """Return how many files and folders are in the scratch folders."""
        first = self.first()
        return sum(_inodes(f"/proc/{first}/root{folder}") for folder in self.launch.scratch) if first else 0

    def end(self) -> None:
        """Kill everything, and return when it is gone; what holds a namespace takes all in it along."""
        self.first()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self._first_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_fd, signal.SIGKILL)
            gone = select.poll()
            gone.register(self._first_fd, select.POLLIN)
            gone.poll(_GONE_MS)
            os.close(self._first_fd)
            self._first_fd = None
        self.process.wait()
        for pipe in self.pipes.values():
            # We write to the descriptor, so there is nothing to flush; closing can still find the reader gone.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _members(self) -> Iterator[str]:
        first = self.first()
        if first is None:
            yield from (f"/proc/{pid}" for pid in _descendants(self.process.pid))
            return
        inside = f"/proc/{first}/root/proc"
        with contextlib.suppress(OSError):
            yield from (f"{inside}/{name}" for name in os.listdir(inside) if name.isdigit())  # noqa: PTH208


def _descendants(pid: int) -> Iterator[int]:
    """Yield a process and all that descend from it, as far as their parents are there."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - every few milliseconds: strings will do
            for child in _read(f"/proc/{pid}/task/{thread}/children").split():
                yield from _descendants(int(child))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return b""


def _resident(process: str) -> int:
    fields = _read(f"{process}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _proportional(process: str) -> int:
    """Return the resident bytes of a process with shared pages divided among those that share them."""
    for line in _read(f"{process}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return _resident(process)


def _inodes(folder: str) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return found.f_files - found.f_ffree
