"""Rows that lie after the period of a refresh are deferred, and come back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.lake.deferred import FOLDER, defer, with_deferred
from pipeline.lake.tables import Lake


def release(library: str, version: str) -> Any:
    """A row of `releases`, released in the year of its major number after 2020."""
    columns = ("predecessor", "as_of", "requires_python", "licence", "licence_stated", "attribution")
    return dict.fromkeys(columns) | {
        "library": library,
        "version": version,
        "release_time": datetime(2020 + int(version[0]), 1, 1, tzinfo=UTC),
        "artifact": f"{library}-{version}-py3-none-any.whl",
        "artifact_kind": "wheel",
        "sha256": version,
        "size": 1,
        "url": "",
        "import_names": [library],
        "purl": f"pkg:pypi/{library}@{version}",
    }


ROWS = [release("demo", version) for version in ("1.0", "1.1", "2.0", "3.0")]


def show(lake: Lake, *versions: str) -> list[str]:
    """Write some of the known rows, as a stage does, and return which are known then."""
    known = with_deferred(lake, "releases", "demo")
    shown = [row for row in ROWS if row["version"] in versions]
    defer(lake, "releases", "demo", known, shown)
    lake.write("releases", "demo", shown)
    return sorted(row["version"] for row in with_deferred(lake, "releases", "demo"))


def test_nothing_that_was_taken_is_lost(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert show(lake, "1.0", "2.0") == ["1.0", "2.0"]
    assert not (tmp_path / FOLDER).exists()
    assert show(lake, "1.0") == ["1.0", "2.0"]
    assert show(lake, "1.0", "1.1") == ["1.0", "1.1", "2.0"]
    assert show(lake, "1.1", "3.0") == ["1.0", "1.1", "2.0", "3.0"]
    assert show(lake, "1.0", "1.1", "2.0", "3.0") == ["1.0", "1.1", "2.0", "3.0"]
    assert show(lake, "1.0", "1.1", "2.0", "3.0") == ["1.0", "1.1", "2.0", "3.0"]
    assert Lake(tmp_path / FOLDER).libraries("releases") == []


def test_a_run_that_is_killed_between_keeping_and_writing_loses_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    show(lake, "1.0", "2.0", "3.0")
    defer(lake, "releases", "demo", with_deferred(lake, "releases", "demo"), ROWS[:1])
    assert len(with_deferred(lake, "releases", "demo")) == 3


def test_tables_of_the_lake_do_not_show_deferred_ones(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    show(lake, "1.0", "2.0")
    show(lake, "1.0")
    assert [row["version"] for row in lake.read("releases", "demo")] == ["1.0"]
    assert lake.libraries("releases") == ["demo"]
