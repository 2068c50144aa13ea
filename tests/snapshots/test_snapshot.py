"""What was published stays; what is published again is the same, or a new revision; `latest` moves last."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.settings import PROJECT
from pipeline.core.versions import all_versions
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.index.release_selection import Period
from pipeline.lake.schema import table
from pipeline.lake.tables import Lake, read_parquet
from pipeline.snapshots import candidate
from pipeline.snapshots.comparison.comparison import compare_snapshots
from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.format.rows import TABLES, TAGGED, NothingToPublish, OutdatedTables
from pipeline.snapshots.verify import verify
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY, life
from tests.snapshots.lakes import candidates, contents, demo_lake, fill, publish, publish_lake, reject, tables


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return demo_lake(tmp_path / "lake")


def other_content(lake: Lake) -> None:
    lake.write("lifecycles", LIBRARY, [life("lib.other", "1.0", "1.1")])


def test_a_snapshot_holds_every_table_and_verifies(lake: Lake, tmp_path: Path) -> None:
    published = publish_lake(lake, tmp_path / "snapshots")
    manifest = read_manifest(published.path)
    assert verify(published.path) == []
    assert {entry.table for entry in manifest.files if entry.table} == set(TABLES.values())
    assert {entry.rows for entry in manifest.files if entry.table == "symbols"} == {2}
    assert all(published.rows[family] > 0 for family in INSTANCE_TABLES)
    assert all(published.rows[family] == sum(manifest.tags[family].values()) for family in TAGGED)
    assert manifest.libraries == {LIBRARY: len(tables()["releases"])}


def test_what_a_model_wrote_stands_with_what_rules_made_in_the_columns_that_both_have(
    lake: Lake, tmp_path: Path
) -> None:
    known = tables()
    written = {"drafter": "model", "model": "m", "prompt_sha256": "0" * 64, "tries": 1, "tokens": 9, "nano_usd": 1}
    lake.write("drafted_rewrites", LIBRARY, [known["rewrites"][0] | written | {"id": "by model"}])
    lake.write("drafted_verdicts", LIBRARY, [known["verdicts"][0] | {"id": "v", "subject_id": "by model"}])
    published = publish_lake(lake, tmp_path / "snapshots")
    assert verify(published.path) == []
    rewrites, verdicts = (
        read_parquet(published.path / "data" / f"{name}.parquet") for name in ("rewrites", "verdicts")
    )
    assert [row["id"] for row in rewrites if "tokens" not in row and row["id"] == "by model"] == ["by model"]
    assert len(rewrites) == len(known["rewrites"]) + 1
    assert {row["subject_id"] for row in verdicts} == {row["subject_id"] for row in known["verdicts"]} | {"by model"}


def test_the_same_is_not_written_again(lake: Lake, tmp_path: Path) -> None:
    first = publish_lake(lake, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first.path.rglob("*")}
    again = publish_lake(lake, tmp_path)
    assert (first.written, again.written) == (True, False)
    assert (again.path, again.manifest_sha256) == (first.path, first.manifest_sha256)
    assert {path: path.stat().st_mtime_ns for path in first.path.rglob("*")} == before


def test_the_same_lake_elsewhere_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = [publish_lake(fill(tmp_path / n / "lake", tables()), tmp_path / n / "snapshots").path for n in "ab"]
    assert contents(paths[0]) == contents(paths[1])


def test_other_content_becomes_a_revision_and_the_first_stays(lake: Lake, tmp_path: Path) -> None:
    first = publish_lake(lake, tmp_path)
    before = contents(first.path)
    other_content(lake)
    second = publish_lake(lake, tmp_path)
    assert second.path.name == f"{first.path.name}.r2"
    assert contents(first.path) == before
    assert latest(tmp_path, "mine") == second.path
    third = publish_lake(lake, tmp_path, rules="other rules")
    assert third.path.name == f"{first.path.name}.r3"
    assert contents(first.path) == before
    assert verify(third.path) == verify(second.path) == []


def test_another_build_makes_a_snapshot_only_of_other_content(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidate, "build_version", lambda: "0.1.0+g1")
    first = publish_lake(lake, tmp_path)
    monkeypatch.setattr(candidate, "build_version", lambda: "0.1.0+g2.dirty")
    again = publish_lake(lake, tmp_path)
    assert (again.path, again.written, again.manifest_sha256) == (first.path, False, first.manifest_sha256)
    other_content(lake)
    second = publish_lake(lake, tmp_path)
    assert second.written
    builds = [read_manifest(snapshot.path).driftline for snapshot in (first, second)]
    assert builds == ["0.1.0+g1", "0.1.0+g2.dirty"]
    assert compare_snapshots(first.path, second.path).facts["driftline"] == tuple(builds)
    assert verify(second.path) == []


def test_a_raised_version_of_a_stage_is_in_the_manifest(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = publish_lake(lake, tmp_path)
    versions = all_versions()
    assert read_manifest(first.path).versions == versions
    monkeypatch.setattr(candidate, "all_versions", lambda: versions | {"surface": versions["surface"] + 1})
    assert publish_lake(lake, tmp_path).path.name == f"{first.path.name}.r2"


def test_what_was_published_before_is_found_again(lake: Lake, tmp_path: Path) -> None:
    first = publish_lake(lake, tmp_path)
    publish_lake(lake, tmp_path, rules="other rules")
    back = publish_lake(lake, tmp_path)
    assert (back.path, back.written) == (first.path, False)
    assert latest(tmp_path, "mine") == first.path


NEWEST = f"mine-{max(row['release_time'] for row in tables()['releases']):%Y-%m-%d}"
BERLIN = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("period", "name"),
    [
        (Period(), NEWEST),
        (Period(datetime(2021, 1, 1, tzinfo=UTC)), NEWEST),
        (Period(None, datetime(2024, 5, 6, tzinfo=UTC)), "mine-2024-05-06"),
        (Period(None, datetime(2024, 5, 6, 1, tzinfo=BERLIN)), "mine-2024-05-05"),
    ],
)
def test_a_snapshot_is_named_by_the_end_of_its_period_or_the_newest_release(
    lake: Lake, tmp_path: Path, period: Period, name: str
) -> None:
    published = publish_lake(lake, tmp_path, period)
    assert published.path == tmp_path / "mine" / name
    assert read_manifest(published.path).period.until == (period.until.isoformat() if period.until else None)


def test_what_differs_from_run_to_run_is_not_published(lake: Lake, tmp_path: Path) -> None:
    published = publish_lake(lake, tmp_path)
    for config, name in TABLES.items():
        columns = set(pq.ParquetFile(published.path / "data" / f"{config}.parquet").schema_arrow.names)
        assert columns == {column.name for column in table(name).columns if not column.volatile}
    assert "url" not in pq.ParquetFile(published.path / "data" / "releases.parquet").schema_arrow.names


@pytest.mark.parametrize("reason", [RejectReason.INDEX_UNREACHABLE, RejectReason.SOURCE_LEFT_OUT])
def test_news_of_a_day_makes_no_revision(lake: Lake, tmp_path: Path, reason: RejectReason) -> None:
    first = publish_lake(lake, tmp_path)
    lake.write("rejects", LIBRARY, [reject(LIBRARY, reason)], part="today")
    assert publish_lake(lake, tmp_path).path == first.path


def test_nothing_is_refused_and_the_last_snapshot_stays(lake: Lake, tmp_path: Path) -> None:
    first = publish_lake(lake, tmp_path)
    before = contents(tmp_path / "mine")
    for family in INSTANCE_TABLES:
        lake.write(f"published_{family}", LIBRARY, [])
    with raises(NothingToPublish, "pre_release", code="nothing_to_publish"):
        publish_lake(lake, tmp_path)
    assert latest(tmp_path, "mine") == first.path
    assert contents(tmp_path / "mine") == before


def rewritten(lake: Lake, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Leave a table as another Driftline would have written it."""
    path = lake.path(name, LIBRARY)
    pq.write_table(change(pq.read_table(path, partitioning=None)), path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("published_problems", lambda data: data.drop_columns(["drafter"])),
        ("published_completions", lambda data: data.drop_columns(["neighbour_version"])),
        ("flags", lambda data: data.append_column("mood", pa.array(["good"] * len(data)))),
        (
            "rejects",
            lambda data: data.drop_columns(["reason"]).append_column("reason", pa.array(["of old"] * len(data))),
        ),
    ],
    ids=["a column came", "a column that may be empty came", "a column went", "a word of a vocabulary went"],
)
def test_rows_of_an_older_driftline_are_not_published(
    lake: Lake, tmp_path: Path, name: str, change: Callable[[pa.Table], pa.Table]
) -> None:
    first = publish_lake(lake, tmp_path)
    before = contents(tmp_path / "mine")
    rewritten(lake, name, change)
    with raises(OutdatedTables, f"{LIBRARY} ({name}", f"--libraries {LIBRARY}", code="tables_outdated"):
        publish_lake(lake, tmp_path)
    assert latest(tmp_path, "mine") == first.path
    assert contents(tmp_path / "mine") == before


