"""What runs wait for, stages of one of them, causes of failures, the estimated end, and failures once more."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pipeline.core.vocabularies.release_checks import PublicationState
from pipeline.core.vocabularies.runs import RunState, StageState
from pipeline.lake.run_records import RunRecord, read_record
from pipeline.lake.runner import Count, write_json
from pipeline.orchestration.failures import StageFailed, run_recorded, running_stages
from pipeline.orchestration.report.page import status_page_of
from pipeline.orchestration.report.status import estimated_end, libraries_to_repeat, status
from pipeline.snapshots.publication import Publication, read_publication, write_publication
from tests.cli.command import Driftline
from tests.cli.command import driftline as command
from tests.errors import raises

STAGES = ("crawl", "surface")
LIBRARIES = ("a", "b", "c")
BEGAN = "2026-11-16T03:00:00+00:00"


@pytest.fixture
def driftline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Driftline:
    return command(monkeypatch, capsys)


def run(data: Path, name: str, began: str = BEGAN, ended: str | None = None) -> Path:
    folder = data / "runs" / name
    record = RunRecord(name, "starter", LIBRARIES, STAGES, None, None, began, ended)
    write_json(folder / "run.json", asdict(record))
    return folder


def count(folder: Path, library: str, stage: str, made: int, seconds: float = 10.0) -> Count:
    found = Count(stage, library, 5, made, {}, 0, seconds=seconds)
    write_json(folder / "counts" / f"{library}.{stage}.json", asdict(found))
    return found


@pytest.fixture
def stopped(data: Path) -> Path:
    """A run in which `a` is done, `b` failed, and `c` was killed, after one that made less of `a`."""
    before = run(data, "before", "2026-11-09T03:00:00+00:00", "2026-11-09T04:00:00+00:00")
    for library in LIBRARIES:
        for stage in STAGES:
            count(before, library, stage, 3)
    folder = run(data, "stopped")
    write_json(folder / "counts" / "a.crawl.json", asdict(Count("crawl", "a", 5, 0, {}, 5, units_out_before=3)))
    count(folder, "a", "surface", 4)
    count(folder, "b", "crawl", 3)

    def fails() -> Count:
        raise ConnectionError("no answer of https://b")

    with pytest.raises(StageFailed):
        run_recorded("stopped", folder, "b", "surface", fails)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    def killed() -> Count:
        assert running_stages(folder)["c"].stage == "crawl"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_recorded("stopped", folder, "c", "crawl", killed)
    (folder / "failures" / "c.json").unlink()
    mark = running_stages(folder)["c"]
    write_json(folder / "running" / "c.json", asdict(mark) | {"process": gone.pid})
    return folder


def test_each_stage_has_a_state_with_rows_against_the_run_before(stopped: Path) -> None:
    found = status()
    assert found is not None
    assert [(line.library, line.stage, str(line.state), line.rows, line.rows_before) for line in found.stages] == [
        ("a", "crawl", "unchanged", 3, 3),
        ("a", "surface", "done", 4, 3),
        ("b", "crawl", "done", 3, 3),
        ("b", "surface", "failed", None, 3),
        ("c", "crawl", "interrupted", None, 3),
        ("c", "surface", "waiting", None, 3),
    ]
    assert found.stages[3].cause.startswith("ConnectionError")
    assert [(each.run, each.state) for each in found.runs] == [
        ("stopped", RunState.IDLE),
        ("before", RunState.COLLECTED),
    ]
    assert "driftline rerun stopped" in found.runs[0].advice
    assert "driftline publish --profile starter --run before" in found.runs[1].advice


def test_a_stage_at_work_is_running(data: Path) -> None:
    folder = run(data, "now")

    def work() -> Count:
        found = status()
        assert found is not None
        assert (found.runs[0].state, found.stages[0].state) == (RunState.RUNNING, StageState.RUNNING)
        return count(folder, "a", "crawl", 1)

    run_recorded("now", folder, "a", "crawl", work)
    assert running_stages(folder) == {}


def test_failures_are_grouped_by_cause(stopped: Path) -> None:
    found = status("stopped")
    assert found is not None
    assert {(cause.cause, cause.number, tuple(cause.places)) for cause in found.causes} >= {
        ("ConnectionError", 1, ("b surface",)),
    }
    record = read_record(stopped)
    assert record is not None
    assert libraries_to_repeat(stopped, record) == ["b", "c"]


def test_the_rest_takes_as_long_as_before_at_the_speed_so_far(data: Path) -> None:
    folder = run(data, "now")
    record = read_record(folder)
    assert record is not None
    counts = [count(folder, "a", stage, 1, 20.0) for stage in STAGES]
    earlier = [Count(stage, "b", 1, 1, {}, 0, seconds=10.0) for stage in STAGES]
    now = datetime.fromisoformat(BEGAN) + timedelta(seconds=20)
    # 40 s of work in 20 s of time; left are 20 s of `b`, and 2 × 15 s of `c`, of which nothing is known
    assert estimated_end(record, counts, earlier, now) == (now + timedelta(seconds=25)).isoformat()
    assert estimated_end(record, counts[:1], [], now) is None
    assert estimated_end(record, [], earlier, now) is None


@pytest.mark.parametrize("state", PublicationState)
def test_every_state_of_a_release_record_says_what_it_waits_for(data: Path, state: PublicationState) -> None:
    folder = run(data, "one", ended=BEGAN)
    for each in (PublicationState.WAITING, state):
        write_publication(folder, Publication("one", "starter", each))
    found = status()
    assert found is not None
    ends = {PublicationState.PUBLISHED, PublicationState.SUPERSEDED, PublicationState.NOTHING}
    assert (found.runs[0].state, bool(found.runs[0].advice)) == (state, state not in ends)
    assert bool(found.runs[0].waits_for) == (state != PublicationState.PUBLISHED)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, PublicationState.PUBLISHED),
        (PublicationState.HELD, PublicationState.PUBLISHED),
        (PublicationState.REFUSED, PublicationState.PUBLISHED),
        (PublicationState.READY, PublicationState.REFUSED),
        (PublicationState.PUBLISHED, PublicationState.SUPERSEDED),
    ],
)
def test_no_state_is_skipped(tmp_path: Path, before: PublicationState | None, after: PublicationState) -> None:
    if before:
        write_json(tmp_path / "release.json", Publication("one", "starter", before).as_json())
    with raises(ValueError, code="publication_state_invalid"):
        write_publication(tmp_path, Publication("one", "starter", after))
    found = read_publication(tmp_path, tmp_path)
    assert (found and found.state) == before


def test_status_and_rerun_on_the_command_line(driftline: Driftline, stopped: Path) -> None:
    table = driftline("status", "stopped").out
    assert "ConnectionError" in table
    assert "unchanged" not in driftline("status", "stopped", "--search", "interrupted").out.partition("cause")[2]
    assert driftline("status", "--json").json["run"] == "stopped"
    assert driftline("rerun", "before").status == 0
    for name in ("status", "rerun"):
        result = driftline(name, "other")
        assert (result.status, result.out) == (2, "")
        assert "before, stopped" in result.err


def test_the_page_has_the_stages_with_the_text_and_escapes_it(stopped: Path) -> None:
    page = status_page_of(status("stopped"), "ConnectionError")
    assert page.count("<tr><td>b</td>") == 1
    assert "<tr><td>a</td>" not in page
    assert "<b>" not in status_page_of(status("stopped"), "<b>")
    assert "No such run" in status_page_of(status("other"), "")
