"""The sandbox of a container engine (docker, podman: the same command line), where a setting names one."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import secrets
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import FatalError
from pipeline.execution.sandbox.folders import put
from pipeline.execution.sandbox.mounts import SHARED_MEMORY, etc_files, limited, outermost, system_folders, system_links
from pipeline.execution.sandbox.permissions import INDEX_SOCKET, PermissionRefused
from pipeline.execution.sandbox.processes import Holder, Launch
from pipeline.execution.sandbox.sandbox import SCRATCH, Program, Sandbox
from pipeline.execution.sandbox.seccomp import seccomp_profile
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.sandbox.uid_pool import FIRST_UID, own_uid

_FIRST_REMAPPED = 1000
_OF_USER = ("passwd", "group")
_ASK_S = 60
_ANSWER_S = 30


class EngineFailed(FatalError):
    """The engine could not be asked; the message is what it said."""

    code = "container_engine_failed"


@dataclass(frozen=True)
class _Engine(Holder):
    """An engine: `asks` is a command that prints the first process of a container, and `ends` one that ends it."""

    asks: tuple[str, ...]
    ends: tuple[str, ...]
    mounts: tuple[str, ...] = (SCRATCH, SHARED_MEMORY)

    def first(self) -> int | None:
        """Ask for it; an engine says 0 as long as there is none."""
        output = _output(self.asks).strip()
        return int(output) if output.isdigit() and int(output) else None

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End the container, unless it has ended."""
        if process.poll() is None:
            _output(self.ends)


def _output(argv: Sequence[str]) -> bytes:
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        done = subprocess.run(argv, env=_of_engine(), capture_output=True, timeout=_ANSWER_S, check=False)
        return done.stdout if done.returncode == 0 else b""
    return b""


@dataclass(frozen=True, slots=True)
class Container(Sandbox):
    """One container per run, over an image that holds nothing but the way to read-only mounts of this machine's /usr.

    `engine` is the command with its own options. `image` names another image to run in, whose /usr is then the one
    that is seen. Without `cgroups`, memory is bounded as elsewhere: per process, and by looking at the tree.
    """

    engine: tuple[str, ...]
    prlimit: str
    image: str | None = None
    cgroups: bool = True

    @property
    def kind(self) -> str:
        """What it is made of."""
        return f"container, {Path(self.engine[0]).name}" + ("" if self.cgroups else " without cgroups")

    @contextlib.contextmanager
    def launch(self, program: Program) -> Iterator[Launch]:
        """Describe the container to the engine."""
        if program.grants.second_uid:
            raise PermissionRefused(
                f"{self.kind} has no second uid to give: that takes bubblewrap, started as root",
                code="sandbox_lacks_user",
            )
        name = f"driftline-{secrets.token_hex(8)}"
        with tempfile.TemporaryDirectory(prefix="driftline-") as folder, own_uid() as slot:
            uid = slot - FIRST_UID + _FIRST_REMAPPED if _remaps_users(self.engine) else slot
            put(Path(folder, "files"), program.files)
            put(Path(folder, "etc"), {name: text.encode() for name, text in etc_files((uid,)).items()})
            profile = Path(folder, "seccomp.json")
            profile.write_text(json.dumps(seccomp_profile()))
            fixed = program.variables_in(SCRATCH)
            podman = _is_podman(self.engine)
            # The engine's command is not always there to end the container: it then ends by itself, after the limit.
            ended = ("/usr/bin/timeout", "--signal=KILL", str(program.limits.time_s + _ASK_S))
            yield Launch(
                (
                    *self.engine,
                    *("run", "--rm", "--interactive", "--name", name, "--user", f"{uid}:{uid}"),
                    *_closed(profile, program.limits, self.cgroups),
                    *(("--read-only-tmpfs=false",) if podman else ()),
                    *self._mounts(Path(folder), program),
                    self.image or _view(self.engine),
                    *("/usr/bin/env", "-i", *(f"{key}={value}" for key, value in fixed.items())),
                    *limited(self.prlimit, program.limits),
                    *(() if program.stays else ended),
                    *program.argv,
                ),
                _of_engine(),
                Path("/"),
                holder=_Engine(
                    asks=(*self.engine, "inspect", "--format", "{{.State.Pid}}", name),
                    # podman would first ask the program kindly, and wait.
                    ends=(*self.engine, "rm", "--force", *(("--time", "0") if podman else ()), name),
                ),
            )

    def _mounts(self, folder: Path, program: Program) -> Iterator[str]:
        """Yield the mounts: what is readable, and each file of the run in scratch."""
        system = () if self.image else system_folders()
        for path in outermost([*system, *program.environment.folders, *program.grants.read]):
            yield from ("--volume", f"{path}:{path}:ro")
        for name in program.files:
            yield from ("--volume", f"{folder / 'files' / name}:{SCRATCH}/{name}:ro")
        for name in () if self.image else _OF_USER:
            yield from ("--volume", f"{folder / 'etc' / name}:/etc/{name}:ro")
        for path in program.grants.hide:
            yield from ("--volume", f"/dev/null:{path}:ro")
        if program.grants.index:
            yield from ("--volume", f"{program.grants.index}:{INDEX_SOCKET}:ro")


