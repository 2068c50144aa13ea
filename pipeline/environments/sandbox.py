"""What a sandbox is: it runs one command, or opens a session, and ends everything that was started; and none at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.environments.environment import Environment
from pipeline.environments.grants import GrantRefused, Grants
from pipeline.environments.processes import Launch
from pipeline.environments.session import Session, session
from pipeline.environments.supervise import Finished, Limits, supervise

SCRATCH = "/tmp"  # noqa: S108 - the scratch folder as the sandboxed program sees it, a tmpfs of its own
NOTHING_MORE = Grants()


class Sandbox(Protocol):
    """Runs commands of which nothing is left afterwards; see `bubblewrap` for what is promised of each kind."""

    @property
    def kind(self) -> str:
        """What it is made of, for people to read."""

    @property
    def two_users(self) -> bool:
        """Whether a session may hand its children to a second uid; a fork server is safe only then."""

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        grants: Grants = NOTHING_MORE,
    ) -> Finished:
        """Run `argv` in a scratch folder that holds `files`; `variables` are added to a fixed, clean environment.

        Errors: GrantRefused if this kind of sandbox cannot give what `grants` asks for.
        """

    def open(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        grants: Grants = NOTHING_MORE,
    ) -> AbstractContextManager[Session]:
        """Start `argv` as `run` does, to talk to it until the end of the `with` block at the latest.

        Let the thread that opens it live on: bubblewrap ends what it holds when the thread that started it
        ends (PR_SET_PDEATHSIG of prctl(2)), so that nothing is left where we are killed.
        """


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
class NoSandbox:
    """Runs the command as it is, with limits of time, memory of the tree and output only: told so, at your risk."""

    kind: str = "none"

    @property
    def two_users(self) -> bool:
        """No: everything runs as we do."""
        return False

    def run(
        self,
        argv: Sequence[str],
        *,
        environment: Environment,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        grants: Grants = NOTHING_MORE,
    ) -> Finished:
        """Run a command in a temporary folder."""
        with self._launch(argv, environment, files, variables, grants) as launch:
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
        grants: Grants = NOTHING_MORE,
    ) -> Iterator[Session]:
        """Start a command in a temporary folder."""
        with self._launch(argv, environment, files, variables, grants) as launch, session(launch) as opened:
            yield opened

    @contextlib.contextmanager
    def _launch(
        self,
        argv: Sequence[str],
        environment: Environment,
        files: Mapping[str, bytes],
        variables: Mapping[str, str] | None,
        grants: Grants,
    ) -> Iterator[Launch]:
        if grants.index or grants.second_uid:
            raise GrantRefused("without a sandbox there is no way to the index only, and no second user")
        with tempfile.TemporaryDirectory(prefix="driftline-", ignore_cleanup_errors=True) as scratch:
            for name, content in files.items():
                target = Path(scratch, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            yield Launch(tuple(argv), variables_for(environment, scratch) | dict(variables or {}), Path(scratch))


def tool(name: str) -> str | None:
    """Return the path of a system tool as both we and the sandbox see it, or None if it is not there."""
    found = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
    return str(Path(found).resolve()) if found else None
