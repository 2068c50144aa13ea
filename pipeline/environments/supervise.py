"""Run one process tree to its end or to its limits: time, memory of the whole tree, and what it may print."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

_POLL_S = 0.05
_DRAIN_S = 0.5
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; memory is counted over the process tree, and bounds each one's address space too."""

    time_s: float = 30.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    output_bytes: int = 1 << 20
    file_bytes: int = 64 << 20
    scratch_bytes: int = 128 << 20
    open_files: int = 512


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

    @property
    def killed(self) -> bool:
        """Whether we ended it because it went over a limit."""
        return self.timed_out or self.out_of_memory or self.too_much_output


@dataclass
class _Watch:
    """What is known of a running process tree so far."""

    process: subprocess.Popen[bytes]
    limits: Limits
    started: float
    pending: memoryview
    output: dict[str, bytearray] = field(default_factory=lambda: {"stdout": bytearray(), "stderr": bytearray()})
    peak: int = 0
    ended: float | None = None

    @property
    def too_long(self) -> bool:
        return time.monotonic() - self.started > self.limits.time_s

    @property
    def too_large(self) -> bool:
        return self.peak > self.limits.memory_bytes

    @property
    def too_much(self) -> bool:
        return sum(map(len, self.output.values())) > self.limits.output_bytes

    @property
    def over(self) -> bool:
        """Whether nothing is left to wait for: a limit is broken, or it ended and what it left behind keeps a pipe."""
        if self.ended is None and self.process.poll() is not None:
            self.ended = time.monotonic()
        lingering = self.ended is not None and time.monotonic() - self.ended > _DRAIN_S
        return self.too_long or self.too_large or self.too_much or lingering


def supervise(
    argv: Sequence[str],
    *,
    variables: Mapping[str, str],
    cwd: Path | None,
    stdin: bytes,
    limits: Limits,
    pass_fds: Sequence[int] = (),
) -> Finished:
    """Run a command to its end or its limits, and end its whole process group afterwards."""
    process = subprocess.Popen(
        argv,
        env=dict(variables),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=pass_fds,
        start_new_session=True,
    )
    watch = _Watch(process, limits, time.monotonic(), memoryview(stdin))
    try:
        _pump(watch)
        flags = (watch.too_long, watch.too_large, watch.too_much)
    finally:
        _end(process)
    return _finished(watch, *flags)


def _finished(watch: _Watch, timed_out: bool, out_of_memory: bool, too_much_output: bool) -> Finished:
    code = watch.process.returncode
    return Finished(
        returncode=128 - code if code < 0 else code,
        stdout=bytes(watch.output["stdout"][: watch.limits.output_bytes]),
        stderr=bytes(watch.output["stderr"][: watch.limits.output_bytes]),
        duration_s=time.monotonic() - watch.started,
        peak_memory_bytes=watch.peak,
        timed_out=timed_out,
        out_of_memory=out_of_memory,
        too_much_output=too_much_output,
    )


def _pump(watch: _Watch) -> None:
    """Feed stdin and collect output until every pipe is closed or a limit is broken."""
    process = watch.process
    pipes = {"stdin": process.stdin, "stdout": process.stdout, "stderr": process.stderr}
    with selectors.DefaultSelector() as selector:
        for name, pipe in pipes.items():
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_WRITE if name == "stdin" else selectors.EVENT_READ, name)
        sampled = watch.started
        while selector.get_map() and not watch.over:
            for key, _ in selector.select(_POLL_S):
                more = _feed(watch, key.fd) if key.data == "stdin" else _collect(watch, key.fd, key.data)
                if not more and (pipe := pipes[key.data]):
                    selector.unregister(pipe)
                    _close(pipe)
            if time.monotonic() - sampled > 2 * _POLL_S:
                watch.peak = max(watch.peak, _memory_of_tree(process.pid))
                sampled = time.monotonic()
        while process.poll() is None and not watch.over:
            watch.peak = max(watch.peak, _memory_of_tree(process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)


def _feed(watch: _Watch, descriptor: int) -> bool:
    """Write some of the input; False once all of it is written, or nobody reads it any more."""
    try:
        watch.pending = watch.pending[os.write(descriptor, watch.pending[:_CHUNK]) :]
    except BrokenPipeError:
        return False
    return bool(watch.pending)


def _collect(watch: _Watch, descriptor: int, name: str) -> bool:
    chunk = os.read(descriptor, _CHUNK)
    watch.output[name] += chunk
    return bool(chunk)


def _close(pipe: IO[bytes]) -> None:
    # We write to the descriptor, so there is nothing to flush; closing can still find the reader gone.
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def _memory_of_tree(pid: int) -> int:
    """Return the resident bytes of a process and all its descendants, those that are gone counting nothing."""
    total = 0
    try:
        tree = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return 0
    for process in tree:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            total += process.memory_info().rss
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group; inside a sandbox the kernel then ends everything in its process namespace."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            _close(pipe)
