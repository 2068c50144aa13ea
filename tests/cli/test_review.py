"""`driftline review`: it says where it listens, lets in whoever has the address, and ends on Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from pipeline.core.settings import PROJECT
from tests.cli.command import Driftline


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    environment = os.environ | {"DRIFTLINE_DATA": str(tmp_path), "PYTHONPATH": str(PROJECT), "PYTHONUNBUFFERED": "1"}
    command = [
        sys.executable,
        "-c",
        "from pipeline.cli.main import main; main()",
        "review",
        "--port",
        "0",
        "--name",
        "ada",
    ]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            address = server.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address), server.stderr.read()
            session = requests.Session()
            session.trust_env = False
            page = session.get(address, timeout=20)
            assert page.status_code == 200
            assert "token=" not in page.url
            assert "No sample is in the queue" in page.text
            assert requests.get(address.split("?")[0], timeout=20).status_code == 401
        finally:
            server.send_signal(signal.SIGINT)
            _, told = server.communicate(timeout=30)
    assert "Traceback" not in told
    assert "token" not in told, "what is asked for is not logged"
    assert "0 samples wait for a decision (0 new, 0 reopened, 0 removed)" in told


@pytest.mark.parametrize("name", ["", "  ", "a" * 201])
def test_a_name_that_is_none(driftline: Driftline, data: Path, name: str) -> None:
    result = driftline("review", "--name", name)
    assert result.status == 2
    assert "1 to 200 characters" in result.err


def test_a_port_that_is_taken(driftline: Driftline, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = driftline("review", "--port", taken.getsockname()[1])
    assert result.status == 2
    assert "choose another with --port" in result.err


@pytest.mark.parametrize("address", ["nonsense", "mysql://localhost/x", "sqlite:////proc/nothing/reviews.sqlite"])
def test_a_database_that_cannot_be_used(
    driftline: Driftline, data: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DRIFTLINE_REVIEWS", address)
    result = driftline("review")
    assert result.status in {1, 2}
    assert result.err.startswith("error:")
