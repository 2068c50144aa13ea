"""A command that we started and all that came of it: what it uses, and its end."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipeline.execution.sandbox import usage

_CHILD = re.compile(rb'"child-pid": (\d+)')
_GONE_MS = 10_000
_ENGINE_S = 30


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a command, and how to know what came of it.

    Where a namespace holds it: `info` is the end to read from of a pipe in which bubblewrap says which process is the
    first in it, and `mounts` are the scratch folders as the command sees them. Where a container engine holds it,
    `asks` is a command that prints that process, and `ends` one that ends the container. Where a supervisor holds it:
    `told_by` is the end to write to of a pipe in which it is told to end everything, and `folder` is the scratch folder
    on our disk.
    """

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    info: int | None = None
    mounts: tuple[str, ...] = ()
    told_by: int | None = None
    folder: Path | None = None
    asks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


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
        if self._first is None and (said := self._said()):
            self._first = int(said)
            with contextlib.suppress(ProcessLookupError):
                self._first_fd = os.pidfd_open(self._first)
        return self._first

    def _said(self) -> bytes:
        """Return the pid of the first process, as bubblewrap or an engine says it; nothing if it is not there yet."""
        if self.launch.asks:
            said = _output(self.launch.asks, self.launch.variables).strip()
            return said if said.isdigit() and int(said) else b""
        if self.launch.info is not None:
            with contextlib.suppress(BlockingIOError):
                found = _CHILD.search(os.read(self.launch.info, 4096))
                return found.group(1) if found else b""
        return b""

    def memory_bytes(self, enough: int = 0) -> int:
        """Return the resident bytes of all processes; see `usage.memory_bytes`."""
        return usage.memory_bytes(self._members(), enough)

    def threads(self) -> int:
        """Return how many threads there are, where a supervisor holds them; elsewhere the kernel counts."""
        return usage.threads(self._members()) if self.launch.told_by is not None else 0

    def scratch(self, files: int, size: int) -> tuple[int, int]:
        """Return files and bytes in scratch, exact up to `files` and `size`; no bytes where the kernel bounds them."""
        if self.launch.folder is not None:
            return usage.stored(str(self.launch.folder), self._members(), files, size)
        root = self._root()
        return (sum(usage.mounted(f"{root}{mount}") for mount in self.launch.mounts) if root else 0), 0

    def end(self) -> None:
        """Kill everything, and return when it is gone; what holds a namespace takes all in it along."""
        self._tell()
        if self.launch.info is not None:
            self.first()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self._first_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_fd, signal.SIGKILL)
            _wait_for(self._first_fd)
            os.close(self._first_fd)
            self._first_fd = None
        self.process.wait()
        for pipe in self.pipes.values():
            # We write to the descriptor, so there is nothing to flush; closing can still find the reader gone.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _tell(self) -> None:
        """Let the supervisor or engine, if there is one that has not ended yet, end everything."""
        if self.launch.ends and self.process.poll() is None:
            _output(self.launch.ends, self.launch.variables)
        if self.launch.told_by is not None and self.process.returncode is None:
            with contextlib.suppress(BrokenPipeError, ProcessLookupError):
                os.write(self.launch.told_by, b"!")
                supervisor = os.pidfd_open(self.process.pid)
                _wait_for(supervisor)
                os.close(supervisor)

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
            if self.launch.told_by is None:
                yield f"/proc/{self.process.pid}"
            yield from (f"/proc/{pid}" for pid in usage.descendants(self.process.pid))
            return
        inside = f"{root}/proc"
        with contextlib.suppress(OSError):
            yield from (f"{inside}/{name}" for name in os.listdir(inside) if name.isdigit())  # noqa: PTH208


def _wait_for(process: int) -> None:
    """Wait until a process, given as a pidfd, is gone."""
    gone = select.poll()
    gone.register(process, select.POLLIN)
    gone.poll(_GONE_MS)


def _output(argv: Sequence[str], variables: Mapping[str, str]) -> bytes:
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        done = subprocess.run(argv, env=dict(variables), capture_output=True, timeout=_ENGINE_S, check=False)
        return done.stdout if done.returncode == 0 else b""
    return b""
