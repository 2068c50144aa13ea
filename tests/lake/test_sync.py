"""Two working copies over one store: what one begins the other goes on with; without a store nothing is shared."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pipeline.lake.objects import ObjectStore
from pipeline.lake.run_records import read_record
from pipeline.lake.runner import Count, write_json
from pipeline.lake.sync import (
    forget_run,
    read_lake,
    read_profile,
    read_run,
    sweep_store,
    working_on,
    working_on_profile,
    working_on_run,
)
from pipeline.orchestration.publishing.publish_snapshot import last_refresh
from pipeline.orchestration.refresh import Refresh, begin, counts_of, run_group
from pipeline.orchestration.report.source import find, write_report
from tests.demo_library import publish_demo
from tests.index_server import Index

REFRESH = Refresh("manual__1", libraries=("demo",), since="2020-12-01", until="2022-01-01")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("DRIFTLINE_STORE", f"file://{tmp_path}/store")
    monkeypatch.setenv("DRIFTLINE_LEASE_S", "5")
    return ObjectStore(f"file://{tmp_path}/store")


def work_at(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to another worker, which has a data folder of its own."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / name))
    return tmp_path / name


@pytest.mark.usefixtures("store")
def test_a_group_is_taken_up_by_another_worker(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_demo(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    one = work_at("one", tmp_path, monkeypatch)
    assert begin(REFRESH) == ["demo"]
    first = run_group(REFRESH, "crawl", "demo")
    two = work_at("two", tmp_path, monkeypatch)
    again = run_group(REFRESH, "crawl", "demo")
    of_first = {count.stage: count for count in first}
    assert again
    assert all(count.unchanged == count.seen == of_first[count.stage].seen for count in again)
    for path in (one / "lake").rglob("*.parquet"):
        assert (two / path.relative_to(one)).read_bytes() == path.read_bytes()
    work_at("three", tmp_path, monkeypatch)
    read_run(REFRESH.folder)
    record = read_record(REFRESH.folder)
    assert record is not None
    assert record.libraries == ("demo",)
    assert {count.stage for count in counts_of(REFRESH)} == set(of_first)


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_a_run_of_another_worker_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who publishes by hand, and by the report, which holds a run against the one before."""
    work_at("one", tmp_path, monkeypatch)
    begin(REFRESH)
    (REFRESH.folder / "counts").mkdir()
    with working_on_run(REFRESH.folder, "demo"):
        write_json(REFRESH.folder / "counts" / "demo.crawl.json", asdict(Count("crawl", "demo", 4, 4, {}, 0)))
    write_report(REFRESH)
    two = work_at("two", tmp_path, monkeypatch)
    assert last_refresh("starter").run == REFRESH.run
    assert [path.name for path in (two / "runs" / REFRESH.run).iterdir()] == ["run.json"]
    later = replace(REFRESH, run="manual__2")
    begin(later)
    page = write_report(later)
    assert page is not None
    assert REFRESH.run in page.read_text()
    work_at("three", tmp_path, monkeypatch)
    meant = find(REFRESH.run)
    assert meant.run is not None
    assert (meant.run / "counts" / "demo.crawl.json").is_file()
    record = read_record(meant.run)
    assert record is not None
    assert record.ended


def test_snapshots_and_drafts_go_from_worker_to_worker_and_go(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = work_at("one", tmp_path, monkeypatch)
    with working_on_profile("starter"):
        for path in ("drafts/starter/new.0123/data/completions.parquet", "snapshots/starter/old/manifest.json"):
            (one / path).parent.mkdir(parents=True)
            (one / path).write_text(path)
        (one / "snapshots/starter/latest").write_text("old\n")
        (one / "snapshots/starter/.lock").touch()
    two = work_at("two", tmp_path, monkeypatch)
    with working_on_profile("starter"):
        assert (two / "snapshots/starter/latest").read_text() == "old\n"
        assert not (two / "snapshots/starter/.lock").exists()
        (two / "drafts/starter/new.0123").rename(two / "snapshots/starter/new")
        (two / "snapshots/starter/latest").write_text("new\n")
    work_at("one", tmp_path, monkeypatch)
    read_profile("starter")
    assert (one / "snapshots/starter/latest").read_text() == "new\n"
    assert (one / "snapshots/starter/new/data/completions.parquet").is_file()
    assert not list((one / "drafts/starter").rglob("*.parquet"))
    assert sweep_store() == 0


def test_what_went_is_swept_after_a_week(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = work_at("one", tmp_path, monkeypatch)
    part = data / "lake" / "symbols" / "library=demo" / "part.parquet"
    part.parent.mkdir(parents=True)
    for text in ("one", "two", "three", "four", "five"):
        with working_on("demo"):
            part.write_text(text)
    assert len(list((tmp_path / "store/objects").rglob("*/*"))) == 5
    assert sweep_store() == 0
    for path in (tmp_path / "store/objects").rglob("*/*"):
        os.utime(path, (1, 1))
    # the last heads stay for a reader on its way
    assert sweep_store() == 2
    part.unlink()
    read_lake()
    assert part.read_text() == "five"
    forget_run(REFRESH.folder)


def test_without_a_store_nothing_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIFTLINE_STORE", raising=False)
    data = work_at("one", tmp_path, monkeypatch)
    with working_on("demo") as commit, working_on_profile("starter"):
        commit()
    read_lake()
    read_profile("starter")
    assert sweep_store() == 0
    assert not data.exists()
