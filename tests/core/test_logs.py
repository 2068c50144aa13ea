"""Log lines for programs: JSON, each with what was at hand, and nothing where nobody asked for logs."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.core.logs import log_to
from pipeline.lake.place import at_release
from pipeline.lake.runner import Count
from pipeline.orchestration.failures import StageFailed, run_recorded


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    log_to(io.StringIO(), "off")
    logging.getLogger().setLevel(level)


def work() -> Count:
    with at_release("1.2"):
        logging.getLogger("pipeline.api.surface").info("read %s", "demo\nx")
    return Count("surface", "demo", 3, 2, {"yanked": 1}, 0)


def broken() -> Count:
    with at_release("1.3"):
        raise KeyError("x")


def test_each_line_is_json_and_names_run_library_stage_and_release(tmp_path: Path) -> None:
    stream = io.StringIO()
    log_to(stream, "json")
    run_recorded("r", tmp_path, "demo", "surface", work)
    begins, read, done = (json.loads(line) for line in stream.getvalue().splitlines())
    place = {"run": "r", "library": "demo", "stage": "surface"}
    assert {key: begins[key] for key in place} == place
    assert (read["event"], read["release"], read["level"]) == ("read demo\nx", "1.2", "info")
    assert place.items() <= read.items()
    assert (done["event"], done["units_out"], done["rejected"]) == ("stage done", 2, {"yanked": 1})
    assert {"timestamp", "logger", "seconds"} <= done.keys()
    assert "release" not in done


def test_a_failure_is_a_line_too(tmp_path: Path) -> None:
    stream = io.StringIO()
    log_to(stream, "json")
    with pytest.raises(StageFailed):
        run_recorded("r", tmp_path, "demo", "surface", broken)
    last = json.loads(stream.getvalue().splitlines()[-1])
    assert (last["level"], last["stage"]) == ("error", "surface")
    assert "demo 1.3, stage surface: KeyError" in last["event"]


def test_off_says_nothing_and_text_is_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    log_to(stream, "off")
    # wordllama does so when it is imported
    logging.basicConfig(level=logging.INFO)
    run_recorded("r", tmp_path, "demo", "surface", work)
    with pytest.raises(StageFailed):
        run_recorded("r", tmp_path, "demo", "surface", broken)
    assert (stream.getvalue(), capsys.readouterr().err) == ("", "")
    logging.getLogger("anybody").warning("this is known")
    assert capsys.readouterr().err == "this is known\n"
    log_to(stream, "text")
    run_recorded("r", tmp_path, "demo", "surface", work)
    assert "stage done" in stream.getvalue()
    assert "library=demo" in stream.getvalue()
