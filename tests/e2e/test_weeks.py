"""Weeks refreshed when they had just ended, and the same weeks later: the same rows, and work only for what is new."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pipeline.lake.tables import read_parquet
from pipeline.orchestration.publishing.finish_refresh import NotWhole
from pipeline.orchestration.refresh import Refresh, counts_of
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.verify import verify
from tests.errors import raises
from tests.index_server import Index, serve
from tests.weeks import PROFILE, World, bounds, manifests, publish_weeks, tables, write_rules

pytestmark = pytest.mark.slow(minutes=4)

WEEKS = 3


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with serve(Index()) as served:
        yield served


@pytest.fixture(scope="module")
def weekly(index: Index, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Weekly runs, each with the index as it was when its week had just ended."""
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
    idle = [count for count in counts_of(Refresh("week1")) if count.library == "other"]
    assert all(count.unchanged == count.units_in for count in idle)
    busy = {count.stage: count for count in counts_of(Refresh("week2")) if count.library == "demo"}
    assert busy["validation"].units_out > 0


def test_older_weeks_after_newer_ones_are_as_they_were(weekly: World, index: Index, tmp_path: Path) -> None:
    """The third week, then the first two, the third again, and back to the earlier ones."""
    world = World(tmp_path / "late", index, weekly.rules)
    was = manifests(weekly.data)
    first, second, third = sorted(was)
    newest = world.week(2)
    assert newest.name == third
    world.week(0)
    world.week(1)
    assert {name: manifests(world.data)[name] for name in (first, second)} == {n: was[n] for n in (first, second)}
    assert latest(world.data / "snapshots", PROFILE) == newest
    again = world.week(2, run="again")
    assert again.name == f"{third}.r2"
    assert tables(again) == tables(weekly.data / "snapshots" / PROFILE / third)
    # Back from a lake that holds all of these weeks: nothing of the later ones is left.
    assert world.week(0, run="back").name == first
    # Then a refresh of one library must not make a snapshot with the others as they were two weeks before.
    with raises(NotWhole, "demo", code="publishing_after_backfill"):
        world.week(2, run="some", libraries=("other",))
    assert world.week(1, run="forth").name == second
    assert manifests(world.data)[second] == was[second]
