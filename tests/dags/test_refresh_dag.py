"""The refresh DAG in a real Airflow: loaded, and run by scheduler, executor and API server."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
import requests

from pipeline.core.settings import PROJECT
from pipeline.lake.tables import read_parquet
from pipeline.orchestration.local_airflow.client import Client
from pipeline.orchestration.local_airflow.server import running
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.format.names import latest
from tests.demo_library import publish_demo
from tests.index_server import Index

DRIFTLINE = str(Path(sys.executable).parent / "driftline")

LOADED = """
import json
from airflow.dag_processing.dagbag import DagBag
bag = DagBag()
dag = bag.dags["refresh"]
print(json.dumps({
    "errors": {str(k): str(v) for k, v in bag.import_errors.items()},
    "tasks": {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks},
    "pools": {task.task_id: task.pool for task in dag.tasks},
    "retries": {task.task_id: task.retries for task in dag.tasks},
    "timetable": type(dag.timetable).__name__,
    "params": sorted(dag.params),
}))
"""


@pytest.fixture
def environment(tmp_path: Path, index: Index) -> dict[str, str]:
    publish_demo(index)
    publish_demo(index, "other")
    home = tmp_path / "airflow"
    return os.environ | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "DRIFTLINE_AIRFLOW_HOME": str(home),
        "DRIFTLINE_DATA": str(tmp_path / "data"),
        "DRIFTLINE_INDEX_URL": index.simple,
        "PYTHONDONTWRITEBYTECODE": "",
    }


def python(script: str, environment: Mapping[str, str], *arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_the_graph_is_what_the_picture_says(environment: dict[str, str]) -> None:
    loaded = python(LOADED, environment)
    assert loaded["errors"] == {}
    assert loaded["tasks"] == {
        "plan": [*sorted(f"collect.{group}" for group in GROUPS), "wait_for_turn"],
        "wait_for_turn": ["collect.crawl"],
        "collect.crawl": ["collect.read"],
        "collect.read": ["collect.analyse"],
        "collect.analyse": ["collect.build"],
        "collect.build": ["collect.prove"],
        "collect.prove": ["collect.assemble"],
        "collect.assemble": ["pin_lake", "report_failures"],
        "pin_lake": [],
        "report_failures": [],
    }
    assert loaded["pools"]["collect.crawl"] == "index"  # type: ignore[index]
    assert loaded["retries"]["collect.crawl"] == 2  # type: ignore[index]
    assert loaded["timetable"] == "CronDataIntervalTimetable"
    assert loaded["params"] == ["families", "libraries", "profile", "since", "sources", "until"]


def test_the_dag_file_stays_wiring() -> None:
    lines = (PROJECT / "dags" / "refresh.py").read_text().splitlines()
    assert len(lines) < 190
    top_level = [line for line in lines if line.startswith(("import ", "from "))]
    light = tuple(
        f"from pipeline.orchestration.{module}"
        for module in ("alerts.", "run_parameters import ", "stages.groups import ")
    )
    assert not any("pipeline" in line for line in top_level if not line.startswith(light))


def test_the_library_never_imports_airflow_but_for_what_airflow_loads() -> None:
    """Its plugins, its executor, the notifier, and the task that asks a person."""
    offenders = [
        str(path)
        for path in (PROJECT / "pipeline").rglob("*.py")
        if path.name not in ("plugin.py", "approval.py", "executor.py")
        and path.parent.name != "alerts"
        and any(line.startswith(("import airflow", "from airflow")) for line in path.read_text().splitlines())
    ]
    assert offenders == []


@pytest.fixture
def airflow(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Airflow as `make up` starts it, without a schedule, and ended as `make down` ends it."""
    environment = environment | {"DRIFTLINE_SCHEDULE": "off"}
    started = subprocess.run(
        [DRIFTLINE, "airflow", "up", "--port", "0"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert started.returncode == 0, started.stderr
    yield environment
    subprocess.run([DRIFTLINE, "airflow", "down"], env=environment, timeout=120, check=True)


def processes_of(home: str) -> list[psutil.Process]:
    """The processes of a running Airflow with all their children; their own environment is hidden by setproctitle."""
    recorded = json.loads((Path(home) / "server.json").read_text())["processes"]
    roots = [psutil.Process(entry["pid"]) for entry in recorded]
    return [process for root in roots for process in [root, *root.children(recursive=True)]]


@pytest.mark.slow(minutes=2)
def test_up_refresh_and_down(airflow: dict[str, str]) -> None:
    """From up to down on one Airflow, since starting one takes the longest: a library fails, then none, then no news."""
    home = airflow["AIRFLOW_HOME"]
    listening = {
        connection.laddr.ip
        for process in processes_of(home)
        for connection in process.net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    status = subprocess.run([DRIFTLINE, "airflow", "status"], env=airflow, capture_output=True, text=True, check=True)
    page = requests.get(status.stdout.split()[-1], timeout=60)
    assert page.ok
    assert "text/html" in page.headers["Content-Type"]

    command = [DRIFTLINE, "airflow", "refresh", "--libraries", "demo,other", "--json"]
    run = _a_library_that_fails_is_named_and_the_others_are_published(airflow, command)
    manifest = _the_button_of_the_status_page_repeats_its_failures(airflow, run)
    second = subprocess.run(command, env=airflow, capture_output=True, text=True, timeout=1_200, check=False)
    assert second.returncode == 0, second.stderr
    after = json.loads(second.stdout)
    assert not after["snapshot"]["written"]
    assert after["snapshot"]["manifest_sha256"] == manifest
    assert {count["library"] for count in after["libraries"]} == {"demo", "other"}
    assert all(count["unchanged"] == count["units_in"] for count in after["stages"])
    _report_is_a_tab_of_its_run(airflow, after["run"], after["report"])
    _nothing_but_the_crawl_ran(airflow, after["run"])

    _a_run_that_cannot_be_planned_is_red_and_starts_nothing(airflow)

    again = subprocess.run([DRIFTLINE, "airflow", "up"], env=airflow, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "runs already" in again.stderr

    processes = processes_of(home)
    assert len(processes) >= 3
    subprocess.run([DRIFTLINE, "airflow", "down"], env=airflow, timeout=120, check=True)
    assert [process for process in processes if process.is_running()] == []


def _a_run_that_cannot_be_planned_is_red_and_starts_nothing(airflow: Mapping[str, str]) -> None:
    server = running(Path(airflow["AIRFLOW_HOME"]))
    assert server is not None
    client = Client(server)
    run = client.trigger("refresh", {"libraries": ["demo", "flasq"]})
    states: dict[str, str] = {}
    for state, tasks in client.follow("refresh", run):
        states = {task["task_id"]: str(task["state"]) for task in tasks} | {"": state}
    assert (states["plan"], states["pin_lake"], states["report_failures"]) == ("failed", "skipped", "failed")
    assert states[""] == "failed"
    path = f"dags/refresh/dagRuns/{quote(run, safe='')}/taskInstances/plan/logs/1?full_content=true"
    assert "libraries: the index does not know flasq" in json.dumps(client.call("GET", path))


def _nothing_but_the_crawl_ran(airflow: Mapping[str, str], run: str) -> None:
    server = running(Path(airflow["AIRFLOW_HOME"]))
    assert server is not None
    path = f"dags/refresh/dagRuns/{quote(run, safe='')}/taskInstances?limit=100"
    tasks = Client(server).call("GET", path)["task_instances"]
    states = {(task["task_id"], task["state"]) for task in tasks if task["task_id"].startswith("collect.")}
    assert states == {(f"collect.{group}", "skipped") for group in GROUPS}


def _report_is_a_tab_of_its_run(airflow: Mapping[str, str], run: str, page: str) -> None:
    server = running(Path(airflow["AIRFLOW_HOME"]))
    assert server is not None
    client = Client(server)
    views = [view for plugin in client.call("GET", "plugins")["plugins"] for view in plugin["external_views"]]
    (href,) = [view["href"] for view in views if view["destination"] == "dag_run"]
    address = f"{server.url}{href}".replace("{RUN_ID}", quote(run, safe=""))
    shown = client.session.get(address, timeout=60)
    assert shown.status_code == 200
    assert shown.text == Path(page).read_text()
    assert client.session.get(address + "x", timeout=60).status_code == 404
    assert requests.get(address, timeout=60).status_code == 401


def _a_library_that_fails_is_named_and_the_others_are_published(airflow: Mapping[str, str], command: list[str]) -> str:
    locked = Path(airflow["DRIFTLINE_DATA"]) / "lake" / "symbols" / "library=other"
    locked.parent.mkdir(parents=True)
    locked.write_text("a file where a folder must be")
    done = subprocess.run(command, env=airflow, capture_output=True, text=True, timeout=1_200, check=False)
    assert done.returncode == 1
    assert "other: read failed" in done.stderr
    summary = json.loads(done.stdout)
    assert summary["snapshot"]["rows"]["completions"] > 0
    locked.unlink()
    return str(summary["run"])


def _the_button_of_the_status_page_repeats_its_failures(airflow: Mapping[str, str], run: str) -> str:
    """Return the sha256 of the manifest of the snapshot that is published then."""
    server = running(Path(airflow["AIRFLOW_HOME"]))
    assert server is not None
    client = Client(server)
    address, about = f"{server.url}/driftline-report", {"run": run}
    page = client.session.get(f"{address}/status", params=about, timeout=60)
    assert "<td>other</td>" in page.text
    assert 'action="rerun?run=' in page.text
    assert requests.post(f"{address}/rerun", params=about, timeout=60).status_code == 401
    assert client.session.post(f"{address}/rerun", params=about, timeout=60).status_code == 403
    origin = {"Origin": server.url}
    assert (
        client.session.post(f"{address}/rerun", params={"run": "none"}, headers=origin, timeout=60).status_code == 409
    )
    pressed = client.session.post(f"{address}/rerun", params=about, headers=origin, timeout=60)
    assert pressed.status_code == 200, pressed.text
    assert 'action="rerun?run=' not in pressed.text  # the run goes on
    states = {}
    for state, tasks in client.follow("refresh", run):
        states = {task["task_id"]: task["state"] for task in tasks} | {"": state}
    assert (states["pin_lake"], states["report_failures"], states[""]) == ("success", "success", "success")
    deadline = time.monotonic() + 120
    published: set[str] = set()
    snapshot: Path | None = None
    while published != {"demo", "other"}:
        assert time.monotonic() < deadline, "nothing was published after the failures were run again"
        time.sleep(1)
        snapshot = latest(Path(airflow["DRIFTLINE_DATA"]) / "snapshots", "starter")
        assert snapshot is not None
        published = {row["library"] for row in read_parquet(snapshot / "data" / "completions.parquet")}
    assert snapshot is not None
    return hashlib.sha256((snapshot / "manifest.json").read_bytes()).hexdigest()
