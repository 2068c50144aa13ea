"""Stands between the host and the cases inside the sandbox: starts each in a process of its own, and signs what it saw.

The case's process never has what signs: the nonce of a case is read in only after all processes of the case are
gone, and this process cannot be traced, nor its memory or its descriptors be opened, by a process of the case. What a
case says of itself comes through a pipe; it is believed only from a process that then ended as the harness ends.
"""

import gc
import json
import os
import select
import signal
import sys
import time

from . import kernel
from .case import lay_out, run_and_report
from .cleaner import Cleaner
from .watch import Watch, collect_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CLEAN_S = 10.0


class Channel:
    """Frames from and to the host: a length, and that many bytes. Nothing is read ahead."""

    def __init__(self) -> None:
        self.source, self.sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)

    def read(self) -> "bytes | None":
        """Return the next frame; None at the end, or where the host is gone."""
        head = self._take(4)
        return None if head is None else self._take(int.from_bytes(head, "big"))

    def _take(self, size: int) -> "bytes | None":
        parts, remaining = [], size
        while remaining:
            part = os.read(self.source, min(remaining, 1 << 20))
            if not part:
                return None
            parts.append(part)
            remaining -= len(part)
        return b"".join(parts)

    def write(self, content: "dict[str, Any]", sign: bytes = b"") -> None:
        """Send one frame."""
        frame = sign + json.dumps(content).encode()
        frame = len(frame).to_bytes(4, "big") + frame
        while frame:
            frame = frame[os.write(self.sink, frame) :]

    def close(self) -> None:
        """Close it in a process that is not to have it."""
        os.close(self.source)
        os.close(self.sink)


def main() -> None:
    """Get ready, say so, and run one case after the other until the host has no more."""
    channel = Channel()
    first = channel.read()
    if first is None:
        return
    order = json.loads(first.decode())
    case_uid = int(os.environ.pop("DRIFTLINE_CASE_UID", "0")) or None
    cleaner = Cleaner(case_uid, channel.close) if case_uid and not order["last"] else None
    problem, printed = load(order["load"])
    if hasattr(gc, "freeze"):  # Python 3.7: collections in cases then leave our pages alone, which would be copied
        gc.freeze()
    kernel.shield()
    initial = kernel.scratch_entries() if cleaner else frozenset()
    channel.write({"problem": problem, "printed": printed, "threads": len(os.listdir("/proc/self/task"))})
    while True:
        limits, specification = channel.read(), channel.read()
        if limits is None or specification is None:
            return
        observation = run_case(channel, cleaner, json.loads(limits.decode()), specification, case_uid)
        observation["clean"] = cleaner is None or cleaner.wiped(initial)
        nonce = channel.read()
        if nonce is None:
            return
        channel.write(observation, nonce)


def load(modules: "list[str]") -> "tuple[str | None, bool]":
    """Import what the cases will import; return what went wrong, if something did, and whether anything was printed.

    `a.b:c` means `from a.b import c`, which loads a module c only where a.b has no such name.
    """
    if not modules:
        return None, False
    problem, output = None, os.pipe()
    os.set_blocking(output[1], False)
    silent = os.dup(1)
    os.dup2(output[1], 1)
    os.close(output[1])
    try:
        for module in modules:
            name, _, member = module.partition(":")
            __import__(name, fromlist=[member] if member else [])
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - also SystemExit of a module
        problem = f"{type(error).__name__}: {error}"
    printed = bool(select.select([output[0]], [], [], 0)[0])
    os.dup2(silent, 1)
    os.close(silent)
    os.close(output[0])
    return problem, printed


def run_case(
    channel: Channel, cleaner: "Cleaner | None", limits: "dict[str, Any]", specification: bytes, case_uid: "int | None"
) -> "dict[str, Any]":
    """Run one case in a process of its own, end whatever it leaves behind, and return what was seen."""
    output, report, key = os.pipe(), os.pipe(), os.pipe()
    wake = os.pipe()
    os.set_blocking(wake[1], False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake[1])
    pid = os.fork()  # its failure ends the harness: see `main`
    if not pid:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            if cleaner:
                cleaner.close()
            for descriptor in (output[0], report[0], key[1], *wake):
                os.close(descriptor)
            begin(limits, output[1])
            lay_out(specification)
            kernel.become(case_uid)
            run_and_report(specification, report[1], key[0])
        except BaseException:  # noqa: BLE001 - of the harness itself: the case's exceptions do not get here
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(97)
    for descriptor in (output[1], report[1], key[0]):
        os.close(descriptor)
    secret = os.urandom(16).hex().encode()
    kernel.write_quietly(key[1], secret)
    watch = Watch(pid, output[0], report[0], wake[0], limits, case_uid)
    try:
        watch.run()
        kernel.end_orphans(case_uid, time.monotonic() + _CLEAN_S)
        watch.drain()
    finally:
        signal.set_wakeup_fd(-1)
        collect_children(watch)
        for descriptor in (output[0], report[0], key[1], *wake):
            os.close(descriptor)
    return watch.observation(secret)


def begin(limits: "dict[str, Any]", output: int) -> None:
    """Turn this process into that of a case, but for its user: own session, its memory, its output into the pipe."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    kernel.limit_memory(limits["memory_bytes"])
