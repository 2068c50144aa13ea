"""The sandbox of choice: bubblewrap."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.sandbox.mounts import SHARED_MEMORY, etc_files, limited, outermost, system_folders, system_links
from pipeline.execution.sandbox.permissions import CASE_UID, INDEX_SOCKET, PermissionRefused, Permissions
from pipeline.execution.sandbox.processes import Holder, Launch
from pipeline.execution.sandbox.sandbox import SCRATCH, Program, Sandbox
from pipeline.execution.sandbox.seccomp import seccomp_filter
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.sandbox.uid_pool import Descriptors, open_descriptors, own_uid

_TO_DROP = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_OF_SERVER = ("setuid", "setgid", "kill")
_CHILD = re.compile(rb'"child-pid": (\d+)')


@dataclass(frozen=True)
class _Namespaces(Holder):
    """Namespaces, which end with the first process in them; bubblewrap says in a pipe which that is."""

    announces: int
    mounts: tuple[str, ...] = (SCRATCH, SHARED_MEMORY)

    def first(self) -> int | None:
        """Read what bubblewrap has said."""
        with contextlib.suppress(BlockingIOError):
            match = _CHILD.search(os.read(self.announces, 4096))
            return int(match.group(1)) if match else None
        return None


@dataclass(frozen=True, slots=True)
class Bubblewrap(Sandbox):
    """Namespaces, a read-only view, seccomp and limits; started as root it runs the program as a uid of its own.

    The promises: no network but a loopback of its own; of the file system only system libraries, the interpreter
    and the environment, read-only; one writable scratch (and /dev/shm) of bounded size in memory; no home, no
    variables of ours; limits on time, memory, processes, output and files; everything killed at the end.
    """

    bwrap: Path
    prlimit: str
    setpriv: str | None
    kind: str

    @property
    def two_users(self) -> bool:
        """Whether it is started as root: only then there are two uids to give."""
        return self.setpriv is not None

    @contextlib.contextmanager
    def launch(self, program: Program) -> Iterator[Launch]:
        """Describe the sandbox to bubblewrap."""
        with contextlib.ExitStack() as stack:
            grants = program.grants
            users = self._users(stack, grants)
            descriptors = stack.enter_context(open_descriptors())
            info, info_fd = descriptors.to_read()
            closing = seccomp_filter(users=users if grants.second_uid else ())
            command = [
                *(str(self.bwrap), *self._namespaces(grants), "--info-fd", str(info_fd)),
                *("--seccomp", str(descriptors.add(closing))),
                *_system_view(),
                *_etc_view(users, descriptors),
                *_writable(program.limits, program.files, descriptors),
                *_read_only([*program.environment.folders, *grants.read]),
                *(word for path in grants.hide for word in ("--ro-bind", "/dev/null", str(path))),
                *_index(grants.index),
                *("--remount-ro", "/", "--chdir", SCRATCH, "--"),
                # Here the count of processes means those of this sandbox.
                *limited(self.prlimit, program.limits),
                *self._dropped(users[0], grants),
                *program.argv,
            ]
            second = {CASE_UID: str(users[1])} if grants.second_uid else {}
            yield Launch(
                tuple(command),
                second | program.variables_in(SCRATCH),
                Path("/"),
                tuple(descriptors.numbers),
                _Namespaces(info),
            )

    def _users(self, stack: contextlib.ExitStack, grants: Permissions) -> list[int]:
        """Return the uids that the run may have: reserved for it if we are root, else our own."""
        if not self.setpriv:
            if grants.second_uid:
                raise PermissionRefused(
                    f"{self.kind} has no second uid to give: start driftline as root for that",
                    code="sandbox_lacks_user",
                )
            return [os.getuid()]
        return [stack.enter_context(own_uid()) for _ in range(1 + grants.second_uid)]

    def _namespaces(self, grants: Permissions) -> list[str]:
        """Everything unshared; not --unshare-all, which tries a user namespace in which no second uid exists."""
        common = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        common += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if not self.setpriv:
            return [*common, "--unshare-user", "--disable-userns"]
        needed = (*_TO_DROP, "CAP_KILL") if grants.second_uid else _TO_DROP
        return [*common, *(word for capability in needed for word in ("--cap-add", capability))]

    def _dropped(self, uid: int, grants: Permissions) -> list[str]:
        """Return what turns the command into the user of the run."""
        if not self.setpriv:
            return []
        capabilities = ",".join(["-all", *(f"+{name}" for name in _OF_SERVER if grants.second_uid)])
        command = [self.setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
        return [
            *command,
            f"--inh-caps={capabilities}",
            f"--ambient-caps={capabilities}",
            f"--bounding-set={capabilities}",
        ]


def _system_view() -> list[str]:
    words = ["--perms", "0755", "--dir", "/etc"]
    for path in system_folders():
        words += ["--ro-bind", str(path), str(path)]
    for path, target in system_links():
        words += ["--symlink", target, str(path)]
    return [*words, "--proc", "/proc", "--dev", "/dev"]


def _etc_view(users: Sequence[int], descriptors: Descriptors) -> list[str]:
    words = []
    for name, text in etc_files(users).items():
        words += ["--perms", "0644", "--file", str(descriptors.add(text.encode())), f"/etc/{name}"]
    return words


def _read_only(folders: Sequence[Path]) -> list[str]:
    """Bind folders where they are, made reachable: a parent made on the way to a bind would keep mode 0700."""
    words: list[str] = []
    outside = [folder for folder in outermost(folders) if not folder.is_relative_to("/usr")]
    parents = {parent for folder in outside for parent in folder.parents if parent != Path("/")}
    for parent in sorted(parents - {Path(SCRATCH)}):
        words += ["--perms", "0755", "--dir", str(parent)]
    for folder in outside:
        words += ["--ro-bind", str(folder), str(folder)]
    return words


def _writable(limits: Limits, files: Mapping[str, bytes], descriptors: Descriptors) -> list[str]:
    size = str(limits.scratch_bytes)
    words = ["--perms", "1777", "--size", size, "--tmpfs", SHARED_MEMORY, "--remount-ro", "/dev"]
    words += ["--perms", "1777", "--size", size, "--tmpfs", SCRATCH]
    parents = {parent for name in files for parent in Path(name).parents if parent != Path()}
    for parent in sorted(parents):
        words += ["--perms", "0777", "--dir", f"{SCRATCH}/{parent}"]
    for name, content in files.items():
        words += ["--perms", "0644", "--file", str(descriptors.add(content)), f"{SCRATCH}/{name}"]
    return words


def _index(socket: Path | None) -> list[str]:
    return [] if socket is None else ["--perms", "0755", "--dir", "/run", "--ro-bind", str(socket), INDEX_SOCKET]
