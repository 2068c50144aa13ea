"""A failure names library, release and stage and says what to do, whatever stage it is in; others go on."""

from __future__ import annotations

import errno
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest
from structlog.contextvars import get_contextvars

from pipeline.core.rules.load import RuleError
from pipeline.index.http import Unreachable
from pipeline.lake.place import at_release, release_of
from pipeline.lake.run_records import RunRecord, now
from pipeline.lake.runner import Count, write_json
from pipeline.orchestration.failures import StageFailed, advice_on, failures_of, report_failures_of, run_recorded
from pipeline.orchestration.refresh import Refresh, begin, run_group
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.quality.annotation.store import StoreError
from tests.demo_library import publish_demo
from tests.errors import raises
from tests.index_server import Index


def work(error: BaseException | None = None) -> Count:
    with at_release("1.2"):
        if error:
            raise error
    return Count("surface", "demo", 3, 2, {"yanked": 1}, 0)


def test_a_failure_is_kept_with_its_place_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pipeline.orchestration.failures")
    with raises(StageFailed, "demo 1.2", "stage surface", "KeyError", code="stage_failed"):
        run_recorded("r", tmp_path, "demo", "surface", lambda: work(KeyError("x")))
    (failure,) = failures_of(tmp_path)
    assert (failure.library, failure.stage, failure.release) == ("demo", "surface", "1.2")
    assert "raise error" in failure.trace
    assert report_failures_of(tmp_path, {}) == str(failure)
    assert [record.levelname for record in caplog.records] == ["INFO", "ERROR"]
    assert get_contextvars() == {}


def test_what_ends_a_stage_from_outside_is_kept_and_passes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_recorded("r", tmp_path, "demo", "surface", lambda: work(KeyboardInterrupt()))
    assert failures_of(tmp_path)[0].advice.startswith("it was ended from outside")


def test_a_library_that_was_killed_is_named_though_it_left_no_word(tmp_path: Path) -> None:
    stages = ("crawl", "surface")
    write_json(tmp_path / "run.json", asdict(RunRecord("r", "starter", ("a", "b", "demo"), stages, None, None, now())))
    for library, stage in (("a", "crawl"), ("a", "surface"), ("b", "crawl"), ("demo", "crawl")):
        write_json(tmp_path / "counts" / f"{library}.{stage}.json", asdict(Count(stage, library, 1, 1, {}, 0)))
    with pytest.raises(StageFailed):
        run_recorded("r", tmp_path, "demo", "surface", lambda: work(KeyError("x")))
    told = str(report_failures_of(tmp_path, {})).splitlines()
    assert [line.split(":")[0] for line in told] == ["demo 1.2, stage surface", "b, stage surface"]
    assert "memory, a signal" in told[1]
    states = {"collect.crawl_0": "failed", "collect.prove_0": "upstream_failed", "collect.crawl": "failed"}
    states |= {"collect.prove_1": "failed", "collect.prove_7": "failed"}
    told = str(report_failures_of(tmp_path, states)).splitlines()
    assert [line.split(":")[0] for line in told[2:]] == ["a, stage none", "library 7, stage none"]
    assert "the store of the lake" in told[2]


def test_the_innermost_release_counts_also_out_of_a_thread_and_through_causes() -> None:
    def inner() -> None:
        with at_release("1"), at_release("2"):
            raise OSError("x")

    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(inner).exception()
    wrapped = ValueError("y")
    wrapped.__cause__ = error
    assert (release_of(error), release_of(wrapped), release_of(ValueError())) == ("2", "2", None)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (Unreachable("x"), "`driftline doctor` says whether the index answers"),
        (OSError(errno.ENOSPC, "No space left on device"), "`driftline clean`"),
        (RuleError("tags.yaml:3: x"), "correct what is named"),
        (StoreError("x"), "DRIFTLINE_REVIEWS"),
        (PermissionError(13, "x"), "give the user of this process"),
        (NotADirectoryError(20, "x"), "move the file that is named away"),
        (MemoryError(), "DRIFTLINE_WORKERS=1"),
        (SystemExit(1), "ended from outside"),
        (ValueError("x"), "a mistake in Driftline"),
    ],
)
def test_each_kind_of_failure_says_what_to_do(error: BaseException, advice: str) -> None:
    assert advice in advice_on(error)


@pytest.fixture
def asked(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Refresh:
    publish_demo(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    refresh = Refresh("planted", "starter", ("demo",), "2020-12-01", "2022-01-01")
    begin(refresh)
    return refresh


def test_a_release_that_cannot_be_read_names_itself(asked: Refresh, data: Path) -> None:
    """The folder in which the sources of releases are kept is a file: nothing can be stored there."""
    (data / "cache").mkdir(parents=True, exist_ok=True)
    (data / "cache" / "artifacts").write_text("a file where a folder must be")
    with raises(StageFailed, "demo", "stage crawl", code="stage_failed"):
        run_group(asked, "crawl", "demo")


@pytest.mark.slow(minutes=1)
def test_a_failure_planted_in_each_stage_names_it_and_is_forgotten_when_it_is_gone(asked: Refresh, data: Path) -> None:
    """What a stage has written is a file where the library's folder must be; every other stage has nothing to do."""
    for group in GROUPS:
        run_group(asked, group, "demo")
    assert failures_of(asked.folder) == []
    stages = stages_of(asked.resources())
    for group, name in [(group, name) for group, names in GROUPS.items() for name in names]:
        folder, aside = data / "lake" / stages[name].writes[0] / "library=demo", data / "aside"
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.rename(aside)
        folder.write_text("a file where a folder must be")
        with pytest.raises(StageFailed) as told:
            run_group(asked, group, "demo")
        assert str(told.value).startswith((f"demo, stage {name}: ", "demo 2", "demo 1")), name
        assert f"stage {name}: " in str(told.value)
        assert "move the file that is named away" in str(told.value), name
        assert [failure.stage for failure in failures_of(asked.folder)] == [name]
        folder.unlink()
        if aside.exists():
            aside.rename(folder)
        run_group(asked, group, "demo")
        assert failures_of(asked.folder) == []
