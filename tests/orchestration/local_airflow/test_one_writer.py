"""A local Airflow that several write to at once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.orchestration.local_airflow.client import AirflowError, Client
from pipeline.orchestration.local_airflow.home import Server
from pipeline.orchestration.local_airflow.one_writer import OneWriter
from pipeline.orchestration.local_airflow.server import down, free_port, up
from tests.errors import raises

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

DAG = """
from airflow.sdk import dag, task

@dag(schedule=None)
def many():
    @task
    def one(number):
        return number

    one.expand(number=list(range(12)))

many()
"""


class Seen:
    """An application that takes its time, and what was under way in it at once."""

    def __init__(self) -> None:
        self.under_way: set[str] = set()
        self.together: list[set[str]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = f"{scope['method']} {scope['path']}"
        self.under_way.add(name)
        self.together.append(set(self.under_way))
        await asyncio.sleep(0.05)
        self.under_way.remove(name)


def together(*requests: str) -> int:
    """Return how many of the requests, begun one shortly after the other, were under way at the same time."""
    seen = Seen()
    server = OneWriter(seen)

    async def ask(place: int, method: str, path: str) -> None:
        await asyncio.sleep(place / 100)
        await server({"type": "http", "method": method, "path": path}, None, None)  # type: ignore[arg-type]

    async def ask_all() -> None:
        await asyncio.gather(*(ask(place, *request.split()) for place, request in enumerate(requests)))

    asyncio.run(ask_all())
    assert len(seen.together) == len(requests)
    return max(map(len, seen.together))


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (("POST /api/v2/pools", "PATCH /execution/task-instances/1/run"), 1),
        (("DELETE /api/v2/pools/1", "POST /auth/token", "PUT /ui/one"), 1),
        (("POST /api/v2/pools", "GET /api/v2/dags"), 1),  # who reads may have to write first
        (("GET /api/v2/dags", "POST /api/v2/pools"), 2),  # and may follow a log for hours
        (("GET /api/v2/dags", "GET /api/v2/pools", "HEAD /ui/one"), 3),
        (("POST /driftline-review/decide", "PATCH /execution/task-instances/1/run"), 2),
    ],
)
def test_one_writes_at_a_time(requests: tuple[str, ...], expected: int) -> None:
    assert together(*requests) == expected


def test_who_fails_makes_room() -> None:
    calls = []

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        calls.append(scope["path"])
        raise OSError

    async def ask_twice() -> None:
        server = OneWriter(broken)
        for path in ("/api/1", "/api/2"):
            with pytest.raises(OSError):  # noqa: PT011 - the one raised above
                await server({"type": "http", "method": "POST", "path": path}, None, None)  # type: ignore[arg-type]

    asyncio.run(asyncio.wait_for(ask_twice(), 5))
    assert calls == ["/api/1", "/api/2"]


def test_a_server_that_says_nothing_is_named_with_its_log(tmp_path: Path) -> None:
    server = Server(tmp_path, free_port())
    server.passwords.write_text(json.dumps({"admin": "secret"}))
    with raises(AirflowError, "POST", "auth/token", "api-server.log", code="airflow_no_answer"):
        Client(server)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Airflow with one DAG of many short tasks."""
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "many.py").write_text(DAG)
    usual = Server.environment
    own = {"AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags")}
    monkeypatch.setattr(Server, "environment", lambda server: usual(server) | own)
    yield up(tmp_path / "airflow", free_port(), print, scheduled=False)
    down(tmp_path / "airflow")


@pytest.mark.slow(minutes=1)
def test_people_and_tasks_write_at_once(server: Server) -> None:
    """Without one writer at a time this stands still for a minute within the first seconds."""
    run = Client(server).trigger("many", {})
    until = time.monotonic() + 20

    def write(place: int) -> int:
        client, written = Client(server), 0
        while time.monotonic() < until:
            client.call("POST", "pools", {"name": f"{place}-{written}", "slots": 1, "description": ""})
            written += 1
        return written

    with ThreadPoolExecutor(4) as threads:
        assert min(threads.map(write, range(4))) > 0
    *_, (state, tasks) = Client(server).follow("many", run)
    assert (state, Counter(task["state"] for task in tasks)) == ("success", Counter(success=12))


@pytest.mark.parametrize(("address", "expected"), [({}, 1), ({"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_SECRET": "a"}, 0)])
def test_another_database_has_many_writers(address: dict[str, str], expected: int, tmp_path: Path) -> None:
    program = "from pipeline.orchestration.local_airflow.plugin import LocalAirflowPlugin as p; print(len(p.fastapi_root_middlewares))"
    usual = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW__DATABASE__")}
    environment = usual | {"AIRFLOW_HOME": str(tmp_path)} | address
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.split()[-1:] == [str(expected)], done.stderr
