"""A cluster as `deploy/` has it, with real servers: a worker is killed in the middle, and nothing is lost or twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from pipeline.core.settings import PROJECT
from pipeline.lake.run_records import read_record
from pipeline.lake.runner import StageStates
from pipeline.lake.schema import table, table_names
from pipeline.lake.tables import Lake
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.deploy.cluster import Cluster, Worker, running, tasks_of
from tests.deploy.runs import PATIENCE_S, STORE_SETTINGS, ended, known, look_into, start_refresh, state_of, until
from tests.index_server import Index, serve

pytestmark = [pytest.mark.slow(minutes=3), pytest.mark.soak]

# One release is enough for the worker beside; each more is made twice here, in the cluster and alone.
LIBRARIES = {"demo": ("1.0", "1.1", "1.2"), "other": ("1.0",)}
CONF = {"profile": "starter", "libraries": list(LIBRARIES), "since": "2020-12-01", "until": "2022-01-01"}


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with serve(Index()) as served:
        for library, releases in LIBRARIES.items():
            publish_demo(served, library, releases)
        yield served


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, index: Index) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster"), index.simple) as found:
        yield found


def test_who_has_not_signed_in_is_refused(cluster: Cluster) -> None:
    plain = requests.get(f"{cluster.page}/api/v2/dags", verify=cluster.certificate, timeout=60)
    assert plain.status_code == 401
    assert cluster.token("admin", "not-the-password").status_code == 401
    assert cluster.token("nobody", "anything").status_code == 401
    for page in ("driftline-review/", "driftline-report/some-run"):
        assert requests.get(f"{cluster.page}/{page}", verify=cluster.certificate, timeout=60).status_code == 401


def test_a_viewer_looks_and_does_not_start_anything(cluster: Cluster) -> None:
    viewer = cluster.signed_in("viewer")
    until(lambda: known(cluster, viewer, "refresh"), "the DAG is known")
    body = {"logical_date": None, "conf": CONF}
    assert viewer.post(f"{cluster.page}/api/v2/dags/refresh/dagRuns", json=body, timeout=60).status_code == 403
    assert viewer.get(f"{cluster.page}/api/v2/connections", timeout=60).status_code == 403
    assert viewer.get(f"{cluster.page}/driftline-review/", timeout=60).status_code == 200


def test_a_browser_signs_in_by_a_form_and_its_cookies_stay_with_tls(cluster: Cluster) -> None:
    browser = cluster.browser()
    page = browser.get(f"{cluster.page}/auth/login/", timeout=60)
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"]
    assert all(cookie.secure for cookie in browser.cookies)
    assert browser.cookies


def test_a_worker_killed_in_the_middle_loses_nothing_and_makes_nothing_twice(
    cluster: Cluster, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = cluster.signed_in("admin")
    there = tmp_path / "cluster"
    lake = look_into(cluster, there, monkeypatch)
    run = start_refresh(cluster, admin, CONF)

    killed = _kill_in_the_middle(cluster, admin, run, lake)
    # until the scheduler misses the dead worker there is time to do the same on one machine
    alone = _undisturbed(index, tmp_path / "alone")
    until(lambda: state_of(cluster, admin, "refresh", run) in ("success", "failed"), "the refresh ends")
    tasks = tasks_of(cluster, admin, "refresh", run)
    assert {task["state"] for task in tasks if task["task_id"].startswith("collect")} == {"success"}
    assert Counter(task["try_number"] for task in tasks if task["task_id"].startswith("collect"))[2] >= 1
    until(lambda: ended(cluster, admin, "publish"), "the snapshot is published")

    lake = look_into(cluster, there, monkeypatch)
    _is_the_same_lake(lake, Lake(alone / "lake"))
    ours, theirs = latest(there / "snapshots", "starter"), latest(alone / "snapshots", "starter")
    assert ours is not None
    assert theirs is not None
    assert verify(ours) == []
    assert (ours / "manifest.json").read_text() == (theirs / "manifest.json").read_text()
    assert [path.name for path in (there / "snapshots" / "starter").iterdir() if path.is_dir()] == [ours.name]
    _every_stage_counted_once(run)
    survivor = next(worker for worker in cluster.workers if worker is not killed)
    assert not (killed.data / "snapshots").exists()
    assert (survivor.data / "snapshots" / "starter" / ours.name / "manifest.json").is_file()


def _kill_in_the_middle(cluster: Cluster, session: requests.Session, run: str, lake: Lake) -> Worker:
    """Kill the worker that proves a library, when it has done a stage of the group and is at another one.

    It is paused before the second check: its task might end between a check and the kill.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for worker in cluster.workers:
            if _is_in_the_middle(worker, tasks_of(cluster, session, "refresh", run), run, lake):
                worker.pause()
                if _is_in_the_middle(worker, tasks_of(cluster, session, "refresh", run), run, lake):
                    worker.kill()
                    return worker
                worker.go_on()
        time.sleep(0.5)
    raise AssertionError("no library was proven")


def _is_in_the_middle(worker: Worker, tasks: list[dict[str, Any]], run: str, lake: Lake) -> bool:
    """Return whether a worker is at a task `prove` whose first stage is in the lake, and whose last one is not."""
    pids = {process.pid for process in worker.tree()}
    proving = [task for task in tasks if (task["task_id"], task["state"]) == ("collect.prove", "running")]
    for task in proving:
        if task["pid"] in pids:
            record = read_record(Refresh(run).folder)
            assert record is not None
            lake.refresh("stage_states")
            done = StageStates(lake, record.libraries[task["map_index"]]).all().keys()
            return GROUPS["prove"][0] in done and GROUPS["prove"][-1] not in done
    return False


def _undisturbed(index: Index, data: Path) -> Path:
    """Refresh the same on one machine, without Airflow, and return its data folder."""
    alone = {name: value for name, value in os.environ.items() if name not in STORE_SETTINGS}
    environment = alone | {"DRIFTLINE_DATA": str(data), "DRIFTLINE_INDEX_URL": index.simple}
    options = ["--libraries", ",".join(LIBRARIES), "--since", str(CONF["since"]), "--until", str(CONF["until"])]
    done = subprocess.run(
        [Path(sys.executable).with_name("driftline"), "refresh", *options, "--json"],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return data


def _is_the_same_lake(ours: Lake, theirs: Lake) -> None:
    for name in table_names():
        stable = [column.name for column in table(name).columns if not column.volatile]
        for library in LIBRARIES:
            assert bool(ours.files(name, library)) == bool(theirs.files(name, library)), (name, library)
            of_both = [
                [{column: row[column] for column in stable} for row in lake.read(name, library)]
                for lake in (ours, theirs)
            ]
            assert of_both[0] == of_both[1], (name, library)


def _every_stage_counted_once(run: str) -> None:
    """The run's folder, as the store has it, tells of each stage and library once."""
    counts = [json.loads(path.read_text()) for path in (Refresh(run).folder / "counts").glob("*.json")]
    assert counts
    assert max(Counter((count["library"], count["stage"]) for count in counts).values()) == 1
    assert {count["library"] for count in counts} == set(LIBRARIES)
    assert all(
        count["units_in"] == count["units_out"] + sum(count["rejected"].values()) + count["unchanged"]
        for count in counts
    )
