"""Answers from the index for libraries that were never crawled: what one question has read, the next goes on from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.api.history.evolution import evolution_of
from pipeline.core.vocabularies.review import RejectReason
from pipeline.orchestration.adhoc import NoAnswerError, Tables, tables_from_index
from tests.demo_library import RELEASES, publish_demo
from tests.errors import raises
from tests.index_server import Index

TABLES = ("releases", "symbols", "importable_names", "changes", "lifecycles", "rejects")


@pytest.fixture
def at(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index as the setting that has all releases of the demo library but the last."""
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    publish_demo(index, releases=("1.0", "1.1", "1.2"))
    return index


def asked() -> tuple[Tables, list[tuple[str, int, int]]]:
    """Return what is answered, and what is told meanwhile."""
    told: list[tuple[str, int, int]] = []
    return tables_from_index("demo", lambda *what: told.append(what)), told


def content(tables: Tables) -> dict[str, Any]:
    return {name: getattr(tables, name) for name in TABLES}


def release_2_0(index: Index) -> None:
    uploaded, files = RELEASES["2.0"]
    index.add_wheel("demo", "2.0", files, uploaded, requires_python=">=3.6")


def withdraw_1_1(index: Index) -> None:
    for file in index.projects["demo"]["1.1"]:
        file.yanked = True


def nothing(index: Index) -> None: ...


def test_a_question_tells_what_is_read_and_the_next_one_reads_nothing(at: Index) -> None:
    first, told = asked()
    assert told[0] == ("asking for demo", 0, 1)
    assert [what for what in told if what[0] == "parsing demo"][-1] == ("parsing demo", 3, 3)
    assert [what for what in told if what[0] == "reading demo"] == [("reading demo", n, 3) for n in (1, 2, 3)]
    again, told = asked()
    assert told == [("asking for demo", 0, 1)]
    assert content(again) == content(first)


def test_a_release_that_came_is_read_alone(at: Index) -> None:
    asked()
    release_2_0(at)
    tables, told = asked()
    assert [what for what in told if what[0] == "reading demo"] == [("reading demo", 1, 1)]
    assert [row["version"] for row in tables.releases] == list(RELEASES)


@pytest.mark.parametrize("happens", [nothing, release_2_0, withdraw_1_1])
def test_the_answer_is_that_of_a_first_question_whatever_was_asked_before(
    happens: Callable[[Index], None], at: Index, data: Path
) -> None:
    asked()
    happens(at)
    after = content(asked()[0])
    shutil.rmtree(data)
    assert after == content(asked()[0])


@pytest.mark.parametrize("gone", ["*/library=demo/*.parquet", "stage_states/library=demo/*", "symbols/library=demo/*"])
def test_what_was_taken_out_of_the_cache_is_made_again(gone: str, at: Index, data: Path) -> None:
    first = content(asked()[0])
    found = list((data / "cache" / "history_tables").glob(gone))
    assert found
    for path in found:
        path.unlink()
    assert content(asked()[0]) == first


def test_a_library_that_lost_all_its_releases_has_no_answer(at: Index) -> None:
    asked()
    del at.projects["demo"]
    with raises(NoAnswerError, code="library_unknown"):
        asked()
    publish_demo(at)
    assert [row["version"] for row in asked()[0].releases] == list(RELEASES)


EMPTY = {"demo/__main__.py": "x = 1\n"}
"""What has no module that can be imported."""


def test_a_release_of_which_nothing_is_read_is_left_out_and_ends_no_history(at: Index) -> None:
    at.add_wheel("demo", "1.1.1", EMPTY, "2021-02-02T00:00:00Z")
    deep = {"demo/__init__.py": f"def greet(name, punctuation='!'): ...\nx = {'+'.join(['1'] * 6000)}\n"}
    at.add_wheel("demo", "1.3", deep, "2021-03-02T00:00:00Z")
    tables, _ = asked()
    assert [row["version"] for row in tables.releases] == ["1.0", "1.1", "1.2", "1.3"]
    left_out = {(reject.key, reject.reason) for reject in tables.rejects}
    assert {("1.1.1", RejectReason.NOTHING_READ), ("1.3 demo/__init__.py", RejectReason.TOO_DEEP)} <= left_out
    steps = evolution_of(tables.releases, tables.changes, tables.lifecycles, tables.uncompared)
    assert [step.compared for step in steps] == [False, True, False, True]
    # what was out of sight is not said to have come or gone with the next one
    lives = [(row["first_version"], row["introduced_in"]) for row in tables.lifecycles if row["path"] == "demo.greet"]
    assert lives == [("1.0", None), ("1.2", None)]
    # a second question goes on from there
    release_2_0(at)
    again = content(asked()[0])
    assert again["releases"][-1]["version"] == "2.0"


def test_a_library_of_which_nothing_is_read_has_no_answer(at: Index) -> None:
    at.add_wheel("hollow", "1.0", EMPTY, "2021-02-02T00:00:00Z")
    with raises(NoAnswerError, code="release_unreadable"):
        tables_from_index("hollow", lambda *what: None)
