"""GitHub's own recorded answers, replayed by the npm package @octokit/fixtures-server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
import requests
from filelock import FileLock

PACKAGE = "@octokit/fixtures-server@8.1.7"
TOKEN = f"{1:040}"
"""What tokens were replaced by in the recordings."""


def installed(folder: Path) -> Path:
    """Install the package into a folder, once, and return its server; without npm the test is skipped."""
    server = folder / "node_modules" / "@octokit" / "fixtures-server" / "bin" / "server.js"
    if not (shutil.which("npm") and shutil.which("node")):
        _without("npm and node are not on PATH: install Node.js to replay GitHub's recorded answers")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "done").exists():
            command = [
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
                str(folder),
                PACKAGE,
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                _without(f"npm could not install {PACKAGE}: {done.stderr.strip()[-300:]}")
            (folder / "done").touch()
    return server


def _without(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def replaying(server: Path) -> Iterator[str]:
    """Run the server on a free port of the loopback interface, and hand out its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = ["node", str(server), "--port", str(port), "--fixtures-url", url, "--log-level", "silent"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        try:
            if requests.get(f"{url}/ping", timeout=5).ok:
                return
        except requests.ConnectionError:
            assert process.poll() is None, "the server of recorded answers ended"
            time.sleep(0.1)
    raise TimeoutError(f"{url} does not answer")


def scenario(url: str, name: str) -> str:
    """Load a scenario, and return the address at which it is replayed, one request after the other."""
    loaded = requests.post(
        f"{url}/fixtures", json={"scenario": name}, headers={"Accept": "application/json"}, timeout=10
    )
    loaded.raise_for_status()
    return str(loaded.json()["url"])
