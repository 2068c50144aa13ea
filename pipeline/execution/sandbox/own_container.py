"""The container that a verifier of an exported task runs in, as a sandbox: what runs there has another user."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.sandbox.mounts import limited
from pipeline.execution.sandbox.permissions import CASE_UID
from pipeline.execution.sandbox.processes import Holder, Launch
from pipeline.execution.sandbox.sandbox import Program, Sandbox, tool
from pipeline.execution.sandbox.uid_pool import own_uid

_END_S = 10.0


@dataclass(frozen=True)
class _User(Holder):
    """A user of whom nothing is left afterwards."""

    uid: int

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill all processes of the user, as often as they make others."""
        deadline = time.monotonic() + _END_S
        while (pids := self._pids()) and time.monotonic() < deadline:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def _pids(self) -> list[int]:
        pids = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                is_own = folder.name.isdigit() and folder.stat().st_uid == self.uid
                if is_own and b"\nState:\tZ" not in (folder / "status").read_bytes():
                    pids.append(int(folder.name))
        return pids


@dataclass(frozen=True, slots=True)
class OwnContainer(Sandbox):
    """Runs commands as root in the container that we run in, for a harness that hands its children to a second user.

    That user reaches nothing that is root's alone: not us, nor files of mode 0600. Network and file system are those
    that the container has; files to hide are emptied in it, once and for all.
    """

    kind: str = "own container"

    @property
    def two_users(self) -> bool:
        """Whether there are two users: always, since it needs root."""
        return True

    @contextlib.contextmanager
    def launch(self, program: Program) -> Iterator[Launch]:
        """Make a temporary folder with the files of a program, and reserve a user for its children."""
        with own_uid() as uid, tempfile.TemporaryDirectory(prefix="driftline-", ignore_cleanup_errors=True) as scratch:
            Path(scratch).chmod(0o1777)
            for name, content in program.files.items():
                place = Path(scratch, name)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            for path in program.grants.hide:
                path.unlink()
                path.touch()
            prlimit = tool("prlimit")
            command = [*(limited(prlimit, program.limits) if prlimit else ()), *program.argv]
            variables = {CASE_UID: str(uid)} | program.variables_in(scratch)
            yield Launch(tuple(command), variables, Path(scratch), holder=_User(uid))
