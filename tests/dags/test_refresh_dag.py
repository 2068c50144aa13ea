"""The refresh DAG in a real Airflow: loaded, run in one process, and run by scheduler, executor and API server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
import requests

from pipeline.airflow import Client, running
from pipeline.lake import read_parquet
from pipeline.publish import latest, verify
from pipeline.settings import PROJECT
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

RUN = """
import json, sys
from airflow.utils.db import initdb
initdb()
from airflow.dag_processing.dagbag import DagBag
dag = DagBag().dags["refresh"]
run = dag.test(run_conf=json.loads(sys.argv[1]))
states = {f"{t.task_id}[{t.map_index}]": str(t.state) for t in run.get_task_instances()}
print(json.dumps({"state": str(run.state), "tasks": states}))
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
        "plan": ["collect.crawl", "collect.prove"],
        "collect.crawl": ["collect.prove"],
        "collect.prove": ["publish", "some_library_failed"],
        "publish": [],
        "some_library_failed": [],
    }
    assert loaded["pools"]["collect.crawl"] == "index"  # type: ignore[index]
    assert loaded["retries"]["collect.crawl"] == 2  # type: ignore[index]
    assert loaded["timetable"] == "CronDataIntervalTimetable"
    assert loaded["params"] == ["libraries", "profile", "since", "until"]


def test_the_dag_file_stays_wiring() -> None:
    lines = (PROJECT / "dags" / "refresh.py").read_text().splitlines()
    assert len(lines) < 110
    top_level = [line for line in lines if line.startswith(("import ", "from "))]
    assert not any("pipeline" in line for line in top_level)


def test_the_library_never_imports_airflow_but_for_plugins() -> None:
    offenders = [
        str(path)
        for path in (PROJECT / "pipeline").rglob("*.py")
        if path.name != "plugin.py"
        and any(line.startswith(("import airflow", "from airflow")) for line in path.read_text().splitlines())
    ]
    assert offenders == []


@pytest.mark.slow
def test_a_run_in_one_process_publishes_what_the_functions_publish(environment: dict[str, str]) -> None:
    # A run of dag.test() has the week before as its interval, in which nothing of 2021 was released.
    conf = {"profile": "starter", "libraries": ["demo", "nonesuch"], "since": "2020-12-01", "until": "2022-01-01"}
    result = python(RUN, environment, json.dumps(conf))
    assert result["state"] == "success"
    tasks = result["tasks"]
    assert isinstance(tasks, dict)
    assert {name: state for name, state in tasks.items() if "collect" in name} == {
        "collect.crawl[0]": "success",
        "collect.crawl[1]": "success",
        "collect.prove[0]": "success",
        "collect.prove[1]": "success",
    }
    assert (tasks["publish[-1]"], tasks["some_library_failed[-1]"]) == ("success", "skipped")
    snapshot = latest(Path(environment["DRIFTLINE_DATA"]) / "snapshots", "starter")
    assert snapshot is not None
    assert verify(snapshot) == []
    rejects = read_parquet(snapshot / "data" / "rejects.parquet")
    assert ("nonesuch", "no_such_library") in {(row["library"], row["reason"]) for row in rejects}


@pytest.fixture
def airflow(environment: dict[str, str], request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Airflow as `make up` starts it, and ended as `make down` ends it; the parameter is its schedule."""
    environment = environment | {"DRIFTLINE_SCHEDULE": request.param}
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


@pytest.mark.slow
@pytest.mark.parametrize("airflow", ["off"], indirect=True)
def test_up_refresh_and_down(airflow: dict[str, str]) -> None:
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
    first, second = (
        subprocess.run(command, env=airflow, capture_output=True, text=True, timeout=300, check=False) for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert second.returncode == 0, second.stderr
    before, after = json.loads(first.stdout), json.loads(second.stdout)
    assert before["snapshot"]["written"]
    assert not after["snapshot"]["written"]
    assert after["snapshot"]["manifest_sha256"] == before["snapshot"]["manifest_sha256"]
    assert {count["library"] for count in after["libraries"]} == {"demo", "other"}
    assert all(count["unchanged"] == count["seen"] for count in after["stages"])
    _report_is_a_tab_of_its_run(airflow, after["run"], after["report"])

    again = subprocess.run([DRIFTLINE, "airflow", "up"], env=airflow, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "runs already" in again.stderr

    processes = processes_of(home)
    assert len(processes) >= 3
    subprocess.run([DRIFTLINE, "airflow", "down"], env=airflow, timeout=120, check=True)
    assert [process for process in processes if process.is_running()] == []


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


@pytest.mark.slow
@pytest.mark.parametrize("airflow", ["0 3 * * 1"], indirect=True)
def test_a_schedule_gives_runs_over_whole_weeks(airflow: dict[str, str]) -> None:
    server = running(Path(airflow["AIRFLOW_HOME"]))
    assert server is not None
    deadline = time.monotonic() + 60
    runs: list[dict[str, str]] = []
    while not runs and time.monotonic() < deadline:
        runs = Client(server).call("GET", "dags/refresh/dagRuns")["dag_runs"]
        time.sleep(1)
    assert [run["run_type"] for run in runs] == ["scheduled"]
    start, end = (datetime.fromisoformat(runs[0][f"data_interval_{side}"]) for side in ("start", "end"))
    assert (end - start, start.weekday(), start.hour) == (timedelta(days=7), 0, 3)
    assert timedelta(0) <= datetime.now(UTC) - end < timedelta(days=7)


@pytest.mark.slow
@pytest.mark.parametrize("airflow", ["off"], indirect=True)
def test_a_library_that_fails_is_named_and_the_others_are_published(airflow: dict[str, str], index: Index) -> None:
    """A release whose archive vanished from the cache and the index makes its library's stage fail for good."""
    command = [DRIFTLINE, "airflow", "refresh", "--libraries", "demo,other", "--json"]
    locked = Path(airflow["DRIFTLINE_DATA"]) / "lake" / "symbols" / "library=other"
    locked.parent.mkdir(parents=True)
    locked.write_text("a file where a folder must be")
    done = subprocess.run(command, env=airflow, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 1
    assert "other: prove failed" in done.stderr
    summary = json.loads(done.stdout)
    assert summary["snapshot"]["rows"]["completions"] > 0
