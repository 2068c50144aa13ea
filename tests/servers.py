"""A PostgreSQL and a Redis of our own on loopback, from what the system has installed; without it the test is skipped."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.orchestration.local_airflow.server import free_port


def as_server(*command: object) -> None:
    """Run a program of PostgreSQL, which does not run as root."""
    before = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
    subprocess.run([*before, *map(str, command)], check=True, capture_output=True, timeout=120)


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a server that ends with the block, and return its address without a driver and the name of a database."""
    pytest.importorskip("psycopg")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("pg_ctl", path=os.pathsep.join([*map(str, programs), os.environ["PATH"]]))
    if found is None:
        pytest.skip("no PostgreSQL is installed (Debian: postgresql)")
    # Not below pytest's folders, which are root's alone.
    folder = Path(tempfile.mkdtemp(prefix="driftline-postgresql-"))
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    port = free_port()
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        as_server(found, "initdb", "-D", folder / "data", "-o", "-A trust -U postgres")
        as_server(found, "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}"
        finally:
            as_server(found, "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run a server that ends with the block, and return its address."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no Redis is installed (Debian: redis-server)")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        until_listening(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


def until_listening(port: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on {port}")
