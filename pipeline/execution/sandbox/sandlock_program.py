"""Holds one sandlock sandbox, as a process of its own: it confines a command and outlives everything that came of it.

Started by `sandlock.Sandlock` with the number of a descriptor to read the job from, as JSON, and one that is closed
when everything is to end. No process in the sandbox can reach this one: Landlock keeps signals and tracing inside.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_SET_DUMPABLE, _SET_SECCOMP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 4, 22, 36, 38  # linux/prctl.h
_MODE_FILTER = 2  # linux/seccomp.h
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(job_from: int, stop_from: int) -> None:
    """Run the job's command in the sandbox that it describes, and leave with its status."""
    with open(job_from) as file:
        job = json.load(file)
    sys.path.append(job["packages"])
    import sandlock  # type: ignore[import-untyped]

    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _drop_to(job["uid"])
    os.umask(0o077)
    _refuse(bytes.fromhex(job["filter"]))
    options = job["options"]
    os.chdir(options["cwd"])
    process = sandlock.Sandbox(**options).popen(job["argv"])
    threading.Thread(target=_end_on_request, args=(stop_from, options["cwd"]), daemon=True).start()
    result = process.wait()
    _end_all()
    os._exit(128 + result.signal if result.signal > 0 else result.exit_code & 0xFF)


def _drop_to(uid: int) -> None:
    """Become the user of the run; the supervisor must still be able to read the memory of its child afterwards."""
    if os.getuid() == uid:
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _LIBC.prctl(_SET_DUMPABLE, 1, 0, 0, 0)


class _Filter(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _refuse(code: bytes) -> None:
    """Put a seccomp filter on us and all that comes of us, under the one that sandlock adds."""
    held = _Filter(len(code) // 8, code)
    _LIBC.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _LIBC.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(held), 0, 0):
        raise OSError(ctypes.get_errno(), "the seccomp filter was not taken")


def _end_on_request(stop_from: int, folder: str) -> None:
    """End everything at a word from whoever started us, or at their death: then nobody else clears up."""
    request = b""
    with contextlib.suppress(OSError):
        request = os.read(stop_from, 1)
    _end_all()
    if not request:
        _remove(folder)
    os._exit(128 + signal.SIGKILL)


def _remove(folder: str) -> None:
    """Delete a folder; after the drop shutil could not be loaded any more. Links are not followed."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for path in (Path(parent, name) for name in (*files, *folders)):
            with contextlib.suppress(OSError):
                (path.rmdir if path.is_dir() and not path.is_symlink() else path.unlink)()
    with contextlib.suppress(OSError):
        Path(folder).rmdir()


def _end_all() -> None:
    """Kill all that descend from us: stopped first, so that none is born meanwhile; orphans come to us as subreaper."""
    stopped: set[int] = set()
    while running := set(_descendants(os.getpid())) - stopped:
        for pid in running:
            _signal(pid, signal.SIGSTOP)
        stopped |= running
    while remaining := set(_descendants(os.getpid())):
        for pid in remaining:
            _signal(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/children") as file:  # noqa: PTH123
                children = [int(child) for child in file.read().split()]
            for child in children:
                yield child
                yield from _descendants(child)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
