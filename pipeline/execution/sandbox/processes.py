"""A command that we started and all that came of it: what it uses, and its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pipeline.execution.sandbox import usage

_GONE_MS = 10_000


class Holder:
    """What holds a started command: how its processes are found, where its scratch is, and how all of it is ended.

    Each kind of sandbox has one of its own beside it. This one holds nothing: the command leads a session of our own.
    """

    announces: int | None = None
    """The end to read from of a pipe that becomes readable once `first` is known."""
    mounts: tuple[str, ...] = ()
    """The scratch folders as the command sees them, where the kernel bounds their size."""
    folder: Path | None = None
    """The scratch folder on our disk, where nothing bounds it."""
    supervised: bool = False
    """Whether the process that we start is a supervisor of ours, and not one of the command's."""

    def first(self) -> int | None:
        """Return the first process of a namespace, as we see it; None where there is none, or none yet."""
        return None

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Let whatever holds the command end all of it; whatever descends from `process` is killed afterwards."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a command, and what holds it."""

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    holder: Holder = field(default_factory=Holder)


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
        if self._first is None and (first := self.launch.holder.first()):
            self._first = first
            with contextlib.suppress(ProcessLookupError):
                self._first_fd = os.pidfd_open(self._first)
        return self._first

    def memory_bytes(self, enough: int = 0) -> int:
        """Return the resident bytes of all processes; see `usage.memory_bytes`."""
        return usage.memory_bytes(self._members(), enough)

    def threads(self) -> int:
        """Return how many threads there are, where a supervisor holds them; elsewhere the kernel counts."""
        return usage.threads(self._members()) if self.launch.holder.supervised else 0

    def scratch(self, files: int, size: int) -> tuple[int, int]:
        """Return files and bytes in scratch, exact up to `files` and `size`; no bytes where the kernel bounds them."""
        holder = self.launch.holder
        if holder.folder is not None:
            return usage.stored(str(holder.folder), self._members(), files, size)
        root = self._root()
        return (sum(usage.mounted(f"{root}{mount}") for mount in holder.mounts) if root else 0), 0

    def end(self) -> None:
        """Kill everything, and return when it is gone; what holds a namespace takes all in it along."""
        self.launch.holder.end(self.process)
        if self.launch.holder.announces is not None:
            self.first()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self._first_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_fd, signal.SIGKILL)
            wait_for(self._first_fd)
            os.close(self._first_fd)
            self._first_fd = None
        self.process.wait()
        for pipe in self.pipes.values():
            # We write to the descriptor, so there is nothing to flush; closing can still find the reader gone.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _root(self) -> str | None:
        """Return the sandbox's root folder; None until its first process has left ours, whose files are not its own."""
        first = self.first()
        if first is None:
            return None
        with contextlib.suppress(OSError):
            root = f"/proc/{first}/root"
            return None if os.path.samefile(root, "/") else root  # noqa: PTH121 - every few milliseconds
        return None

    def _members(self) -> Iterator[str]:
        root = self._root()
        if root is None:
            if not self.launch.holder.supervised:
                yield f"/proc/{self.process.pid}"
            yield from (f"/proc/{pid}" for pid in usage.descendants(self.process.pid))
            return
        inside = f"{root}/proc"
        with contextlib.suppress(OSError):
            yield from (f"{inside}/{name}" for name in os.listdir(inside) if name.isdigit())  # noqa: PTH208


def wait_for(process: int) -> None:
    """Wait until a process, given as a pidfd, is gone."""
    gone = select.poll()
    gone.register(process, select.POLLIN)
    gone.poll(_GONE_MS)
