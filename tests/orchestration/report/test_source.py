"""What a name means, and what it is compared with: runs and snapshots of a folder, made as a refresh makes them."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pipeline.lake.run_records import RunRecord, read_record, recorded_runs
from pipeline.lake.runner import Count, write_json
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.report.source import PAGE, NoReportError, find, report, write_report
from pipeline.snapshots.snapshot import Published
from tests.cli.command import Driftline
from tests.cli.command import driftline as command
from tests.errors import raises
from tests.snapshots.lakes import stamp, write_columns


@pytest.fixture
def driftline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Driftline:
    return command(monkeypatch, capsys)


def snapshot(data: Path, name: str, rows: int) -> Path:
    folder = data / "snapshots" / "starter" / name
    write_columns(folder, "completions", [{"id": str(number), "library": "a"} for number in range(rows)])
    stamp(folder, profile="starter", period={"since": None, "until": "2026-11-16T00:00:00+00:00"})
    (folder.parent / "latest").write_text(name + "\n")
    return folder


def run(data: Path, name: str, began: str, published: Path | None, libraries: tuple[str, ...] = ("a",)) -> Path:
    folder = data / "runs" / name
    write_json(folder / "run.json", asdict(RunRecord(name, "starter", libraries, ("crawl",), None, None, began)))
    count = Count("crawl", "a", 3, 2, {"yanked": 1}, 0, seconds=len(name))
    write_json(folder / "counts" / "a.crawl.json", asdict(count))
    if published:
        write_json(folder / "published.json", asdict(Published(published, "0" * 64, True, {})))
    return folder


@pytest.fixture
def three(data: Path) -> Path:
    """Three runs of the same libraries, the last of which changed nothing, and one of others."""
    first = snapshot(data, "starter-2026-11-09", 10)
    second = snapshot(data, "starter-2026-11-16", 12)
    run(data, "one", "2026-11-09T03:00:00+00:00", first)
    run(data, "three", "2026-11-17T03:00:00+00:00", second)
    run(data, "two", "2026-11-16T03:00:00+00:00", second)
    run(data, "others", "2026-11-18T03:00:00+00:00", None, ("b",))
    return data


@pytest.mark.parametrize(
    ("name", "ran", "shown"),
    [
        (None, "others", None),
        ("one", "one", "starter-2026-11-09"),
        ("starter", "three", "starter-2026-11-16"),
        ("{data}/runs/two", "two", "starter-2026-11-16"),
        ("{data}/snapshots/starter/starter-2026-11-09", "one", "starter-2026-11-09"),
    ],
)
def test_what_a_name_means(three: Path, name: str | None, ran: str, shown: str | None) -> None:
    meant = find(name and name.format(data=three))
    assert meant.run is not None
    assert (meant.run.name, meant.snapshot and meant.snapshot.name) == (ran, shown)


@pytest.mark.parametrize(
    ("name", "before", "snapshot_before", "rows_before"),
    [
        ("one", None, None, None),
        ("two", "one", "starter-2026-11-09", 10),
        ("three", "two", "starter-2026-11-09", 10),
        ("others", None, None, None),
    ],
)
def test_what_it_is_compared_with(
    three: Path, name: str, before: str | None, snapshot_before: str | None, rows_before: int | None
) -> None:
    told = report(find(name))
    assert (told.before and told.before.run, told.snapshot_before) == (before, snapshot_before)
    assert [line.before for line in told.tables] == ([rows_before] if told.tables else [])
    assert [(line.units_in, line.units_out, line.rejected) for line in told.stages] == [(3, 2, {"yanked": 1})]


def test_revisions_of_a_day_follow_each_other(data: Path) -> None:
    names = ["starter-2026-11-09.r2", "starter-2026-11-09.r10", "starter-2026-11-09", "starter-2026-11-08.r3"]
    folders = {name: snapshot(data, name, 1) for name in names}
    befores = {name: report(find(str(folder))).snapshot_before for name, folder in folders.items()}
    assert befores == dict(zip(names, [names[2], names[0], names[3], None], strict=True))


def test_a_run_that_ended_has_a_page_and_its_time(three: Path) -> None:
    path = write_report(Refresh("two", "starter", ("a",)))
    assert path == three / "runs" / "two" / PAGE
    record = read_record(path.parent)
    assert record is not None
    assert record.seconds is not None
    assert [found.run for _, found in recorded_runs(three / "runs")] == ["one", "two", "three", "others"]
    before = path.read_bytes()
    (three / "lake").mkdir(exist_ok=True)
    assert report(find("two")).as_json() == report(find("two")).as_json()
    assert b"<h2>Snapshot starter-2026-11-16<" in before


def test_of_a_run_without_a_record_there_is_no_page(data: Path) -> None:
    assert write_report(Refresh("older")) is None
    with raises(NoReportError, "driftline refresh", code="report_no_run"):
        find(None)


@pytest.mark.parametrize("record", [None, "{", "[]", '{"run": "old"}', '{"libraries": null, "stages": 3}'])
def test_a_run_without_a_record_that_can_be_read_is_said_to_be_one(data: Path, record: str | None) -> None:
    folder = data / "runs" / "old"
    (folder / "counts").mkdir(parents=True)
    if record is not None:
        (folder / "run.json").write_text(record)
    for name in ("old", str(folder)):
        with raises(NoReportError, "run.json", code="report_no_record"):
            find(name)
    with raises(NoReportError, code="report_no_run"):
        find(None)
    run(data, "new", "2026-11-16T03:00:00+00:00", None)
    assert find(None).run == data / "runs" / "new"


def test_the_command_writes_a_page_or_prints_the_figures(three: Path, driftline: Driftline, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert driftline("report", "two", "--out", page).out == f"{page}\n"
    assert page.read_text().startswith("<!doctype html>")
    assert driftline("report").out == f"{three / 'runs' / 'others' / PAGE}\n"
    told = driftline("report", "starter", "--json").json
    assert (told["ran"]["run"], told["tables"][0]["before"]) == ("three", 10)
    assert driftline("report", "nonesuch").status == 2
    assert "the last runs are two, three, others" in driftline("report", "nonesuch").err
    assert "is a folder" in driftline("report", "two", "--out", tmp_path).err
    broken = three / "snapshots" / "starter" / "starter-2026-11-16" / "manifest.json"
    broken.write_text(json.dumps({"format": 99}))
    assert "not a manifest of format" in driftline("report", "starter").err


def test_other_periods_and_profiles_are_told_apart(three: Path) -> None:
    folder = three / "runs" / "two"
    record = read_record(folder)
    assert record is not None
    write_json(folder / "run.json", asdict(replace(record, profile="other")))
    assert report(find("three")).before == read_record(three / "runs" / "one")


def test_what_another_machine_published_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the profile, by the run, and as the newest: its snapshot comes too."""
    shared = tmp_path / "shared"
    monkeypatch.setenv("DRIFTLINE_LAKE", str(shared))
    published = snapshot(tmp_path / "one", "starter-2026-11-09", 10)
    shutil.copytree(published.parent, shared / "_snapshots" / "starter")
    (shared / "_runs").mkdir()
    (tmp_path / "runs").symlink_to(shared / "_runs")
    run(tmp_path, "first", "2026-11-09T03:00:00+00:00", published)
    for number, name in enumerate(("starter", "first", None)):
        machine = tmp_path / f"machine {number}"
        monkeypatch.setenv("DRIFTLINE_DATA", str(machine))
        meant = find(name)
        assert meant.run == shared / "_runs" / "first"
        assert meant.snapshot == machine / "snapshots" / "starter" / "starter-2026-11-09"
        assert (meant.snapshot / "manifest.json").is_file()
