"""Two machines over one S3 store: what one begins the other goes on with, and each finds the runs of the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.lake.delta import LakeError, LakeProblem
from pipeline.lake.run_records import read_record
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing.publish_snapshot import last_refresh
from pipeline.orchestration.refresh import Refresh, begin, counts_of, run_group
from pipeline.orchestration.report.source import write_report
from tests.demo_library import publish_demo
from tests.index_server import Index
from tests.lake.test_deferred import release
from tests.object_store import s3_server

REFRESH = Refresh("manual__1", libraries=("demo",), since="2020-12-01", until="2022-01-01")


@pytest.fixture
def shared(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    publish_demo(index)
    with s3_server(tmp_path / "s3") as server:
        server.files().mkdir("driftline")
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DRIFTLINE_LAKE", "s3://driftline/live")
        monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
        yield


@pytest.mark.usefixtures("shared")
def test_a_group_is_taken_up_by_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "one"))
    assert begin(REFRESH) == ["demo"]
    first = {count.stage: count for count in run_group(REFRESH, "crawl", "demo")}
    slow = REFRESH.resources().lake
    assert slow.read("releases", "demo")
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "two"))
    again = run_group(REFRESH, "crawl", "demo")
    assert again
    assert all(count.unchanged == count.units_in == first[count.stage].units_in for count in again)
    assert {count.stage for count in counts_of(REFRESH)} == set(first)
    assert last_refresh("starter").run == REFRESH.run
    page = write_report(REFRESH)
    assert page is not None
    assert "demo" in page.read_text()
    record = read_record(REFRESH.folder)
    assert record is not None
    assert record.ended
    # The first machine was thought dead, and commits what it has made after all.
    Lake(REFRESH.resources().lake.root).write("releases", "demo", [release("demo", "1.0")])
    with pytest.raises(LakeError) as conflict:
        slow.write("releases", "demo", [release("demo", "2.0")])
    assert conflict.value.code == LakeProblem.CONFLICT
    assert not (tmp_path / "one" / "lake").exists()
    assert not (tmp_path / "two" / "runs").exists()
