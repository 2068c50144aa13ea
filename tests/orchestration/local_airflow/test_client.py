"""The REST API of a local Airflow on a machine that is busy."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from pipeline.orchestration.local_airflow import client as of_airflow
from pipeline.orchestration.local_airflow.client import AirflowError, Client
from pipeline.orchestration.local_airflow.home import Server
from tests.loopback import QuietServer, on_loopback


class Busy(BaseHTTPRequestHandler):
    """Answers the first GET too late, and refuses the second."""

    requests: list[str]

    def do_POST(self) -> None:
        self.requests.append(self.path)
        if self.path != "/auth/token":
            time.sleep(1)
        self._answer(200, {"access_token": "one"})

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if len(self.requests) == 2:
            time.sleep(1)
        self._answer(503 if len(self.requests) == 3 else 200, {"state": "running"})

    def _answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


def test_a_late_page_is_requested_again_but_nothing_is_started_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[str] = []
    web = QuietServer(("127.0.0.1", 0), type("OneBusy", (Busy,), {"requests": requests}))
    server = Server(tmp_path, web.server_port)
    server.passwords.write_text(json.dumps({"admin": "secret"}))
    monkeypatch.setattr(of_airflow, "ANSWER_S", 0.3)
    with on_loopback(web):
        client = Client(server)
        assert client.call("GET", "dags/refresh") == {"state": "running"}
        assert requests == ["/auth/token", *["/api/v2/dags/refresh"] * 3]
        with pytest.raises(AirflowError):
            client.call("POST", "dags/refresh/dagRuns", {})
        assert requests.count("/api/v2/dags/refresh/dagRuns") == 1
