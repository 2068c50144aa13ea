"""Watches the process of one case: its output, its report, its time, its memory, and how it ended."""

import contextlib
import os
import select
import signal
import time

from . import kernel
from .outcomes import BEGUN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_POLL_S = 0.1
_TAIL = 1 << 16
_CHUNK = 1 << 16
_LONGEST_REPORT = 8 << 20


class Watch:
    """What is known of a running case so far."""

    def __init__(
        self, pid: int, output: int, report: int, wake: int, limits: "dict[str, Any]", case_uid: "int | None"
    ) -> None:
        self.pid, self.limits, self.case_uid = pid, limits, case_uid
        self.pipes = {output: self.receive, report: self.note, wake: self.woken}
        self.output, self.report, self.wake = output, report, wake
        self.tail, self.received, self.reported = bytearray(), 0, bytearray()
        self.status: int | None = None
        self.peak, self.files = 0, 0
        self.broken: str | None = None
        self.started = time.monotonic()
        self.ended = self.started

    def run(self) -> None:
        """Follow the case until its process ends or breaks a limit, which ends it."""
        measured = self.started
        while self.status is None:
            now = time.monotonic()
            if now - measured > _POLL_S and self.case_uid:
                measured, self.peak = now, max(self.peak, kernel.memory_of(self.case_uid))
                self.files = kernel.files_in_scratch()
            self.check(now)
            if self.broken:
                self.kill()
            for descriptor in select.select(list(self.pipes), [], [], _POLL_S)[0]:
                self.pipes[descriptor](descriptor)
            collect_children(self)
        self.ended = time.monotonic()

    def check(self, now: float) -> None:
        """Note the first limit that is broken."""
        broken = (
            ("timed_out", now - self.started > self.limits["time_s"]),
            ("out_of_memory", self.peak > self.limits["memory_bytes"]),
            ("too_many_files", self.files > self.limits["files"]),
            ("too_much_output", self.received > self.limits["output_bytes"]),
        )
        self.broken = self.broken or next((name for name, is_broken in broken if is_broken), None)

    def kill(self) -> None:
        """End the case's process and what is in its group; the rest is ended when it is gone."""
        for call in (os.killpg, os.kill):
            with contextlib.suppress(OSError):  # it is gone
                call(self.pid, signal.SIGKILL)

    def receive(self, descriptor: int) -> None:
        """Take in output; only its end is kept."""
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            del self.pipes[descriptor]
        self.received += len(chunk)
        self.tail += chunk
        del self.tail[:-_TAIL]

    def note(self, descriptor: int) -> None:
        """Take in what the case says of itself."""
        chunk = os.read(descriptor, _CHUNK)
        if not chunk or len(self.reported) > _LONGEST_REPORT:
            del self.pipes[descriptor]
        self.reported += chunk

    def woken(self, descriptor: int) -> None:
        """A child ended."""
        os.read(descriptor, _CHUNK)

    def drain(self) -> None:
        """Take in what lies in the pipes after the end."""
        while True:
            pipes = [descriptor for descriptor in self.pipes if descriptor != self.wake]
            ready = select.select(pipes, [], [], 0)[0] if pipes else []
            if not ready or self.received > self.limits["output_bytes"]:
                break
            for descriptor in ready:
                self.pipes[descriptor](descriptor)
        self.check(self.started)

    def observation(self, secret: bytes) -> "dict[str, Any]":
        """Return what there is to say; the report only if it is whole, and its process ended right after it."""
        begun = self.reported.startswith(BEGUN)
        del self.reported[: len(BEGUN) if begun else 0]
        own = self.reported.startswith(secret)
        whole = self.status == 0 and own and not self.broken
        return {
            "status": self.status,
            "broken": self.broken,
            "begun": begun,
            "duration_s": self.ended - self.started,
            "peak": self.peak,
            "output": bytes(self.tail).decode("utf-8", "replace"),
            "forged": bool(self.reported) and not own,
            "report": bytes(self.reported[len(secret) :]).decode("utf-8", "replace") if whole else None,
        }


def collect_children(watch: Watch) -> None:
    """Collect every child that has ended, also those that came to us when their parents died."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        if pid == watch.pid:
            watch.status = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            watch.peak = max(watch.peak, usage.ru_maxrss * 1024)
