"""What running processes use: memory, threads, and files in their scratch folders."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator

# Strings and `os` in place of pathlib: this is read every few milliseconds, of every process of every run.
_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 512  # st_blocks, whatever the block size of the file system: stat(2)


def descendants(pid: int) -> Iterator[int]:
    """Yield all that descend from a process, as far as their parents are there."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            for child in map(int, _read(f"/proc/{pid}/task/{thread}/children").split()):
                yield child
                yield from descendants(child)


def memory_bytes(processes: Iterable[str], enough: int) -> int:
    """Return the resident bytes of processes, given as folders in a /proc.

    Pages that processes share count in each of them, which is quick to read, unless the sum is then more than
    `enough`: then they are counted once.
    """
    folders = list(processes)
    resident = sum(_resident(process) for process in folders)
    return resident if resident <= enough else sum(_proportional(process) for process in folders)


def threads(processes: Iterable[str]) -> int:
    """Return how many threads processes have, which is what a limit on processes counts."""
    return sum(len(_listed(f"{process}/task")) for process in processes)


def mounted(folder: str) -> int:
    """Return how many files are on the file system of a folder."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return 0
    return status.f_files - status.f_ffree


def stored(folder: str, processes: Iterable[str], files: int, size: int) -> tuple[int, int]:
    """Return files and bytes below a folder, with those that are deleted and still open; links are not followed.

    The count stops when it is more than `files` or `size`.
    """
    count, total = 0, 0
    for status in _statuses(folder, processes):
        count, total = count + 1, total + status.st_blocks * _BLOCK
        if count > files or total > size:
            break
    return count, total


def _statuses(folder: str, processes: Iterable[str]) -> Iterator[os.stat_result]:
    with contextlib.suppress(OSError):
        yield from _deleted(processes, os.stat(folder).st_dev)  # noqa: PTH116
    folders = [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)


def _deleted(processes: Iterable[str], device: int) -> Iterator[os.stat_result]:
    """Yield files that processes hold open on a device and that have no name any more, each once."""
    inodes = set()
    for process in processes:
        for number in _listed(f"{process}/fd"):
            with contextlib.suppress(OSError):
                status = os.stat(f"{process}/fd/{number}")  # noqa: PTH116
                nameless = status.st_nlink == 0 and stat.S_ISREG(status.st_mode) and status.st_dev == device
                if nameless and status.st_ino not in inodes:
                    inodes.add(status.st_ino)
                    yield status


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
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
