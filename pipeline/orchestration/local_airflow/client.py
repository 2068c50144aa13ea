"""A local Airflow driven over its REST API."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from pipeline.core.errors import CodedError
from pipeline.orchestration.local_airflow.home import Server

READY_S = 180.0
POLL_S = 1.0
MAX_POLLING_SHARE = 0.05
"""The share of its time that a run is asked about: every second, the server took 15% of a core to answer."""
ANSWER_S = 60.0
SLOW_PAGES = Retry(
    connect=3, read=5, status=5, status_forcelist=(502, 503, 504), allowed_methods=("GET",), backoff_factor=1
)
"""A page of a busy machine is asked for again: a question changes nothing, and an hour of work hangs on it."""


class AirflowError(CodedError, RuntimeError):
    """Airflow could not be started, or did not do what it was asked; the message says where its log is."""


class Client:
    """The REST API of a local Airflow, as its user `admin`."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(max_retries=SLOW_PAGES))
        user = "admin"
        password = json.loads(server.passwords.read_text())[user]
        token = self._send("POST", "auth/token", {"username": user, "password": password})
        self.session.headers["Authorization"] = f"Bearer {token['access_token']}"

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the API below /api/v2 and return its JSON.

        Errors: AirflowError with the status and what Airflow says, or with the log of a server that says nothing.
        """
        return self._send(method, f"api/v2/{path}", body)

    def _send(self, method: str, path: str, body: object) -> Any:
        answer = self._answer(method, path, body)
        if not answer.ok:
            raise AirflowError(
                f"{method} {path}: status {answer.status_code}: {answer.text[:300]}", code="airflow_refused"
            )
        return answer.json()

    def _answer(self, method: str, path: str, body: object = None) -> requests.Response:
        try:
            return self.session.request(method, f"{self.server.url}/{path}", json=body, timeout=ANSWER_S)
        except requests.RequestException as error:
            log = self.server.log("api-server")
            raise AirflowError(
                f"{method} {path}: Airflow gave no answer ({error}); its log is {log}", code="airflow_no_answer"
            ) from error

    def ensure_pool(self, name: str, slots: int, description: str) -> None:
        """Make a pool where it is not there yet; a number of slots that somebody changed stays."""
        pools = {pool["name"] for pool in self.call("GET", "pools?limit=100")["pools"]}
        if name not in pools:
            self.call("POST", "pools", {"name": name, "slots": slots, "description": description})

    def trigger(self, dag: str, conf: Mapping[str, object]) -> str:
        """Start a run of a DAG as soon as the DAG is known, and return its id."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            answer = self._answer("GET", f"api/v2/dags/{dag}")
            if answer.ok and not answer.json().get("is_paused"):
                run = self.call("POST", f"dags/{dag}/dagRuns", {"logical_date": None, "conf": dict(conf)})
                return str(run["dag_run_id"])
            time.sleep(POLL_S)
        raise AirflowError(
            f"Airflow does not know the DAG {dag}, or it is paused: see {self.server.log('dag-processor')}",
            code="airflow_dag_unknown",
        )

    def started_by(self, dag: str, run: str, task: str, other: str) -> str | None:
        """Return the run of another DAG that a run has started by the asset partition that a task of it told of.

        None where the task did not come to tell. The events of the asset are not asked: Airflow 3.3 answers 500 as long
        as the run that one has started waits for its turn.

        Errors: AirflowError where it has told, and no run begins.
        """
        answer = self.call("GET", f"dags/{dag}/dagRuns/{quote(run, safe='')}/taskInstances/{task}")
        if answer["state"] != "success":
            return None
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            runs = self.call("GET", f"dags/{other}/dagRuns?order_by=-id&limit=100")["dag_runs"]
            if started := [dag_run["dag_run_id"] for dag_run in runs if dag_run["partition_key"] == run]:
                return str(started[0])
            time.sleep(POLL_S)
        raise AirflowError(
            f"the run {run} of {dag} has started no run of {other}: is that DAG paused?", code="airflow_dag_not_started"
        )

    def open_requests(self, dag: str) -> list[dict[str, Any]]:
        """Return what people are asked to answer by runs of a DAG."""
        answer = self.call("GET", f"dags/{dag}/dagRuns/~/hitlDetails?response_received=false&state=awaiting_input")
        requests_: list[dict[str, Any]] = answer["hitl_details"]
        return requests_

    def follow(self, dag: str, run: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the state of a run and its task instances until the run has ended."""
        path = f"dags/{dag}/dagRuns/{quote(run, safe='')}"
        while True:
            start = time.monotonic()
            state = str(self.call("GET", path)["state"])
            tasks = self.call("GET", f"{path}/taskInstances?limit=1000")["task_instances"]
            answer_s = time.monotonic() - start
            yield state, tasks
            if state in ("success", "failed"):
                return
            time.sleep(max(POLL_S, answer_s / MAX_POLLING_SHARE))
