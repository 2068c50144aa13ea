"""Weeks refreshed when they had just ended, and the same weeks later: the same rows, and work only for what is new."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.lake.tables import read_parquet
from pipeline.orchestration.local_airflow.client import Client
from pipeline.orchestration.local_airflow.home import Server
from pipeline.orchestration.local_airflow.server import down, free_port, up
from pipeline.orchestration.publishing.finish_refresh import NotWhole
from pipeline.orchestration.refresh import Refresh, counts_of
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.verify import verify
from tests.errors import raises
from tests.index_server import Index, serve
from tests.weeks import PROFILE, START, bounds, manifests, publish_weeks, run_week, tables, write_rules

pytestmark = pytest.mark.slow(minutes=5)

WEEKS = 6
BACKFILLED = 2
"""Weeks that Airflow does again: with and without news of a library; each takes a minute of two cores."""


@dataclass
class World:
    """A data folder, and an index that both worlds share."""

    data: Path
    index: Index
    rules: Path

    @property
    def settings(self) -> dict[str, str]:
        """The environment of whatever works in this world."""
        return {
            "DRIFTLINE_INDEX_URL": self.index.simple,
            "DRIFTLINE_DATA": str(self.data),
            "DRIFTLINE_RULES": str(self.rules),
            "DRIFTLINE_PROFILE": PROFILE,
        }

    def week(self, week: int, run: str | None = None, libraries: tuple[str, ...] = ()) -> Path:
        with pytest.MonkeyPatch.context() as monkeypatch:
            for name, value in self.settings.items():
                monkeypatch.setenv(name, value)
            return run_week(week, run, libraries).path


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with serve(Index()) as served:
        yield served


@pytest.fixture(scope="module")
def weekly(index: Index, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Six weekly runs, each with the index as it was when its week had just ended."""
    root = tmp_path_factory.mktemp("weekly")
    world = World(root / "data", index, write_rules(root / "rules"))
    for week in range(WEEKS):
        publish_weeks(index, datetime.fromisoformat(bounds(week)[1]))
        world.week(week)
    publish_weeks(index)
    return world


def test_every_week_has_a_snapshot_that_ends_with_it(weekly: World) -> None:
    snapshots = sorted((weekly.data / "snapshots" / PROFILE).glob(f"{PROFILE}-*"))
    assert [path.name for path in snapshots] == [f"{PROFILE}-{bounds(week)[1][:10]}" for week in range(WEEKS)]
    for week, path in enumerate(snapshots):
        until = datetime.fromisoformat(bounds(week)[1])
        assert verify(path) == []
        assert all(row["release_time"] < until for row in read_parquet(path / "data" / "releases.parquet"))
    assert latest(weekly.data / "snapshots", PROFILE) == snapshots[-1]


def test_only_what_is_new_is_run_in_a_week(weekly: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(weekly.data))
    idle = [count for count in counts_of(Refresh("week2")) if count.library == "demo"]
    assert all(count.unchanged == count.units_in for count in idle)
    busy = {count.stage: count for count in counts_of(Refresh("week5")) if count.library == "demo"}
    assert busy["validation"].units_out > 0


def test_older_weeks_after_newer_ones_are_as_they_were(weekly: World, index: Index, tmp_path: Path) -> None:
    """The fourth week, then the first two, the last of those once more, the fourth again, and back to earlier ones."""
    world = World(tmp_path / "late", index, weekly.rules)
    was = manifests(weekly.data)
    first, second, third, fourth, *_ = sorted(was)
    newest = world.week(3)
    assert newest.name == fourth
    world.week(0)
    world.week(1)
    world.week(1, run="once more")
    assert {name: manifests(world.data)[name] for name in (first, second)} == {n: was[n] for n in (first, second)}
    assert latest(world.data / "snapshots", PROFILE) == newest
    again = world.week(3, run="again")
    assert again.name == f"{fourth}.r2"
    assert tables(again) == tables(weekly.data / "snapshots" / PROFILE / fourth)
    # Back from a lake that holds all of these weeks: nothing of the later one is left.
    assert world.week(1, run="back").name == second
    # Then a refresh of one library must not make a snapshot with the others as they were two weeks before.
    with raises(NotWhole, "demo", code="publishing_after_backfill"):
        world.week(3, run="some", libraries=("other",))
    assert world.week(2, run="forth").name == third
    assert manifests(world.data)[third] == was[third]


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
    last = START + timedelta(days=7 * (BACKFILLED - 1))
    dates = ["--from-date", f"{START:%Y-%m-%d}", "--to-date", f"{last + timedelta(days=1):%Y-%m-%d}"]
    command = ["airflow", "backfill", "create", "--dag-id", "refresh", *dates, "--max-active-runs", "1"]
    made = subprocess.run(command, env=server.environment(), capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    client = Client(server)
    deadline = time.monotonic() + 1800
    while len(manifests(late.data)) < BACKFILLED and time.monotonic() < deadline:
        time.sleep(2)
        runs = client.call("GET", "dags/refresh/dagRuns?run_type=backfill")["dag_runs"]
        assert "failed" not in {run["state"] for run in runs}
    assert [run["data_interval_end"][:10] for run in sorted(runs, key=lambda run: str(run["data_interval_end"]))] == [
        bounds(week)[1][:10] for week in range(BACKFILLED)
    ]
    assert list(manifests(late.data).items()) == list(manifests(weekly.data).items())[:BACKFILLED]
    # Beside them the schedule, which begins with the last whole week.
    scheduled = client.call("GET", "dags/refresh/dagRuns?run_type=scheduled")["dag_runs"]
    sides = [[datetime.fromisoformat(run[f"data_interval_{side}"]) for side in ("start", "end")] for run in scheduled]
    start, end = max(sides)
    assert (end - start, start.weekday(), start.hour) == (timedelta(days=7), 0, 3)
    assert timedelta(0) <= datetime.now(UTC) - end < timedelta(days=7)
