"""What a run left in the lake stays with it, whatever becomes of the lake."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.deferred import defer
from pipeline.lake.pinned_versions import PINS, is_behind, is_pinned, pin, pinned_lake, unpin, vacuum_lake
from pipeline.lake.runner import StageStates, last_counts, reject_rows
from pipeline.lake.stage import Reject
from pipeline.lake.tables import Lake
from tests.lake.test_deferred import release

REJECT = Reject("2.0", RejectReason.WRONG_HASH, "")
STATE = {"fingerprint": "f", "outputs": {}, "seen": 1}
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def rows(*versions: str) -> list[Any]:
    return [release("demo", version) for version in versions]


def test_a_pinned_lake_is_as_it_was(tmp_path: Path) -> None:
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "runs" / "one"
    lake.write("releases", "demo", rows("1.0"))
    StageStates(lake, "demo").write("crawl", STATE)
    assert pin(lake, ["demo", "never-crawled"], folder, None) == ["demo"]
    lake.write("releases", "demo", rows("1.0", "1.1"))
    lake.write("releases", "other", [release("other", "1.0")])
    lake.write("usages", "demo", [])
    pinned = pinned_lake(folder, lake)
    assert [row["version"] for row in pinned.read("releases", "demo")] == ["1.0"]
    assert pinned.libraries("releases") == ["demo"]
    assert not pinned.files("usages", "demo")
    assert [count.stage for count in last_counts(pinned, "demo")] == ["crawl"]
    pin(lake, ["demo"], folder, None)
    assert len(pinned_lake(folder, lake).read("releases", "demo")) == 2
    unpin(folder)
    assert pinned_lake(folder, lake) is lake


@pytest.mark.parametrize("text", ["", "{", "[]", '{"versions": {}}'])
def test_damaged_pins_count_as_none(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Publishing pins again what the lake has of the time of the run."""
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "runs" / "one"
    lake.write("releases", "demo", rows("1.0"))
    pin(lake, ["demo"], folder, None)
    (folder / PINS).write_text(text)
    assert not is_pinned(folder)
    assert pinned_lake(folder, lake) is lake
    assert vacuum_lake(lake, tmp_path / "runs", 1) == 0
    assert f"{PINS} was damaged" in caplog.text


def test_what_is_written_beside_pinned_versions_leaves_the_lake_alone(tmp_path: Path) -> None:
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "runs" / "one"
    lake.write("releases", "demo", rows("1.0"))
    lake.write("rejects", "demo", reject_rows("acceptance", "demo", [REJECT]), part="acceptance")
    lake.write("rejects", "demo", reject_rows("crawl", "demo", [REJECT]), part="crawl")
    pin(lake, ["demo"], folder, None)
    pinned = pinned_lake(folder, lake)
    pinned.write("releases", "demo", rows("1.0", "1.1"))
    pinned.write("rejects", "demo", [], part="acceptance")
    for again in (pinned, pinned_lake(folder, lake)):
        assert len(again.read("releases", "demo")) == 2
        assert [row["stage"] for row in again.read("rejects", "demo")] == ["crawl"]
    assert len(Lake(lake.root).read("releases", "demo")) == 1
    assert len(Lake(lake.root).read("rejects", "demo")) == 2
    unpin(folder)
    assert not list(folder.iterdir())


def test_vacuum_leaves_what_is_pinned_and_what_is_there_now(tmp_path: Path) -> None:
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "runs" / "one"
    for number in range(30):  # more than a checkpoint
        lake.write("releases", "demo", rows(f"1.{number}"))
        if number == 7:
            pin(lake, ["demo"], folder, None)
    (lake.root / "releases" / "library=demo" / "of-a-killed-process.parquet").write_bytes(b"")
    age(lake.root)
    assert vacuum_lake(lake, tmp_path / "runs", 1e-9) == 29  # 28 versions, and the file that no version names
    assert [row["version"] for row in pinned_lake(folder, lake).read("releases", "demo")] == ["1.7"]
    assert [row["version"] for row in Lake(lake.root).read("releases", "demo")] == ["1.29"]
    commits = len(list(lake.root.glob("releases/_delta_log/*.json")))
    unpin(folder)
    vacuum_lake(lake, tmp_path / "runs", 1e-9)
    assert len(list(lake.root.glob("releases/library=*/*.parquet"))) == 1
    assert len(list(lake.root.glob("releases/_delta_log/*.json"))) < commits
    assert [row["version"] for row in Lake(lake.root).read("releases", "demo")] == ["1.29"]


def age(root: Path) -> None:
    for path in root.rglob("*"):
        os.utime(path, (0, 0))


def test_a_library_that_is_ahead_of_the_run_is_left_out(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.write("releases", "demo", [*rows("1.0"), release("demo", "2.0") | {"release_time": JUNE}])
    lake.write("releases", "other", [release("other", "1.0")])
    assert pin(lake, ["demo", "other"], tmp_path / "run", JUNE) == ["other"]


def test_a_library_that_is_behind_the_run_is_left_out(tmp_path: Path) -> None:
    """A backfill came last: what was released since is deferred, and a later snapshot must not be without it."""
    lake, known = Lake(tmp_path / "lake"), [*rows("1.0"), release("demo", "2.0")]
    lake.write("releases", "demo", known)
    defer(lake, "releases", "demo", known, known[:1])
    lake.write("releases", "demo", known[:1])
    new_year = known[1]["release_time"]
    assert [is_behind(lake, "demo", time) for time in (new_year, JUNE, None)] == [False, True, True]
    assert pin(lake, ["demo"], tmp_path / "run", new_year) == ["demo"]
    assert pin(lake, ["demo"], tmp_path / "run", JUNE) == []
    # Nothing was kept, and the lake of now does not stand in for it.
    assert pinned_lake(tmp_path / "run", lake).libraries("releases") == []
    lake.write("rejects", "demo", reject_rows("crawl", "demo", [REJECT]), part="crawl")
    assert not is_behind(lake, "demo", JUNE)
