"""The page: what is in the report stands on it, as text, and it asks for nothing outside."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus, PublicationState
from pipeline.lake.run_records import RunRecord
from pipeline.lake.runner import Count
from pipeline.llm.client.tally import Tally
from pipeline.llm.summary import Spent
from pipeline.orchestration.failures import Failure, InternalError
from pipeline.orchestration.report.data import DraftsSummary, Ran, Report, report_of
from pipeline.orchestration.report.figures import Bar, Figure
from pipeline.orchestration.report.page import page_of, pieces
from pipeline.snapshots.publication import Publication, Signature
from pipeline.snapshots.release_checks.release_checks import CheckResult

HOSTILE = "<script>alert(1)</script>\u202e\"'&{{ 7*7 }}"
RECORD = RunRecord(
    "now", "starter", ("a", HOSTILE), ("crawl", "acceptance"), None, "2026-11-16", "2026-11-20T10:00:00+00:00"
)
DRAFTS = DraftsSummary(
    {DraftKind.DESCRIPTION: Tally(12, 1, 8, 2, 1, 4_000_000, "the month has cost 20")},
    Spent(5_000_000, 2_000_000_000, 7_000_000, 20_000_000_000),
    {DraftKind.INSTRUCTION: {DraftStatus.REDACTED: 41}},
)


def count(stage: str, library: str, made: int, seconds: float = 1.0, **more: object) -> Count:
    values = {"units_in": made, "units_out": made, "rejected": {}, "unchanged": 0, "seconds": seconds} | more
    return Count(stage=stage, library=library, peak_memory_bytes=100 << 20, **values)  # type: ignore[arg-type]


def ran(record: RunRecord, *counts: Count, seconds: float = 3.0) -> Ran:
    crawl = count("crawl", "", 9, seconds=seconds, units_in=12, rejected={"yanked": 3}, noted={HOSTILE: 1})
    acceptance = count(
        "acceptance", "", 0, seconds=0.2, units_in=10, unchanged=10, units_out_before=7, rejected_before={"flagged": 2}
    )
    return Ran(record, counts, [crawl, acceptance], None)


@pytest.fixture
def report() -> Report:
    counts = [count("crawl", "a", 9), count("acceptance", "a", 7), count("crawl", HOSTILE, 0, rejected={"no_space": 1})]
    now = ran(replace(RECORD, ended="2026-11-20T10:11:00+00:00"), *counts)
    before = ran(replace(RECORD, run="before"), seconds=5.5)
    return report_of(now, None, before, None, DRAFTS, {"github": "no token"})


@pytest.fixture
def page(report: Report) -> BeautifulSoup:
    return BeautifulSoup(page_of(report), "lxml")


def row(page: BeautifulSoup, name: str) -> list[str]:
    cells = next(line for line in page.select("tr") if line.td and line.td.get_text() == name)
    return [cell.get_text(" ", strip=True) for cell in cells.select("td")]


def test_the_funnel_counts_what_is_unchanged_as_it_came_out(page: BeautifulSoup) -> None:
    crawl, acceptance = row(page, "crawl"), row(page, "acceptance")
    assert (crawl[1], crawl[3:6], crawl[6:10]) == ("12", ["9", "", "3"], ["12", "3", "-2.5", "100"])
    assert crawl[-1].startswith("yanked\xa03; parts: ")
    assert (acceptance[1], acceptance[3:7]) == ("10", ["7", "", "2", "0"])
    assert "flagged\xa02" in acceptance[-1]
    assert "1 not told" in acceptance[-1]


def test_what_is_left_undone_names_library_stage_and_what_to_do(report: Report, page: BeautifulSoup) -> None:
    assert [(trouble.libraries, trouble.stage) for trouble in report.troubles] == [
        ([HOSTILE], "acceptance"),
        ([HOSTILE], "crawl"),
    ]
    told = page.select_one(".troubles")
    assert isinstance(told, Tag)
    assert "no_space: the disk was full" in told.get_text()
    assert "run the same refresh again" in told.get_text()


def test_a_failure_names_its_release_and_takes_the_place_of_what_only_broke_off() -> None:
    failure = Failure(
        "a", "acceptance", "1.2", f"KeyError: {HOSTILE}", "report it", "2026-11-20T10:00:00+00:00", "trace"
    )
    now = replace(ran(replace(RECORD, libraries=("a",)), count("crawl", "a", 9)), failures=[failure])
    report = report_of(now, None, None, None, None, {})
    assert [(t.libraries, t.stage, t.release, t.advice) for t in report.troubles] == [
        (["a"], "acceptance", "1.2", "report it")
    ]
    cells = row(BeautifulSoup(page_of(report), "lxml"), "a")
    assert cells[:3] == ["a", "1.2", "acceptance"]


def test_an_internal_error_stands_with_its_trace_and_what_to_do() -> None:
    error = InternalError("a", "usage", "some key", f"KeyError: {HOSTILE}\n  pipeline/corpus/usages/find.py:7 scan", 3)
    report = report_of(ran(replace(RECORD, libraries=("a",))), None, None, None, None, {}, errors=[error])
    trouble = next(trouble for trouble in report.troubles if trouble.stage == "usage")
    assert trouble.why.startswith("internal_error: some key and 2 more: KeyError: ")
    assert "pipeline/corpus/usages/find.py:7 scan" in page_of(report)
    assert str(error).splitlines() == [f"a, stage usage, some key and 2 more: KeyError: {HOSTILE}"]


def test_release_checks_that_do_not_pass_have_advice() -> None:
    results = [
        CheckResult(CheckKind.REJECTED, "crawl: any reason", 0.41, 120, "at most 30%", CheckStatus.APPROVAL),
        CheckResult(CheckKind.DUPLICATES, "problems", 0.0, 120, "at most 6%", CheckStatus.PASSED),
        CheckResult(CheckKind.DUPLICATES, "scenes", None, 3, "at most 6%", CheckStatus.NOT_MEASURED),
    ]
    signature = Signature(HOSTILE, approved=True, when="2026-11-20T12:00:00+00:00", note="seen")
    record = Publication("now", "starter", PublicationState.PUBLISHED, "", None, results, ["3 rows came"], signature)
    page = BeautifulSoup(
        page_of(report_of(replace(ran(RECORD), publication=record), None, None, None, None, {})), "lxml"
    )
    told = page.select_one("#release-checks")
    assert isinstance(told, Tag)
    assert [line.td.get_text() for line in told.select("table.checks tr") if line.td] == ["rejected"]
    assert told.summary is not None
    assert re.findall(r"(\d+) (passed|approval|hold|not measured)", told.summary.get_text()) == [
        ("1", "passed"),
        ("1", "approval"),
        ("1", "not measured"),
    ]
    assert "3 rows came" in told.get_text()
    assert "Signed by <script>" in told.get_text()


def test_figures_stand_against_the_snapshot_before_and_what_is_gone_is_seen() -> None:
    figure = Figure("f", "F", "", ["x"], [Bar("a", "", {"x": 5}), Bar("gone", "", {})], {"a": 3, "gone": 2})
    bare = report_of(None, None, None, None, None, {})
    page = BeautifulSoup(page_of(replace(bare, figures=[figure])), "lxml")
    assert [n.get_text(" ", strip=True) for n in page.select("#f .bars .n")] == ["5 +2", "0 -2"]


def test_time_stands_by_stage_and_library(page: BeautifulSoup) -> None:
    assert [bar.get_text(" ", strip=True) for bar in page.select("#stage_seconds .bars .n")] == ["3 -3"]
    assert page.select_one("#seconds") is not None


@pytest.mark.parametrize(
    ("ended", "told"), [(None, "the run goes on, or was killed"), ("2026-11-20T10:11:00+00:00", "broke off")]
)
def test_a_run_that_has_not_ended_is_not_said_to_have_broken_off(ended: str | None, told: str) -> None:
    now = ran(replace(RECORD, libraries=("a",), ended=ended), count("crawl", "a", 9))
    report = report_of(now, None, None, None, None, {})
    assert [(trouble.stage, trouble.why.startswith(told)) for trouble in report.troubles] == [("acceptance", True)]


def test_money_stands_by_kind_and_against_the_limits(page: BeautifulSoup) -> None:
    assert row(page, "description") == [
        "description",
        "12",
        "1",
        "8",
        "2",
        "1",
        "0.004 US dollars",
        "0.0005 US dollars",
    ]
    told = page.select_one("#drafts")
    assert isinstance(told, Tag)
    assert "this run 0.005 US dollars of 2.00 US dollars" in told.get_text()
    assert "Asking ended early: the month has cost 20" in told.get_text()
    assert row(page, "instruction") == ["instruction", "0", "0", "0", "41", "0"]


def test_text_of_others_is_text(report: Report, page: BeautifulSoup) -> None:
    assert page.select("script") == []
    assert "alert(1)</script>" in page.get_text()
    assert "49" not in page.get_text()
    assert "\u202e" not in page_of(report)
    for tag in page.select("*"):
        assert not [name for name in tag.attrs if name.startswith("on")]


def test_the_page_asks_for_nothing_outside(report: Report) -> None:
    text = page_of(report)
    assert not re.findall(r"(?:src=|href|url\(|@import|https?:)", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_the_same_report_is_the_same_page(report: Report) -> None:
    assert page_of(report) == page_of(report)


def test_a_report_without_a_run_or_a_snapshot_is_a_page(report: Report, tmp_path: Path) -> None:
    bare = page_of(report_of(None, None, None, None, None, {}))
    assert "<h2>Funnel" not in bare
    assert "None" not in BeautifulSoup(bare, "lxml").get_text()


def test_pieces_of_a_bar_follow_each_other_and_fit() -> None:
    figure = Figure("f", "", "", ["x", "y", "z"], [Bar("a", "", {"x": 1, "y": 0, "z": 2}), Bar("b", "", {"y": 4})])
    assert [(p.name, p.start, p.width, p.colour) for p in pieces(figure, figure.bars[0])] == [
        ("x", 0, 25, 0),
        ("z", 25, 50, 2),
    ]
    assert [(p.start, p.width) for p in pieces(figure, figure.bars[1])] == [(0, 100)]


def test_a_program_reads_the_same(report: Report) -> None:
    told = report.as_json()
    assert told["drafts"]["tallies"]["description"]["nano_usd_per_accepted"] == 500_000
    assert [stage["stage"] for stage in told["stages"]] == ["crawl", "acceptance"]
