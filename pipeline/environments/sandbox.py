"""Where other people's code runs: one bubblewrap sandbox per run, or, if told in so many words, none."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.environments.environment import Environment
from pipeline.environments.seccomp import seccomp_filter
from pipeline.environments.supervise import Finished, Limits, supervise

SCRATCH = "/tmp"  # noqa: S108 - the scratch folder as the sandboxed program sees it, a tmpfs of its own
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")
_FIRST_UID, _SLOTS = 210_000, 4096


class Sandbox(Protocol):
    """Runs one command and ends everything that it started."""

    @property
    def kind(self) -> str:
        """What it is made of, for people to read."""

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run `argv` in a scratch folder that holds `files`; `variables` are added to a fixed, clean environment."""


def variables_for(environment: Environment, scratch: str) -> dict[str, str]:
    """Return the whole environment of a run: nothing of ours, and what would vary is fixed."""
    one_thread = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    return one_thread | {
        "PATH": f"{environment.python.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": f"{scratch}/.matplotlib",
        "NUMBA_CACHE_DIR": f"{scratch}/.numba",
    }


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces, a read-only view, seccomp and limits; started as root it runs the program as a uid of its own.

    The promises: no network but a loopback of its own; of the file system only system libraries, the interpreter
    and the environment, read-only; one writable scratch (and /dev/shm) of bounded size in memory; no home, no
    variables of ours; limits on time, memory, processes, output and files; everything killed at the end.
    """

    bwrap: Path
    prlimit: str
    setpriv: str | None
    kind: str

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command in a new sandbox."""
        with _slot() as uid, _memory_files() as descriptors:
            who = uid if self.setpriv else os.getuid()
            command = [
                *(str(self.bwrap), *self._namespaces()),
                *("--seccomp", str(descriptors.add(seccomp_filter()))),
                *_system_view(),
                *_etc_view(who, descriptors),
                *_writable(limits, files, descriptors),
                *_read_only(environment.folders),
                *("--remount-ro", "/", "--chdir", SCRATCH, "--"),
                *self._limited(limits, who),
                *argv,
            ]
            return supervise(
                command,
                variables=variables_for(environment, SCRATCH) | dict(variables or {}),
                cwd=Path("/"),
                stdin=stdin,
                limits=limits,
                pass_fds=descriptors.numbers,
            )

    def _namespaces(self) -> list[str]:
        """Everything unshared; not --unshare-all, which tries a user namespace in which no second uid exists."""
        common = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        common += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if not self.setpriv:
            return [*common, "--unshare-user", "--disable-userns"]
        needed = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        return [*common, *(word for capability in needed for word in ("--cap-add", capability))]

    def _limited(self, limits: Limits, uid: int) -> list[str]:
        """Limits, set where the count of processes means those of this sandbox; then the drop to the uid."""
        command = [
            self.prlimit,
            f"--as={limits.memory_bytes}",
            f"--nproc={limits.processes}",
            f"--fsize={limits.file_bytes}",
            f"--nofile={limits.open_files}",
            "--core=0",
        ]
        if self.setpriv:
            command += [self.setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
            command += ["--inh-caps=-all", "--bounding-set=-all"]
        return command


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Runs the command as it is, with limits of time, memory of the tree and output only: told so, at your risk."""

    kind: str = "none"

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command in a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="driftline-") as scratch:
            for name, content in files.items():
                target = Path(scratch, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            fixed = variables_for(environment, scratch) | dict(variables or {})
            return supervise(argv, variables=fixed, cwd=Path(scratch), stdin=stdin, limits=limits)


class _MemoryFiles:
    """Contents handed to bubblewrap as open descriptors, so that nothing lies on disk under a guessable name."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def add(self, content: bytes) -> int:
        descriptor = os.memfd_create("driftline")
        self.numbers.append(descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor


@contextlib.contextmanager
def _memory_files() -> Iterator[_MemoryFiles]:
    files = _MemoryFiles()
    try:
        yield files
    finally:
        for descriptor in files.numbers:
            os.close(descriptor)


@contextlib.contextmanager
def _slot() -> Iterator[int]:
    """Reserve a uid that no other run on this machine has, since the limit on processes counts by uid.

    The reservation is an abstract Unix socket, which the kernel gives back even if we are killed.
    """
    with socket.socket(socket.AF_UNIX) as reservation:
        for number in range(_FIRST_UID, _FIRST_UID + _SLOTS):
            with contextlib.suppress(OSError):
                reservation.bind(f"\0driftline-sandbox-{number}")
                break
        else:
            raise RuntimeError(f"all {_SLOTS} sandbox uids are taken: are that many runs going on here?")
        yield number


def _system_view() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "0755", "--dir", "/etc"]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words


def _etc_view(uid: int, descriptors: _MemoryFiles) -> list[str]:
    """The few files without which "localhost" and the user's name do not resolve."""
    contents = {
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "passwd": f"sandbox:x:{uid}:{uid}::{SCRATCH}:/bin/sh\n",
        "group": f"sandbox:x:{uid}:\n",
    }
    words = []
    for name, text in contents.items():
        words += ["--perms", "0644", "--file", str(descriptors.add(text.encode())), f"/etc/{name}"]
    return words


def _read_only(folders: Sequence[Path]) -> list[str]:
    """Bind folders where they are, made reachable: a parent made on the way to a bind would keep mode 0700."""
    words: list[str] = []
    outside = [folder for folder in folders if not folder.is_relative_to("/usr")]
    parents = {parent for folder in outside for parent in folder.parents if parent != Path("/")}
    for parent in sorted(parents - {Path(SCRATCH)}):
        words += ["--perms", "0755", "--dir", str(parent)]
    for folder in outside:
        words += ["--ro-bind", str(folder), str(folder)]
    return words


def _writable(limits: Limits, files: Mapping[str, bytes], descriptors: _MemoryFiles) -> list[str]:
    size = str(limits.scratch_bytes)
    words = ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    words += ["--perms", "1777", "--size", size, "--tmpfs", SCRATCH]
    parents = {parent for name in files for parent in Path(name).parents if parent != Path()}
    for parent in sorted(parents):
        words += ["--perms", "0777", "--dir", f"{SCRATCH}/{parent}"]
    for name, content in files.items():
        words += ["--perms", "0644", "--file", str(descriptors.add(content)), f"{SCRATCH}/{name}"]
    return words


def tool(name: str) -> str | None:
    """Return the path of a system tool as both we and the sandbox see it, or None if it is not there."""
    found = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
    return str(Path(found).resolve()) if found else None
