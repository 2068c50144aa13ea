"""Damaged files: what can be made again heals with a line that says so, and what people made is named and left."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.execution.validation.run_cache import RunCache
from pipeline.index.rates import Frequency, RateRules, Rates
from pipeline.lake.runner import Stage, StageStates, is_done, last_counts, read_counts, run_stage
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake
from pipeline.llm.client.store import Store
from pipeline.orchestration.failures import failures_of
from pipeline.quality.annotation.store import StoreError, open_store
from pipeline.quality.annotation_rules import AnnotationRules
from tests.errors import raises

NO_DATABASE = b"no database" * 1000
RULE = RateRules(default=(Frequency(requests=2, seconds=3600),))
HALF = ["", "{", '{"fingerprint": "x"', "[]", "null", "\udcff", '{"other": 1}']


def test_requests_are_counted_anew_in_a_damaged_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "rates.sqlite"
    path.write_bytes(NO_DATABASE)
    Rates(RULE, path).wait("https://example.org/")
    assert f"{path} was damaged" in caplog.text


def test_a_clock_that_was_set_back_keeps_nobody_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr("pipeline.index.rates.time.time", lambda: now + 86_400)
    rates = Rates(RULE, tmp_path / "rates.sqlite")
    for _ in range(2):
        rates.wait("https://example.org/")
    monkeypatch.setattr("pipeline.index.rates.time.time", lambda: now)
    rates.wait("https://example.org/")
    assert "the clock was set back by 86400 s" in caplog.text


def test_results_of_runs_begin_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(NO_DATABASE)
    memory = RunCache(path)
    memory.keep({"key": {"outcome": "passed"}})
    assert memory.recall(["key"], dict) == {"key": {"outcome": "passed"}}
    assert f"{path} was damaged" in caplog.text


def test_what_people_decided_and_what_was_paid_for_is_named_and_left(tmp_path: Path) -> None:
    for name in ("reviews.sqlite", "answers.sqlite"):
        (tmp_path / name).write_bytes(NO_DATABASE)
    with raises(StoreError, "reviews.sqlite", code="reviews_damaged"):
        open_store(f"sqlite:///{tmp_path}/reviews.sqlite", load(RULES / "annotation.yaml", AnnotationRules))
    with (
        raises(OSError, "answers.sqlite", code="answers_unreadable"),
        Store(tmp_path / "answers.sqlite").open(),
    ):
        pass
    for name in ("reviews.sqlite", "answers.sqlite"):
        assert (tmp_path / name).read_bytes() == NO_DATABASE


@pytest.mark.parametrize("text", HALF)
def test_a_stage_with_a_half_written_state_is_done_again(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []

    def run(lake: Lake, library: str, progress: object) -> Output:
        ran.append(library)
        return Output({"importable_names": []}, 0, 0)

    stage = Stage("surface", 1, ("releases",), ("importable_names",), lambda: None, run)
    lake = Lake(tmp_path / "lake")
    run_stage(stage, "demo", lake, tmp_path / "counts")
    whole = StageStates(lake, "demo").all()
    state = lake.path("stage_states", "demo")
    state.write_bytes(text.encode(errors="surrogateescape"))
    assert not is_done(stage, "demo", lake)
    assert last_counts(lake, "demo") == []
    run_stage(stage, "demo", lake, tmp_path / "counts")
    assert (ran, StageStates(Lake(lake.root), "demo").all()) == (["demo", "demo"], whole)
    assert f"{state} is damaged" in caplog.text


def test_a_damaged_table_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log names the file as it was, so that only its bytes show the damage."""
    ran: list[str] = []

    def run(lake: Lake, library: str, progress: object) -> Output:
        ran.append(library)
        return Output({"importable_names": []}, 0, 0)

    stage = Stage("surface", 1, ("releases",), ("importable_names",), lambda: None, run)
    lake = Lake(tmp_path / "lake")
    run_stage(stage, "demo", lake, tmp_path / "counts")
    assert is_done(stage, "demo", lake)
    path = lake.path("importable_names", "demo")
    path.write_bytes(path.read_bytes()[:-1])
    assert not is_done(stage, "demo", lake)
    run_stage(stage, "demo", lake, tmp_path / "counts")
    assert (ran, Lake(lake.root).read("importable_names", "demo")) == (["demo", "demo"], [])
    assert is_done(stage, "demo", lake)
    assert f"{path} was damaged" in caplog.text


@pytest.mark.parametrize("text", HALF)
def test_a_half_written_count_or_failure_is_passed_over(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "failures").mkdir()
    for path in (tmp_path / "failures" / "demo.json", tmp_path / "demo.surface.json"):
        path.write_bytes(text.encode(errors="surrogateescape"))
    with caplog.at_level(logging.WARNING):
        assert (failures_of(tmp_path), read_counts(tmp_path)) == ([], [])
    assert "demo.surface.json was damaged" in caplog.text