def test_a_table_without_rows_is_not_outdated(lake: Lake, tmp_path: Path) -> None:
    lake.write("drafted_rewrites", LIBRARY, [])
    first = publish_lake(lake, tmp_path)
    rewritten(lake, "drafted_rewrites", lambda data: data.select(["id"]))
    assert publish_lake(lake, tmp_path).path == first.path


def test_nothing_leaves_no_folder(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    with raises(NothingToPublish, "nonesuch", code="nothing_to_publish"):
        publish(lake, candidates(lake), tmp_path / "snapshots", "mine", ["nonesuch"], Period(), {})
    assert not (tmp_path / "snapshots").exists()
    assert not candidates(lake).exists()


@pytest.mark.parametrize("family", INSTANCE_TABLES)
def test_one_family_is_enough(lake: Lake, tmp_path: Path, family: str) -> None:
    lake.write(f"published_{family}", LIBRARY, [])
    if family == "completions":
        # these two are about completions
        for table in ("published_contexts", "published_retrievals"):
            lake.write(table, LIBRARY, [])
    published = publish_lake(lake, tmp_path)
    assert published.rows[family] == 0
    assert verify(published.path) == []


def test_no_snapshot_no_latest(tmp_path: Path) -> None:
    assert latest(tmp_path, "mine") is None


def test_what_a_killed_publish_left_is_removed_and_disturbs_nothing(lake: Lake, tmp_path: Path) -> None:
    first = publish_lake(lake, tmp_path)
    folder = tmp_path / "mine"
    unfinished = folder / f".{first.path.name}.99999.tmp"
    (unfinished / "data").mkdir(parents=True)
    (unfinished / "data" / "changes.parquet").write_bytes(b"PAR1 half of a fi")
    (folder / ".latest.99999.tmp").write_text("mine-20")
    assert publish_lake(lake, tmp_path).path == first.path
    assert latest(tmp_path, "mine") == first.path
    assert sorted(path.name for path in folder.iterdir() if path.name != ".lock") == ["latest", first.path.name]


def test_latest_moves_last(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publish that fails when all files are in place leaves the pointer on a snapshot that is whole."""
    first = publish_lake(lake, tmp_path)
    other_content(lake)

    def full(snapshots: Path, profile: str) -> Path | None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        # It is read when all files are in place, right before it is written.
        broken.setattr("pipeline.snapshots.snapshot.latest", full)
        with pytest.raises(OSError, match="space"):
            publish_lake(lake, tmp_path)
    found = latest(tmp_path, "mine")
    assert found == first.path
    assert verify(first.path) == []
    again = publish_lake(lake, tmp_path)
    assert (again.path.name, again.written) == (f"{first.path.name}.r2", False)
    assert latest(tmp_path, "mine") == again.path


PUBLISH = """
import sys
from pathlib import Path
from pipeline.lake.tables import Lake
from tests.snapshots.lakes import publish_lake
lake, snapshots = Lake(Path(sys.argv[1])), Path(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    publish_lake(lake, snapshots, rules=f"rules {number}")
"""


def publisher(lake: Lake, snapshots: Path, times: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PUBLISH, lake.root, snapshots, str(times)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_killed_while_publishing_the_pointer_is_on_a_whole_snapshot(lake: Lake, tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    process = publisher(lake, snapshots, 1000)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    deadline = time.monotonic() + 100
    while latest(snapshots, "mine") is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    whole = [path for path in (snapshots / "mine").iterdir() if path.is_dir() and not path.name.startswith(".")]
    assert latest(snapshots, "mine") in whole
    assert [problem for path in whole for problem in verify(path)] == []
    assert verify(publish_lake(lake, snapshots, rules="after").path) == []


def test_two_that_publish_at_once_take_turns(lake: Lake, tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    processes = [publisher(lake, snapshots, 2) for _ in range(2)]
    results = [process.communicate("\n", timeout=200) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    names = sorted(path.name for path in (snapshots / "mine").iterdir() if path.is_dir())
    assert names == [NEWEST, f"{NEWEST}.r2"]
