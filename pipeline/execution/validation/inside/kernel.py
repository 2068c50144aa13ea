"""What the guard asks of the kernel: to be left alone, other users, the end of processes, an empty scratch folder."""

import contextlib
import ctypes
import os
import resource
import signal
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipeline.execution.sandbox.drop_privileges import become as drop
else:
    from .drop_privileges import become as drop

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_DUMPABLE, _SET_CHILD_SUBREAPER = 4, 36
_SHARED = ("/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own


def shield() -> None:
    """Keep processes of the same user from our memory and descriptors, and have orphans become our children."""
    _LIBC.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def limit_memory(size: int) -> None:
    """Bound the address space of this process and its children, where the bound is not lower already."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or size < hard:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def become(uid: "int | None") -> None:
    """Become the user that cases run as, for good and without any capability; and an ordinary process again."""
    if uid:
        drop(uid)
    _LIBC.prctl(_SET_DUMPABLE, 1, 0, 0, 0)


def processes_of(uid: int) -> "list[dict[str, str]]":
    """Return what the kernel says of each process of a user, also of those that ended and nobody has collected.

    One that ended while they were listed may have begun another that the list misses.
    """
    processes = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/status") as file:
                    status = dict(line.split(":", 1) for line in file if ":" in line)
            except OSError:  # it ended meanwhile
                continue
            if status["Uid"].split()[0] == str(uid):
                processes.append(status)
    return processes


def files_in_scratch() -> int:
    """Return how many files and folders are in the writable folders, which are file systems of their own."""
    systems = [os.statvfs(folder) for folder in _SHARED]
    return sum(folder.f_files - folder.f_ffree for folder in systems)


def memory_of(uid: int) -> int:
    """Return the resident bytes of all processes of a user."""
    return sum(int(status.get("VmRSS", "0 kB").split()[0]) * 1024 for status in processes_of(uid))


def end_orphans(case_uid: "int | None", deadline: float) -> None:
    """End every process that a case left behind.

    Errors: RuntimeError if they cannot be ended in time: then nothing more may be believed here.
    """
    collect()
    while has_children() if not case_uid else processes_of(case_uid):
        if time.monotonic() > deadline:
            raise RuntimeError("processes of the case do not end")
        if case_uid:
            as_user(case_uid, kill_all)
        else:
            for pid in descendants():
                kill_quietly(pid)
        collect()
        time.sleep(0.001)


def has_children() -> bool:
    """Say whether any child is left, after those that have ended are collected."""
    collect()
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def collect() -> None:
    """Collect the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def descendants() -> "list[int]":
    """Return every process that descends from this one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parents[int(entry)] = int(file.read().rsplit(b")", 1)[1].split()[1])
            except OSError:
                continue
    pids: set[int] = set()
    more = {os.getpid()}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - pids
        pids |= more
    return sorted(pids)


def kill_quietly(pid: int) -> None:
    """Kill a process that may have ended."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def kill_all() -> None:
    """Kill every process of this user but this one; the kernel does it in one go, so that none can fork away."""
    kill_quietly(-1)


def as_user(uid: int, call: "object", *arguments: "object") -> None:
    """Call something in a process of that user, and wait for it; what it may not, fails quietly."""
    pid = os.fork()
    if not pid:
        try:
            become(uid)
            signal.alarm(10)
            call(*arguments)  # type: ignore[operator]
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def scratch_entries() -> "frozenset[str]":
    """Return what lies in the writable folders."""
    return frozenset(
        os.path.join(folder, name) for folder in _SHARED if os.path.isdir(folder) for name in os.listdir(folder)
    )


def has_ipc() -> bool:
    """Say whether System V queues, semaphores or shared memory are left, which belong to no process."""
    for kind in ("msg", "sem", "shm"):
        try:
            with open("/proc/sysvipc/" + kind) as file:
                if len(list(file)) > 1:
                    return True
        except OSError:
            continue
    return False


def remove_all(paths: "list[str]") -> None:
    """Remove files and folders of this user, however deep: what a folder holds is first moved to the top.

    In folders of another user it removes what belongs to this one, and leaves the rest.
    """
    number = 0
    while paths:
        path = paths.pop()
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            with contextlib.suppress(PermissionError):
                os.unlink(path)
            continue
        if os.lstat(path).st_uid != os.getuid():
            paths += [os.path.join(path, name) for name in os.listdir(path)]
            continue
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            inner = os.path.join(path, name)
            if stat.S_ISDIR(os.lstat(inner).st_mode):
                number += 1
                os.chmod(inner, 0o700)
                outer = os.path.join(os.path.dirname(path), f".wiped-{number}")
                os.rename(inner, outer)
                paths.append(outer)
            else:
                os.unlink(inner)
        os.rmdir(path)


def write_quietly(descriptor: int, content: bytes) -> None:
    """Write to a pipe whose reader may be gone."""
    with contextlib.suppress(OSError):
        os.write(descriptor, content)
