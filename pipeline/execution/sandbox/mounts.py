"""What of this machine every sandbox shows, and the limits that are set inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.execution.sandbox.sandbox import SCRATCH
from pipeline.execution.sandbox.supervise import Limits

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - as the sandboxed program sees it, a tmpfs of its own
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")


def system_folders() -> list[Path]:
    """Return the folders and files of the system that are mounted read-only where they are."""
    folders = [path for path in (Path("/", name) for name in _SYSTEM) if path.is_dir() and not path.is_symlink()]
    return [Path("/usr"), *folders, *(path for path in (Path("/etc", name) for name in _ETC) if path.exists())]


def system_links() -> list[tuple[Path, str]]:
    """Return the links into /usr that stand at the root of a merged system, with what they say."""
    return [(path, str(path.readlink())) for path in (Path("/", name) for name in _SYSTEM) if path.is_symlink()]


def etc_files(users: Sequence[int]) -> dict[str, str]:
    """Return the few files of /etc without which "localhost" and the users' name do not resolve."""
    return {
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "passwd": "".join(f"sandbox:x:{uid}:{uid}::{SCRATCH}:/bin/sh\n" for uid in users),
        "group": "".join(f"sandbox:x:{uid}:\n" for uid in users),
    }


def outermost(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each path that lies in no other of them, once."""
    outer: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(other) for other in outer):
            outer.append(path)
            yield path


def limited(prlimit: str, limits: Limits, count_processes: bool = True) -> list[str]:
    """Return the beginning of a command line that sets limits of the kernel for what follows."""
    return [
        prlimit,
        f"--as={limits.memory_bytes}",
        *([f"--nproc={limits.processes}"] if count_processes else []),
        f"--fsize={limits.file_bytes}",
        f"--nofile={limits.open_files}",
        "--core=0",
        "--",
    ]
