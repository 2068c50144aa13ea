"""What a sandbox is: it runs one command, or opens a session, and ends everything that was started; and none at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.permissions import PermissionRefused, Permissions
from pipeline.execution.sandbox.processes import Launch
from pipeline.execution.sandbox.session import Session, session
from pipeline.execution.sandbox.supervise import Finished, Limits, supervise
from pipeline.lake.names import inner_path

SCRATCH = "/tmp"  # noqa: S108 - the scratch folder as the sandboxed program sees it, a tmpfs of its own
NOTHING_MORE = Permissions()


@dataclass(frozen=True, slots=True)
class Program:
    """A command and what it is given; `argv` runs in a scratch folder that holds `files`."""

    argv: Sequence[str]
    environment: Environment
    files: Mapping[str, bytes]
    limits: Limits
    variables: Mapping[str, str]
    grants: Permissions
    stays: bool = False
    """Whether it is a session: it ends when it is told, not at the time limit."""

    def __post_init__(self) -> None:
        """Refuse files that would lie outside of the scratch folder; some sandboxes write them on our own disk.

        Errors: UnsafeName.
        """
        for name in self.files:
            inner_path(name, "a file in the sandbox")

    def variables_in(self, scratch: str) -> dict[str, str]:
        """Return its whole environment: nothing of ours, what would vary is fixed, and its own `variables`."""
        return variables_for(self.environment, scratch) | dict(self.variables)


class Sandbox(ABC):
    """Runs commands of which nothing is left afterwards; see `bubblewrap` for what is promised of each kind."""

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """What it is made of, for people to read."""

    @property
    def two_users(self) -> bool:
        """Whether a session may hand its children to a second uid; a fork server is safe only then."""
        return False

    @abstractmethod
    def launch(self, program: Program) -> AbstractContextManager[Launch]:
        """Get ready what it takes to start a program inside, and clear up afterwards.

        Errors: PermissionRefused if this kind of sandbox cannot give what the program is granted.
        """

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        grants: Permissions = NOTHING_MORE,
    ) -> Finished:
        """Run `argv` in a scratch folder that holds `files`; `variables` are added to a fixed, clean environment.

        Errors: PermissionRefused if this kind of sandbox cannot give what `grants` asks for.
        """
        program = Program(argv, environment, files, limits, variables or {}, grants)
        with self.launch(program) as launch:
            return supervise(launch, stdin, limits)

    @contextlib.contextmanager
    def open(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        grants: Permissions = NOTHING_MORE,
    ) -> Iterator[Session]:
        """Start `argv` as `run` does, to talk to it until the end of the `with` block at the latest.

        Let the thread that opens it live on: bubblewrap ends what it holds when the thread that started it
        ends (PR_SET_PDEATHSIG of prctl(2)), so that nothing is left where we are killed.
        """
        program = Program(argv, environment, files, limits, variables or {}, grants, stays=True)
        with self.launch(program) as launch, session(launch) as opened:
            yield opened


def variables_for(environment: Environment, scratch: str) -> dict[str, str]:
    """Return the whole environment of a run: nothing of ours, and what would vary is fixed."""
    single_threaded = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    return single_threaded | {
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
class NoSandbox(Sandbox):
    """Runs the command as it is, with limits of time, memory of the tree and output only: told so, at your risk."""

    kind: str = "none"

    @contextlib.contextmanager
    def launch(self, program: Program) -> Iterator[Launch]:
        """Make a temporary folder to run a program in."""
        if program.grants.index or program.grants.second_uid:
            raise PermissionRefused(
                "without a sandbox there is no way to the index only, and no second user", code="sandbox_lacks_index"
            )
        with tempfile.TemporaryDirectory(prefix="driftline-", ignore_cleanup_errors=True) as scratch:
            for name, content in program.files.items():
                target = Path(scratch, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            yield Launch(tuple(program.argv), program.variables_in(scratch), Path(scratch))


def tool(name: str) -> str | None:
    """Return the path of a system tool as both we and the sandbox see it, or None if it is not there."""
    path = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
    return str(Path(path).resolve()) if path else None