def _closed(profile: Path, limits: Limits, cgroups: bool) -> Iterator[str]:
    """Yield the options that close a container."""
    yield from ("--network", "none", "--ipc", "private", "--hostname", "sandbox", "--workdir", SCRATCH)
    yield from ("--read-only", "--cap-drop", "ALL", "--pull", "never", "--log-driver", "none")
    yield from ("--security-opt", "no-new-privileges", "--security-opt", f"seccomp={profile}")
    yield from ("--tmpfs", f"{SCRATCH}:rw,exec,nosuid,nodev,mode=1777,size={limits.scratch_bytes}")
    yield from ("--shm-size", str(limits.scratch_bytes), "--ulimit", f"nofile={limits.open_files}:{limits.open_files}")
    yield from ("--ulimit", f"nproc={limits.processes}:{limits.processes}", "--ulimit", "core=0:0")
    if cgroups:
        yield from ("--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes))
        yield from ("--pids-limit", str(limits.processes))
    else:
        yield "--cgroups=disabled"


def ask(engine: Sequence[str], *words: str, stdin: bytes = b"") -> str:
    """Return what an engine's command prints.

    Errors: EngineFailed if it is not there, fails, or takes a minute.
    """
    try:
        done = subprocess.run([*engine, *words], input=stdin, capture_output=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineFailed(f"{engine[0]}: {error}") from None
    if done.returncode:
        raise EngineFailed(f"{' '.join(engine)} {words[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout.decode(errors="replace").strip()


@functools.cache
def _is_podman(engine: tuple[str, ...]) -> bool:
    """Say whether it is podman, which mounts unbounded writable folders into containers unless told not to."""
    return ask(engine, "--version").startswith("podman")


@functools.cache
def _remaps_users(engine: tuple[str, ...]) -> bool:
    """Say whether the uids inside are others than those outside, so that small ones are free to use."""
    info = ask(engine, "info", "--format", "{{json .}}").replace(" ", "")
    return '"rootless":true' in info or "name=rootless" in info or "name=userns" in info


@functools.cache
def _view(engine: tuple[str, ...]) -> str:
    """Return the name of the image that this machine's system is mounted over, made if it is not there.

    It holds empty folders, links and the few files of /etc without which "localhost" does not resolve.
    """
    content = _archive()
    name = f"localhost/driftline-view:{hashlib.sha256(content).hexdigest()[:16]}"
    with contextlib.suppress(EngineFailed):
        ask(engine, "image", "inspect", name)
        return name
    ask(engine, "import", "-", name, stdin=content)
    return name


def _archive() -> bytes:
    written = io.BytesIO()
    folders = ("etc", "proc", "sys", "dev", "run", "tmp")
    members = [_member(name, tarfile.DIRTYPE) for name in folders]
    members += [_member(str(path), tarfile.DIRTYPE if path.is_dir() else tarfile.REGTYPE) for path in system_folders()]
    members += [_member(str(path), tarfile.SYMTYPE, target) for path, target in system_links()]
    with tarfile.open(fileobj=written, mode="w") as archive:
        for member in members:
            archive.addfile(member)
        for name, text in etc_files(()).items():
            member = _member(f"etc/{name}", tarfile.REGTYPE)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return written.getvalue()


def _member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name.lstrip("/"))
    member.type, member.linkname, member.mode = kind, target, 0o755
    return member


def _of_engine() -> dict[str, str]:
    """Return the variables of the engine's command itself: what it needs to find its engine, and no more."""
    names = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "CONTAINERS_CONF")
    return {name: os.environ[name] for name in names if name in os.environ}
