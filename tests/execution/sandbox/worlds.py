"""What stands outside a sandbox while an escape from it is attempted, and whether it was reached."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox
from pipeline.execution.sandbox.supervise import Limits

SECRET = "the-secret-of-the-host"


def no() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class World:
    """What the attempt is told about, whether something outside was seen to be reached, and what it is let see."""

    argument: str = ""
    reached: Callable[[], bool] = no
    read: tuple[Path, ...] = ()


WorldOf = Callable[[Sandbox | None, Environment], contextlib.AbstractContextManager[World]]


@contextlib.contextmanager
def empty(_: Sandbox | None, __: Environment) -> Iterator[World]:
    yield World(secrets.token_hex(8))


@contextlib.contextmanager
def open_folder(where: Path | None = None) -> Iterator[Path]:
    """A folder of the host that anybody may enter and write to, so that only the sandbox is in the way."""
    with tempfile.TemporaryDirectory(prefix="outside-", dir=where) as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "precious").write_text(SECRET)
        (folder / "precious").chmod(0o666)
        yield folder


@contextlib.contextmanager
def folder_outside(_: Sandbox | None, __: Environment) -> Iterator[World]:
    with open_folder() as folder:
        yield World(str(folder), lambda: changed(folder))


@contextlib.contextmanager
def folder_granted(_: Sandbox | None, __: Environment) -> Iterator[World]:
    with open_folder() as folder:
        yield World(str(folder), lambda: changed(folder), (folder,))


def changed(folder: Path) -> bool:
    precious = folder / "precious"
    there = [path.name for path in folder.iterdir()] == ["precious"]
    return not there or precious.read_text() != SECRET or precious.stat().st_mode & 0o7777 != 0o666


@contextlib.contextmanager
def secret_in_home(_: Sandbox | None, __: Environment) -> Iterator[World]:
    with tempfile.NamedTemporaryFile("w", dir=Path.home(), prefix=".secret-") as file:
        file.write(SECRET)
        file.flush()
        yield World(file.name)


@contextlib.contextmanager
def places(_: Sandbox | None, __: Environment) -> Iterator[World]:
    """Places of the system at which nothing may come to be."""
    name = f"driftline-{secrets.token_hex(8)}"
    found = [Path(place, name) for place in ("/", "/usr/bin", "/etc", "/var/tmp", "/dev/shm", "/tmp", "/run", "/root")]
    try:
        yield World(name, lambda: any(map(os.path.exists, found)))
    finally:
        for path in found:
            with contextlib.suppress(OSError):
                path.unlink()


@contextlib.contextmanager
def scratch_of_another(sandbox: Sandbox | None, environment: Environment) -> Iterator[World]:
    """Another run, of the same sandbox, with a secret in its scratch folder."""
    argv = [str(environment.python), "-c", "print('ready', flush=True); input()"]
    other, files = sandbox or NoSandbox(), {"sample.py": SECRET.encode()}
    with other.open(argv, environment=environment, files=files, limits=Limits(memory_bytes=1 << 30)) as session:
        assert session.stdout.readline() == b"ready\n", session.stderr.read()
        yield World(SECRET)


def listener(family: socket.AddressFamily, kind: socket.SocketKind, address: str) -> WorldOf:
    """A socket of the host that listens; reached if anything arrives."""

    @contextlib.contextmanager
    def world(_: Sandbox | None, __: Environment) -> Iterator[World]:
        with socket.socket(family, kind) as server:
            server.bind((address, 0))
            if kind is socket.SOCK_STREAM:
                server.listen()
            yield World(str(server.getsockname()[1]), lambda: heard(server, kind))

    return world


def unix_listener(kind: socket.SocketKind, abstract: bool) -> WorldOf:
    @contextlib.contextmanager
    def world(_: Sandbox | None, __: Environment) -> Iterator[World]:
        with tempfile.TemporaryDirectory(prefix="outside-") as folder, socket.socket(socket.AF_UNIX, kind) as server:
            Path(folder).chmod(0o755)
            name = f"outside-{secrets.token_hex(4)}" if abstract else f"{folder}/socket"
            server.bind(f"\0{name}" if abstract else name)
            if kind is socket.SOCK_STREAM:
                server.listen()
            if not abstract:
                Path(name).chmod(0o777)
            yield World(name, lambda: heard(server, kind))

    return world


def heard(server: socket.socket, kind: socket.SocketKind) -> bool:
    server.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        if kind is socket.SOCK_STREAM:
            server.accept()[0].close()
        else:
            server.recv(1)
        return True
    return False


@contextlib.contextmanager
def victim(_: Sandbox | None, __: Environment) -> Iterator[World]:
    """A process of the host with a secret in its variables and on its command line; reached if it dies."""
    program = "import time; print('ready', flush=True); time.sleep(120)"
    argv = [sys.executable, "-c", program, SECRET]
    with subprocess.Popen(argv, env={"KEY": SECRET}, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield World(str(process.pid), lambda: process.poll() is not None)
        finally:
            process.kill()


@contextlib.contextmanager
def leavings(_: Sandbox | None, __: Environment) -> Iterator[World]:
    """A word on the command line of whatever is left; reached if any process is there a moment after the run."""
    word = secrets.token_hex(8)

    def left() -> list[psutil.Process]:
        return [process for process in psutil.process_iter(["cmdline"]) if word in (process.info["cmdline"] or [])]

    def reached() -> bool:
        time.sleep(0.2)
        return bool(left())

    try:
        yield World(word, reached)
    finally:
        for process in left():
            process.send_signal(signal.SIGKILL)


@contextlib.contextmanager
def open_descriptor(_: Sandbox | None, __: Environment) -> Iterator[World]:
    """A file that we hold open, for children to inherit."""
    with tempfile.TemporaryFile("w+") as file:
        file.write(SECRET)
        file.flush()
        os.set_inheritable(file.fileno(), True)
        yield World(SECRET)


@contextlib.contextmanager
def setuid_program(_: Sandbox | None, __: Environment) -> Iterator[World]:
    """A program that belongs to root and is run as root, whoever starts it; it can be seen inside."""
    with tempfile.TemporaryDirectory(prefix="outside-") as folder:
        Path(folder).chmod(0o755)
        program = Path(folder, "id")
        shutil.copy(shutil.which("id") or "/usr/bin/id", program)
        program.chmod(0o4755)
        yield World(str(program), read=(Path(folder),))
