"""What a command does that takes long is told on the standard error, and never among its results."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.cli import output
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.stage import Reject
from tests.cli.command import Driftline
from tests.index_server import Index, serve


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command counts as one that takes long."""
    monkeypatch.setattr(output, "QUIET_S", 0.0)


def test_a_pipe_has_a_line_for_each_step_and_json_stays_clean(
    driftline: Driftline, at_demo: Index, at_once: None
) -> None:
    result = driftline("diff", "demo", "1.0", "2.0", "--json")
    assert result.json["changes"]
    steps = [
        "fetching demo 1.0",
        "fetching demo 2.0",
        "reading demo 1.0",
        "reading demo 2.0",
        "comparing demo 1.0 and 2.0",
    ]
    assert result.err.splitlines()[1:] == steps


def test_a_history_tells_what_it_reads(driftline: Driftline, at_demo: Index, at_once: None) -> None:
    result = driftline("history", "demo", "demo.total", "--json")
    assert result.json["lives"]
    assert {"asking for demo", "reading demo"} <= set(result.err.splitlines())


def test_what_is_left_out_for_one_cause_is_counted_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=text, highlight=False))
    early = [Reject(f"1.0a{number}", RejectReason.PRE_RELEASE, "only final releases are taken") for number in range(9)]
    files = [Reject(f"{number}.py", RejectReason.UNPARSED_SOURCE, f"line {number}") for number in range(6)]
    output.print_left_out([*early[:2], Reject("1.1", RejectReason.YANKED, "withdrawn"), *early[2:], *files])
    assert text.getvalue().splitlines() == [
        "left out: 1.0a0, 1.0a1, 1.0a2 and 6 more: only final releases are taken",
        "left out: 1.1: withdrawn",
        *(f"left out: {number}.py: line {number}" for number in range(3)),
        "left out: 3 more, which --json lists",
    ]


@pytest.mark.parametrize("command", [("history", "early", "early.f"), ("evolution", "early")])
def test_pre_releases_that_are_passed_over_have_one_line(
    driftline: Driftline, data: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    with serve(Index()) as index:
        for version in ("1.0", "1.1.dev1", "1.1a1", "1.1b1", "1.1rc1", "1.1rc2"):
            index.add_wheel("early", version, {"early.py": "def f(): ..."}, "2021-01-01T00:00:00Z")
        monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
        result = driftline(*command)
    told = [line for line in result.err.splitlines() if line.startswith("left out")]
    assert told == ["left out: 1.1.dev1, 1.1a1, 1.1b1 and 2 more: only final releases are taken"]


def test_a_step_that_lasts_is_told_of_again(monkeypatch: pytest.MonkeyPatch, at_once: None) -> None:
    monkeypatch.setattr(output, "AGAIN_S", 0.0)
    monkeypatch.setattr(output, "_POLL_S", 0.001)
    text = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=text, soft_wrap=True, highlight=False))
    with output.progress("reading") as tell:
        tell("parsing", 3, 1200)
        deadline = time.monotonic() + 60
        while "parsing: 3 of 1,200" not in text.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    # Before the second step begins, the first one may last long enough to be printed again.
    again = r"(reading: \d+ s so far\n)*"
    assert re.match(rf"reading\n{again}parsing\n{again}parsing: 3 of 1,200, \d+ s so far\n", text.getvalue())


def test_what_is_quick_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "QUIET_S", 3600.0)
    text = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=text))
    with output.progress("reading") as tell:
        tell("parsing", 1, 2)
    assert text.getvalue() == ""


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=text, force_terminal=True, width=100))
    with output.progress("reading [demo]") as tell:
        tell("parsing [demo]", 3, 1200)
    assert "parsing [demo], 3 of 1,200" in text.getvalue()
