"""The sandbox where namespaces are closed: sandlock, that is Landlock and seccomp with a supervisor."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.sandbox.folders import put, remove
from pipeline.execution.sandbox.mounts import limited
from pipeline.execution.sandbox.permissions import PermissionRefused, Permissions
from pipeline.execution.sandbox.processes import Holder, Launch, wait_for
from pipeline.execution.sandbox.sandbox import Program, Sandbox
from pipeline.execution.sandbox.seccomp import same_user_filter
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.sandbox.uid_pool import open_descriptors, own_uid

_PROGRAM = Path(__file__).with_name("sandlock_program.py")
_READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/etc/ld.so.cache", "/etc/alternatives"),
    *("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
_NOT_NEEDED = ("memfd_create", "memfd_secret")  # memory that belongs to no process and no bounded file system


@dataclass(frozen=True)
class _Supervisor(Holder):
    """The program of sandlock, which ends everything when it is told so by the end to write to of a pipe."""

    stop_to: int
    folder: Path
    supervised: bool = True

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Tell it, and wait until it is gone."""
        if process.returncode is None:
            with contextlib.suppress(BrokenPipeError, ProcessLookupError):
                os.write(self.stop_to, b"!")
                supervisor = os.pidfd_open(process.pid)
                wait_for(supervisor)
                os.close(supervisor)


@dataclass(frozen=True, slots=True)
class Sandlock(Sandbox):
    """Landlock and seccomp in place of namespaces; started as root it runs the program as a uid of its own.

    What it cannot promise: that names and sizes of files outside are hidden (their contents are); a loopback and
    shared memory (/dev/shm) of its own, so that there are none; a second user for sessions. Programs cannot set modes,
    owners and times of files, not even of theirs, since Landlock would let them set those of every file of their user.
    """

    prlimit: str
    kind: str = "sandlock"

    @contextlib.contextmanager
    def launch(self, program: Program) -> Iterator[Launch]:
        """Make a scratch folder, and tell the supervisor what to run."""
        with contextlib.ExitStack() as stack:
            readable = [*program.environment.folders, *program.grants.read]
            uid = self._uid(stack, readable, program.grants)
            folder = stack.enter_context(_scratch(uid, program.files))
            descriptors = stack.enter_context(open_descriptors())
            stop_to, stop_from = descriptors.to_write()
            job = {
                "uid": uid,
                "packages": str(_packages()),
                "argv": [*limited(self.prlimit, program.limits, count_processes=uid != os.getuid()), *program.argv],
                "options": _options(folder, readable, program.limits),
                "filter": same_user_filter().hex(),
            }
            job_from = descriptors.add(json.dumps(job).encode())
            yield Launch(
                (sys.executable, "-I", "-S", str(_PROGRAM), str(job_from), str(stop_from)),
                program.variables_in(str(folder)),
                Path("/"),
                tuple(descriptors.numbers),
                _Supervisor(stop_to, folder),
            )

    def _uid(self, stack: contextlib.ExitStack, readable: Sequence[Path], grants: Permissions) -> int:
        """Return the uid of the run: one of its own if we are root, else ours."""
        if grants.index or grants.second_uid:
            raise PermissionRefused(
                f"{self.kind} has no way to the index only, and no second user: that takes bubblewrap",
                code="sandbox_lacks_index",
            )
        if os.getuid() != 0:
            return os.getuid()
        if closed := [str(path) for path in readable if not _open_to_all(path)]:
            raise PermissionRefused(
                f"{self.kind} runs programs as a user of their own, who cannot read {', '.join(closed)}: let all users"
                " pass the folders above (interpreters of uv: set UV_PYTHON_INSTALL_DIR), or start driftline as an"
                " ordinary user",
                code="sandbox_cannot_read",
            )
        return stack.enter_context(own_uid())


def _options(folder: Path, readable: Sequence[Path], limits: Limits) -> dict[str, object]:
    """Return the options of sandlock's Sandbox; what is not named there is closed."""
    there = [path for path in (*_READABLE, *map(str, readable)) if Path(path).exists()]
    return {
        "fs_readable": there,
        "fs_writable": [str(folder), "/dev/null"],
        "cwd": str(folder),
        "max_processes": limits.processes,
        "extra_deny_syscalls": _NOT_NEEDED,
    }


def _packages() -> Path:
    spec = importlib.util.find_spec("sandlock")
    if spec is None or spec.origin is None:
        raise PermissionRefused(
            "the package sandlock is not installed: install the locked requirements again",
            code="sandlock_not_installed",
        )
    return Path(spec.origin).parent.parent


def _open_to_all(path: Path) -> bool:
    """Say whether any user may pass the folders above a path and read it."""
    real = path.resolve()
    above = all(parent.stat().st_mode & stat.S_IXOTH for parent in real.parents)
    return above and bool(real.stat().st_mode & stat.S_IROTH)


@contextlib.contextmanager
def _scratch(uid: int, files: Mapping[str, bytes]) -> Iterator[Path]:
    """Make a folder on disk that only `uid` can enter, with `files` in it, and delete it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="driftline-"))
    try:
        put(folder, files)
        if uid != os.getuid():
            for path in (folder, *folder.rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)
        yield folder
    finally:
        remove(folder)
