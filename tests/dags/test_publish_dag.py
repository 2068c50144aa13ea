"""The DAG `publish` in a real Airflow: started by the asset, held by a release check, approved and refused by people."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from pipeline.cli.airflow import waits_for_person
from pipeline.core.rules.load import RULES
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.release_checks import PublicationState
from pipeline.lake.runner import write_json
from pipeline.lake.tables import Lake
from pipeline.orchestration.local_airflow.client import Client
from pipeline.orchestration.local_airflow.server import running
from pipeline.orchestration.publishing.finish_refresh import FINISHED
from pipeline.orchestration.publishing.publish_snapshot import publication_of
from pipeline.orchestration.refresh import Refresh, begin
from pipeline.orchestration.report.source import PAGE
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.publication import Publication
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import fill, tables
from tests.snapshots.test_publishing import limits, open_limits

DRIFTLINE = str(Path(sys.executable).parent / "driftline")
LAKE = "driftline_lake"


@dataclass(frozen=True)
class World:
    """A running Airflow over a small lake, with release checks that a test may change."""

    client: Client
    lake: Lake
    rules: Path
    data: Path

    def refreshed(self, run: str) -> Refresh:
        """Tell Airflow of the end of a refresh, as the DAG `refresh` does."""
        refresh = Refresh(run, libraries=(LIBRARY,))
        begin(refresh)
        (asset,) = self.client.call("GET", f"assets?name_pattern={LAKE}")["assets"]
        event = {"asset_id": asset["id"], "extra": refresh.plain, "partition_key": run}
        self.client.call("POST", "assets/events", event)
        return refresh

    def run_of(self, refresh: Refresh) -> str:
        """The run of `publish` that the end of a refresh has started."""
        started = until(lambda: [run["dag_run_id"] for run in self.runs() if run["partition_key"] == refresh.run])
        return str(started[0])

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.call("GET", "dags/publish/dagRuns")["dag_runs"]
        return found

    def end_of(self, run: str) -> dict[str, str]:
        """How the tasks of a run ended, and under "" the run itself."""
        states: dict[str, str] = {}
        for state, tasks in self.client.follow("publish", run):
            states = {task["task_id"]: str(task["state"]) for task in tasks} | {"": state}
        return states

    def asked(self, run: str) -> dict[str, Any]:
        """What a person is asked by a run that waits."""
        request: dict[str, Any]
        (request,) = until(lambda: self.client.open_requests("publish"))
        assert request["task_instance"]["dag_run_id"] == run
        # Airflow 3.3 takes the end of the process that asked for the end of one that goes on at once: nobody is that fast.
        until(lambda: self._has_ended("approval", run))
        return request

    def _has_ended(self, task: str, run: str) -> bool:
        """Whether the scheduler has noticed that the process of a task ended."""
        ended = f"for task instance TaskInstanceKey(dag_id='publish', task_id='{task}', run_id='{run}'"
        return ended in self.client.server.log("scheduler").read_text()

    def answers(self, who: str, run: str, option: str, note: str) -> int:
        """Let somebody answer; returns the status."""
        url = self.client.server.url
        password = json.loads(self.client.server.passwords.read_text())[who]
        token = requests.post(f"{url}/auth/token", json={"username": who, "password": password}, timeout=60)
        path = f"dags/publish/dagRuns/{quote(run, safe='')}/taskInstances/approval/-1/hitlDetails"
        return requests.patch(
            f"{url}/api/v2/{path}",
            json={"chosen_options": [option], "params_input": {"note": note}},
            headers={"Authorization": f"Bearer {token.json()['access_token']}"},
            timeout=60,
        ).status_code

    @property
    def latest(self) -> Path | None:
        return latest(self.data / "snapshots", "starter")


def until(look: Any, seconds: float = 120) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(1)
    raise AssertionError("it did not come")


def publication(refresh: Refresh) -> Publication:
    found = publication_of(refresh)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("publish")
    shutil.copytree(RULES, folder / "rules")
    open_limits(folder / "rules")
    # Parsed once: who may answer, and for how long nobody else comes before them (longer than it takes to answer here).
    limits(folder / "rules", "users: [], gives_way_after_h: 24", "users: [ada], gives_way_after_h: 0.0125")
    own = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "DRIFTLINE_AIRFLOW_HOME": str(folder / "airflow"),
        "DRIFTLINE_DATA": str(folder / "data"),
        "DRIFTLINE_RULES": str(folder / "rules"),
        "DRIFTLINE_INDEX_URL": "http://127.0.0.1:1/simple",
        "DRIFTLINE_SCHEDULE": "off",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,ada:op,vera:op",
    }
    with pytest.MonkeyPatch.context() as environment:
        for name, value in own.items():
            environment.setenv(name, value)
        up = [DRIFTLINE, "airflow", "up", "--port", "0"]
        started = subprocess.run(up, env=os.environ, capture_output=True, text=True, timeout=300, check=False)
        assert started.returncode == 0, started.stderr
        try:
            server = running(folder / "airflow")
            assert server is not None
            client = Client(server)
            until(lambda: client.session.get(f"{server.url}/api/v2/dags/publish", timeout=60).ok, 180)
            yield World(client, fill(folder / "data" / "lake", tables()), folder / "rules", folder / "data")
        finally:
            subprocess.run([DRIFTLINE, "airflow", "down"], env=os.environ, timeout=120, check=True)


@pytest.mark.slow(minutes=1)
def test_publishing_from_the_end_of_a_refresh_to_the_pointer(world: World) -> None:
    """Not needed, approved, refused, overtaken, held: all on one Airflow, since starting one takes the longest."""
    free = world.refreshed("free")
    run = world.run_of(free)
    assert world.end_of(run) == {
        "": "success",
        "candidate": "success",
        "approval": "success",
        "place": "success",
        "report_outcome": "success",
    }
    first = world.latest
    assert first is not None
    assert publication(free).state == PublicationState.PUBLISHED
    assert (free.folder / PAGE).is_file()

    limits(world.rules, "unreviewed: {hold_above: 1}", "unreviewed: {approval_above: 0}")
    world.lake.write("usages", LIBRARY, [])
    approved = world.refreshed("approved")
    run = world.run_of(approved)
    waits = waits_for_person(world.client, run)
    assert waits is not None
    assert f"a person has to answer at {world.client.server.url}/required_actions" in waits
    assert run in waits
    request = world.asked(run)
    assert request["subject"] == f"Publish {first.name}?"
    assert "unreviewed (all families)" in request["body"]
    assert f"({world.client.server.url}/driftline-review/?status=pending)" in request["body"]
    assert f"({world.client.server.url}/driftline-report/approved)" in request["body"]
    assert world.latest == first
    assert publication(approved).state == PublicationState.WAITING
    assert world.answers("vera", run, "Approve", "not asked") == 403
    assert world.answers("ada", run, "Approve", "looked at all of them") == 200
    states = world.end_of(run)
    assert (states["approval"], states["place"], states[""]) == ("success", "success", "success")
    second = world.latest
    assert second is not None
    assert second.name == f"{first.name}.r2"
    signature = publication(approved).signature
    assert signature is not None
    assert (signature.signer, signature.approved, signature.note) == ("ada", True, "looked at all of them")

    world.lake.write("documents", LIBRARY, [])
    refused = world.refreshed("refused")
    run = world.run_of(refused)
    world.asked(run)
    assert world.answers("ada", run, "Reject", "the documents are gone") == 200
    states = world.end_of(run)
    assert (states["approval"], states["place"], states["report_outcome"]) == ("success", "skipped", "skipped")
    assert world.latest == second
    assert publication(refused).reason == "ada refused to sign it off: the documents are gone; `latest` stays as it was"

    overtaken = world.refreshed("overtaken")
    run = world.run_of(overtaken)
    world.asked(run)
    newer = Refresh("newer", libraries=(LIBRARY,))
    begin(newer)
    write_json(newer.folder / FINISHED, {})
    states = world.end_of(run)
    assert (states["approval"], states["place"], states["report_outcome"]) == ("success", "skipped", "skipped")
    assert world.latest == second
    assert publication(overtaken).state == PublicationState.SUPERSEDED
    assert "when the run newer left a newer lake" in publication(overtaken).reason

    limits(world.rules, "lost: {hold_above: 1}", "lost: {hold_above: 0.5}")
    world.lake.write("published_migrations", LIBRARY, [])
    held = world.refreshed("held")
    run = world.run_of(held)
    states = world.end_of(run)
    assert (states["candidate"], states["approval"], states["report_outcome"], states[""]) == (
        "failed",
        "upstream_failed",
        "failed",
        "failed",
    )
    assert world.latest == second
    log = world.client.call(
        "GET", f"dags/publish/dagRuns/{quote(run, safe='')}/taskInstances/report_outcome/logs/1?full_content=true"
    )
    assert "is held back" in json.dumps(log)
    assert "lost (migrations of" in json.dumps(log)
    assert "migrations of" in (held.folder / PAGE).read_text()


def test_the_dag_file_stays_wiring() -> None:
    text = (PROJECT / "dags" / "publish.py").read_text()
    assert len(text.splitlines()) < 160
    top = [line for line in text.splitlines() if line.startswith(("import ", "from ")) and "pipeline" in line]
    assert {line.split()[1] for line in top} == {
        "pipeline.orchestration.alerts.notifier",
        "pipeline.orchestration.alerts.outcome",
        "pipeline.orchestration.publishing.approval",
    }
