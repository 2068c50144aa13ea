"""The figures of a snapshot are counts of its rows; what it lacks is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.orchestration.report.figures import Bar, Figure, snapshot_figures
from pipeline.orchestration.report.shares import share_lines
from pipeline.snapshots.format.reader import Snapshot
from tests.snapshots.lakes import stamp, write_columns


def write(folder: Path, config: str, **columns: Any) -> None:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    write_columns(folder, config, rows)


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
        evidence=["executed", "static", "documented"],
        granularity=["token", "token", "block"],
        flags=[["audit", "too_long"], [], ["audit"]],
        review_status=["pending", "unflagged", "pending"],
    )
    write(tmp_path, "scenes", library=["a"], sdist=["a.tar.gz"], created_time=times[:1], evidence=["executed"])
    write(tmp_path, "environments", library=["a", "a"], outcome=["built", "import_failed"])
    write(tmp_path, "projects", library=["a"], outcome=["traced"])
    survivals = {"period": ["2026-10", "2026-11", "2026-11"], "snapshot": ["s1", "s1", "s1"]}
    write(tmp_path, "survivals", **survivals, reason=[None, None, "yanked"])
    return {figure.name: figure for figure in snapshot_figures(Snapshot(stamp(tmp_path)))}


@pytest.mark.parametrize(
    ("name", "bars"),
    [
        ("source", {"docstring": {"completions": 2}, "github": {"completions": 1}, "project": {"scenes": 1}}),
        ("versicode_tag", {"addition": {"completions": 1}, "general": {"completions": 2}}),
        ("release_year", {"2021": {"completions": 2, "scenes": 1}, "2024": {"completions": 1}}),
        ("library", {"a": {"completions": 2, "scenes": 1}, "<b>": {"completions": 1}}),
        ("family", {"completions": {"completions": 3}, "scenes": {"scenes": 1}}),
        ("granularity", {"token": {"completions": 2}, "block": {"completions": 1}}),
        ("evidence", {"completions": {"executed": 1, "documented": 1, "static": 1}, "scenes": {"executed": 1}}),
        ("survival", {"2026-11: s1": {"still passes": 1, "yanked": 1}, "2026-10: s1": {"still passes": 1}}),
        ("environments", {"built": {"releases": 1}, "import_failed": {"releases": 1}, "traced": {"projects": 1}}),
        ("flags", {"too_long": {"pending": 1}, "audit": {"pending": 2}}),
        ("review", {"completions": {"unflagged": 1, "pending": 2}}),
    ],
)
def test_what_is_counted(figures: dict[str, Figure], name: str, bars: dict[str, dict[str, int]]) -> None:
    assert numbers(figures[name]) == bars


def test_shares_are_of_what_is_known_and_against_before(figures: dict[str, Figure]) -> None:
    every, completions, scenes = share_lines(figures, {"evidence": figures["evidence"]})
    assert (every.family, every.rows, every.executed, every.proven) == ("all families", 4, 0.5, 0.75)
    assert (completions.executed_before, completions.proven_before) == (1 / 3, 2 / 3)
    assert (scenes.executed, scenes.proven) == (1, 1)
    assert [line.executed_before for line in share_lines(figures, {})] == [None, None, None]
    assert share_lines({}, {}) == []


def test_what_a_snapshot_lacks_has_no_figure(figures: dict[str, Figure], tmp_path: Path) -> None:
    assert {"libevolutioneval_tag", "category", "verdicts"}.isdisjoint(figures)
    assert snapshot_figures(Snapshot(stamp(tmp_path / "empty"))) == []


def test_the_longest_bar_is_the_scale(figures: dict[str, Figure]) -> None:
    assert figures["library"].most == 3
    assert Figure("none", "", "", []).most == 1
    assert Bar("empty", "", {}).total == 0
