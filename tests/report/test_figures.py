"""The figures of a snapshot are counts of its rows; what it lacks is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.report.figures import Bar, Figure, SnapshotTables, snapshot_figures


def write(folder: Path, config: str, **columns: Any) -> None:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / "data" / f"{config}.parquet")


def numbers(figure: Figure) -> dict[str, dict[str, int]]:
    return {bar.label: {part: number for part, number in bar.parts.items() if number} for bar in figure.bars}


@pytest.fixture
def figures(tmp_path: Path) -> dict[str, Figure]:
    times = [datetime(year, 5, 1, tzinfo=UTC) for year in (2021, 2021, 2024)]
    write(
        tmp_path,
        "completions",
        library=["a", "a", "<b>"],
        source=["docstring", "docstring", "github"],
        versicode_tag=["addition", "general", "general"],
        release_time=times,
        evidence=["executed", "static", "executed"],
        flags=pa.array([["audit", "too_long"], [], ["audit"]], pa.list_(pa.string())),
        review_status=["pending", "unflagged", "pending"],
    )
    write(tmp_path, "scenes", library=["a"], sdist=["a.tar.gz"], created_time=times[:1], evidence=["executed"])
    write(tmp_path, "environments", library=["a", "a"], outcome=["built", "import_failed"])
    write(tmp_path, "projects", library=["a"], outcome=["traced"])
    return {figure.name: figure for figure in snapshot_figures(tmp_path)}


@pytest.mark.parametrize(
    ("name", "bars"),
    [
        ("source", {"docstring": {"completions": 2}, "github": {"completions": 1}, "project": {"scenes": 1}}),
        ("versicode_tag", {"addition": {"completions": 1}, "general": {"completions": 2}}),
        ("release_year", {"2021": {"completions": 2, "scenes": 1}, "2024": {"completions": 1}}),
        ("library", {"a": {"completions": 2, "scenes": 1}, "<b>": {"completions": 1}}),
        ("evidence", {"completions": {"executed": 2, "static": 1}, "scenes": {"executed": 1}}),
        ("environments", {"built": {"releases": 1}, "import_failed": {"releases": 1}, "traced": {"projects": 1}}),
        ("flags", {"too_long": {"pending": 1}, "audit": {"pending": 2}}),
        ("review", {"completions": {"unflagged": 1, "pending": 2}}),
    ],
)
def test_what_is_counted(figures: dict[str, Figure], name: str, bars: dict[str, dict[str, int]]) -> None:
    assert numbers(figures[name]) == bars


def test_what_a_snapshot_lacks_has_no_figure(figures: dict[str, Figure], tmp_path: Path) -> None:
    assert {"libevolutioneval_tag", "category", "verdicts"}.isdisjoint(figures)
    assert snapshot_figures(tmp_path / "empty") == []
    assert SnapshotTables(tmp_path).rows("migrations") == 0


def test_the_longest_bar_is_the_scale(figures: dict[str, Figure]) -> None:
    assert figures["library"].most == 3
    assert Figure("none", "", "", []).most == 1
    assert Bar("empty", "", {}).total == 0
