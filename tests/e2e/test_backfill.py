"""Weeks that Airflow's own command fills in later are as they were when they had just ended."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.orchestration.local_airflow.client import Client
from pipeline.orchestration.local_airflow.home import Server
from pipeline.orchestration.local_airflow.server import down, free_port, up
from tests.index_server import Index
from tests.weeks import START, World, bounds, manifests, publish_weeks, write_rules

pytestmark = pytest.mark.slow(minutes=5)

WEEKS = 2
"""With and without news of the library; each takes Airflow a minute of two cores."""


@pytest.fixture
def weekly(index: Index, tmp_path: Path) -> World:
    """Weekly runs, each with the index as it was when its week had just ended."""
    world = World(tmp_path / "weekly", index, write_rules(tmp_path / "rules", ["other"]))
    for week in range(WEEKS):
        publish_weeks(index, datetime.fromisoformat(bounds(week)[1]))
        world.week(week)
    publish_weeks(index)
    return world


@pytest.fixture
def late(weekly: World, index: Index, tmp_path: Path) -> World:
    """A world in which nothing was refreshed yet."""
    return World(tmp_path / "backfill", index, weekly.rules)


@pytest.fixture
def server(late: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Airflow as `make up` starts it, with its weekly schedule."""
    for name, value in late.settings.items():
        monkeypatch.setenv(name, value)
    home = tmp_path / "airflow"
    yield up(home, free_port(), print)
    down(home)


def test_a_backfill_by_airflows_own_command_gives_what_weekly_runs_gave(
    weekly: World, late: World, server: Server
) -> None:
    last = START + timedelta(days=7 * (WEEKS - 1))
    dates = ["--from-date", f"{START:%Y-%m-%d}", "--to-date", f"{last + timedelta(days=1):%Y-%m-%d}"]
    command = ["airflow", "backfill", "create", "--dag-id", "refresh", *dates, "--max-active-runs", "1"]
    made = subprocess.run(command, env=server.environment(), capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    client = Client(server)
    deadline = time.monotonic() + 1800
    while len(manifests(late.data)) < WEEKS and time.monotonic() < deadline:
        time.sleep(2)
        runs = client.call("GET", "dags/refresh/dagRuns?run_type=backfill")["dag_runs"]
        assert "failed" not in {run["state"] for run in runs}
    assert [run["data_interval_end"][:10] for run in sorted(runs, key=lambda run: str(run["data_interval_end"]))] == [
        bounds(week)[1][:10] for week in range(WEEKS)
    ]
    assert manifests(late.data) == manifests(weekly.data)
    # Beside them the schedule, which begins with the last whole week.
    scheduled = client.call("GET", "dags/refresh/dagRuns?run_type=scheduled")["dag_runs"]
    sides = [[datetime.fromisoformat(run[f"data_interval_{side}"]) for side in ("start", "end")] for run in scheduled]
    start, end = max(sides)
    assert (end - start, start.weekday(), start.hour) == (timedelta(days=7), 0, 3)
    assert timedelta(0) <= datetime.now(UTC) - end < timedelta(days=7)
