"""Runs of the DAGs on a cluster: begun, waited for, and what they left in the object store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from pipeline.core.settings import settings
from pipeline.lake.tables import Lake
from pipeline.snapshots.shared import fetch_snapshots
from tests.deploy.cluster import Cluster, tasks_of

PATIENCE_S = 1_200
# What a machine has to have in its environment to reach the lake of a cluster.
STORE_SETTINGS = (
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_DEFAULT_REGION",
    "DRIFTLINE_LAKE",
)


def until(answer: Callable[[], object], what: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if answer():
            return
        time.sleep(1)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def known(cluster: Cluster, session: requests.Session, dag: str) -> bool:
    return session.get(f"{cluster.page}/api/v2/dags/{dag}", timeout=60).status_code == 200


def start_refresh(cluster: Cluster, session: requests.Session, conf: Mapping[str, Any]) -> str:
    """Trigger the DAG `refresh`, and return the name of the run."""
    until(lambda: known(cluster, session, "refresh"), "the DAG is known")
    body = {"logical_date": None, "conf": conf}
    asked = session.post(f"{cluster.page}/api/v2/dags/refresh/dagRuns", json=body, timeout=60)
    asked.raise_for_status()
    return str(asked.json()["dag_run_id"])


def state_of(cluster: Cluster, session: requests.Session, dag: str, run: str) -> str:
    answer = session.get(f"{cluster.page}/api/v2/dags/{dag}/dagRuns/{run}", timeout=60)
    return str(answer.json().get("state"))


def ended(cluster: Cluster, session: requests.Session, dag: str) -> bool:
    """Tell whether a run of a DAG went well; none may have failed."""
    runs = session.get(f"{cluster.page}/api/v2/dags/{dag}/dagRuns", timeout=60).json()["dag_runs"]
    states = [run["state"] for run in runs]
    assert "failed" not in states, tasks_of(cluster, session, dag, runs[0]["dag_run_id"])
    return "success" in states


def look_into(cluster: Cluster, there: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Be another machine of the cluster, with a folder that has the snapshots of the starter; return the lake of all."""
    for name in STORE_SETTINGS:
        monkeypatch.setenv(name, cluster.environment[name])
    monkeypatch.setenv("DRIFTLINE_DATA", str(there))
    fetch_snapshots("starter")
    return Lake(settings().lake_root)
