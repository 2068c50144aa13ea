"""Run one process tree to its end or to its limits: time, memory and files of the whole tree, what it may print."""

from __future__ import annotations

import contextlib
import functools
import os
import selectors
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.execution.sandbox.processes import Launch, Tree

_POLL_S = 0.05
_DRAIN_S = 0.5
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; memory is counted over the process tree, and bounds each one's address space too.

    `files` counts files and folders in scratch. Memory of the tree and files are looked at every 50 ms, so that a run
    may come to have some more before it is ended.
    """

    time_s: float = 30.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    output_bytes: int = 1 << 20
    file_bytes: int = 64 << 20
    scratch_bytes: int = 128 << 20
    open_files: int = 512
    files: int = 50_000


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended. `returncode` is 128 + N after signal N; output beyond the limit is cut."""

    returncode: int
    stdout: bytes
    stderr: bytes
    duration_s: float
    peak_memory_bytes: int
    timed_out: bool
    out_of_memory: bool
    too_much_output: bool
    too_many_files: bool = False
    too_many_processes: bool = False
    scratch_full: bool = False

    @property
    def killed(self) -> bool:
        """Whether we ended it because it went over a limit; some limits the kernel keeps, and the program is told."""
        of_usage = self.too_many_files or self.too_many_processes or self.scratch_full
        return self.timed_out or self.out_of_memory or self.too_much_output or of_usage


@dataclass
class _Watch:
    """What is known of a running process tree so far."""

    tree: Tree
    limits: Limits
    pending: memoryview
    started: float = field(default_factory=time.monotonic)
    output: dict[str, bytearray] = field(default_factory=lambda: {"stdout": bytearray(), "stderr": bytearray()})
    peak: int = 0
    files: int = 0
    stored: int = 0
    threads: int = 0
    sampled: float = 0.0
    ended: float | None = None

    @property
    def broken(self) -> dict[str, bool]:
        """Which limits are broken, by the fields of Finished that tell it."""
        return {
            "timed_out": time.monotonic() - self.started > self.limits.time_s,
            "out_of_memory": self.peak > self.limits.memory_bytes,
            "too_much_output": sum(map(len, self.output.values())) > self.limits.output_bytes,
            "too_many_files": self.files > self.limits.files,
            "too_many_processes": self.threads > self.limits.processes,
            "scratch_full": self.stored > self.limits.scratch_bytes,
        }

    @property
    def over(self) -> bool:
        """Whether nothing is left to wait for: it ended, and no pipe is open or only what it left behind holds one."""
        if self.ended is not None:
            read = all(self.tree.pipes[name].closed for name in self.output)
            if read or time.monotonic() - self.ended > _DRAIN_S:
                return True
        return any(self.broken.values())

    def look(self) -> None:
        """Take a sample of what the tree uses, if the last one is old."""
        now = time.monotonic()
        if self.ended is None and now - max(self.sampled, self.started) > _POLL_S:
            self.peak = max(self.peak, self.tree.memory_bytes(self.limits.memory_bytes))
            self.files, self.stored = self.tree.scratch(self.limits.files, self.limits.scratch_bytes)
            self.threads = self.tree.threads()
            self.sampled = now

    def end(self) -> bool:
        """Note that the command has ended."""
        self.ended = time.monotonic()
        return False

    def find(self) -> bool:
        """Read which process holds the namespace."""
        self.tree.first()
        return False

    def feed(self) -> bool:
        """Write some of the input; False once all of it is written, or nobody reads it any more."""
        pipe = self.tree.pipes["stdin"]
        with contextlib.suppress(BrokenPipeError):
            self.pending = self.pending[os.write(pipe.fileno(), self.pending[:_CHUNK]) :]
            if self.pending:
                return True
        pipe.close()
        return False

    def collect(self, name: str) -> bool:
        """Read some output; False once there is no more."""
        pipe = self.tree.pipes[name]
        chunk = os.read(pipe.fileno(), _CHUNK)
        self.output[name] += chunk
        if not chunk:
            pipe.close()
        return bool(chunk)


def supervise(launch: Launch, stdin: bytes, limits: Limits) -> Finished:
    """Run a command to its end or its limits, and end everything that it started."""
    started = time.monotonic()
    tree = Tree(launch)
    watch = _Watch(tree, limits, memoryview(stdin), started)
    try:
        _pump(watch)
        broken = watch.broken
    finally:
        tree.end()
    code = tree.process.returncode
    return Finished(
        returncode=128 - code if code < 0 else code,
        stdout=bytes(watch.output["stdout"][: limits.output_bytes]),
        stderr=bytes(watch.output["stderr"][: limits.output_bytes]),
        duration_s=time.monotonic() - started,
        peak_memory_bytes=watch.peak,
        **broken,
    )


def _pump(watch: _Watch) -> None:
    """Feed stdin and collect output until the command is over or over a limit; nothing is waited for in steps."""
    tree = watch.tree
    with selectors.DefaultSelector() as selector, _descriptor(os.pidfd_open(tree.process.pid)) as ended:
        selector.register(ended, selectors.EVENT_READ, watch.end)
        if tree.launch.holder.announces is not None:
            selector.register(tree.launch.holder.announces, selectors.EVENT_READ, watch.find)
        for name, pipe in tree.pipes.items():
            os.set_blocking(pipe.fileno(), False)
            if name == "stdin":
                selector.register(pipe, selectors.EVENT_WRITE, watch.feed)
            else:
                selector.register(pipe, selectors.EVENT_READ, functools.partial(watch.collect, name))
        while not watch.over:
            for key, _ in selector.select(_POLL_S):
                if not key.data():
                    selector.unregister(key.fd)
            watch.look()


@contextlib.contextmanager
def _descriptor(number: int) -> Iterator[int]:
    try:
        yield number
    finally:
        os.close(number)
