"""Two snapshots held against each other: every kind of difference is found, counted once, and nothing else is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.lake.tables import read_parquet, write_parquet
from pipeline.snapshots.comparison.column_comparison import Summary, column_diff, summaries
from pipeline.snapshots.comparison.comparison import Comparison, compare_snapshots
from pipeline.snapshots.comparison.table_comparison import NameDiff, RowDiff
from pipeline.snapshots.format.places import PLACES, pairs_at_places
from pipeline.snapshots.format.rows import TABLES
from tests.snapshots.lakes import demo_snapshot, edit_manifest, seal, to_format_1


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    return demo_snapshot(folder)


@pytest.fixture
def new(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "new"))


def change(snapshot: Path, config: str, how: Callable[[list[Any]], list[Any]], table: str = "") -> None:
    """Change the rows of a configuration, and make the manifest fit."""
    path = snapshot / "data" / f"{config}.parquet"
    count = write_parquet(path, table or TABLES[config], how(read_parquet(path)), volatile=False)

    def recount(manifest: dict[str, Any]) -> None:
        next(entry for entry in manifest["files"] if entry["path"] == f"data/{config}.parquet")["rows"] = count

    edit_manifest(snapshot, recount)
    seal(snapshot)


def compared(old: Path, new: Path, config: str) -> RowDiff:
    return compare_snapshots(old, new).rows[config]


def test_a_snapshot_is_the_same_as_itself(old: Path, new: Path) -> None:
    found = compare_snapshots(old, new)
    assert found.same
    assert all(diff.same for diff in found.rows.values())
    assert all(diff.same for columns in found.columns.values() for diff in columns.values())
    assert set(found.rows) == set(found.columns) == set(TABLES)


def test_snapshots_of_format_1_are_compared_by_the_names_of_today(old: Path, new: Path, tmp_path: Path) -> None:
    older = Path(shutil.copytree(old, tmp_path / "older"))
    to_format_1(older)
    assert all(diff.same for diff in compare_snapshots(older, new).rows.values())
    for side in (older, new):
        change(side, "line_coverage" if side == new else "reaches", lambda rows: rows[1:], table="line_coverage")
    shorter = Path(shutil.copytree(older, tmp_path / "shorter"))
    change(shorter, "reaches", lambda rows: [], table="line_coverage")
    total = len(read_parquet(older / "data" / "reaches.parquet"))
    diff = compared(older, shorter, "line_coverage")
    assert (diff.old, diff.new, diff.removed) == (total, 0, total)
    assert compared(older, new, "line_coverage").same


@pytest.fixture(scope="module")
def shortened(old: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Comparison]:
    """A snapshot against one that lacks a row of every configuration, and the other way round."""
    new = Path(shutil.copytree(old, tmp_path_factory.mktemp("shortened") / "new"))
    for config in PLACES:
        change(new, config, lambda rows: rows[1:])
    return compare_snapshots(old, new), compare_snapshots(new, old)


@pytest.mark.parametrize("config", sorted(PLACES))
def test_rows_that_went_and_came_are_counted_on_both_sides(
    old: Path, shortened: tuple[Comparison, Comparison], config: str
) -> None:
    total = len(read_parquet(old / "data" / f"{config}.parquet"))
    went, came = (comparison.rows[config] for comparison in shortened)
    assert (went.old, went.new, went.common, went.removed, went.added) == (total, total - 1, total - 1, 1, 0)
    assert (came.removed, came.added, came.gone_share) == (0, 1, 0.0)
    assert went.gone_share == 1 / total
    assert f"data/{config}.parquet" in shortened[0].files.changed


def test_other_content_at_the_same_place_is_a_replacement(old: Path, new: Path) -> None:
    change(new, "completions", lambda rows: [rows[0] | {"id": "f" * 32, "code": "x\n"}, *rows[1:]])
    found = compared(old, new, "completions")
    assert (found.replaced, found.added, found.removed) == (1, 0, 0)
    change(
        new, "completions", lambda rows: [row | {"path": "lib.other"} if row["id"] == "f" * 32 else row for row in rows]
    )
    found = compared(old, new, "completions")
    assert (found.replaced, found.added, found.removed) == (0, 1, 1)


def test_what_a_row_says_otherwise_is_told_by_column(old: Path, new: Path) -> None:
    change(new, "changes", lambda rows: [row | {"breaking": not row["breaking"], "replacement": "x"} for row in rows])
    found = compare_snapshots(old, new)
    assert not found.same
    total = found.rows["changes"].old
    assert found.rows["changes"] == RowDiff(total, total, total, changed=total)
    differing = {name: diff for name, diff in found.columns["changes"].items() if not diff.same}
    assert {name: diff.changed for name, diff in differing.items()} == {"breaking": total, "replacement": total}
    assert differing["breaking"].distance == 1.0
    replacement = differing["replacement"]
    assert replacement.old is not None
    assert replacement.new is not None
    assert (replacement.old.nulls, replacement.new.nulls, replacement.distance) == (1.0, 0.0, None)


def test_numbers_and_lists_of_a_vocabulary_have_their_distribution(old: Path, new: Path) -> None:
    change(new, "problems", lambda rows: [row | {"coverage": 0.5, "flags": ["audit", "flaky"]} for row in rows])
    columns = compare_snapshots(old, new).columns["problems"]
    assert columns["coverage"].new is not None
    assert (columns["coverage"].new.least, columns["coverage"].new.mean) == (0.5, 0.5)
    assert columns["flags"].new is not None
    assert columns["flags"].new.counts == {"audit": 1, "flaky": 1}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda m: m.update(rules={"rules": "x"}), {"rules": NameDiff(changed=("rules",))}),
        (lambda m: m.update(rules={"rules": "rules", "more": "x"}), {"rules": NameDiff(added=("more",))}),
        (lambda m: m.update(rules={}, rules_sha256="x"), {"rules": NameDiff(changed=("all rules",))}),
        (lambda m: m["libraries"].update(numpy=3), {"libraries": NameDiff(added=("numpy",))}),
        (lambda m: m.update(driftline="9"), {"facts": "driftline"}),
        (lambda m: m["period"].update(until="2030-01-01"), {"facts": "until"}),
    ],
)
def test_what_manifests_say_otherwise(
    old: Path, new: Path, edit: Callable[[dict[str, Any]], object], expected: dict[str, object]
) -> None:
    edit_manifest(new, edit)
    found = compare_snapshots(old, new)
    for name, value in expected.items():
        assert (list(found.facts) == [value]) if name == "facts" else (getattr(found, name) == value)


def test_releases_are_named(old: Path, new: Path) -> None:
    here = {"url": ""}
    change(new, "releases", lambda rows: [rows[0] | {"sha256": "1" * 64} | here, *(row | here for row in rows[2:])])
    releases = compare_snapshots(old, new).releases
    rows = read_parquet(old / "data" / "releases.parquet")
    names = [f"{row['library']} {row['version']}" for row in rows]
    assert releases == NameDiff(removed=(names[1],), changed=(names[0],))


def test_a_table_and_a_column_that_one_side_lacks_count_as_empty(old: Path, new: Path) -> None:
    (new / "data" / "flags.parquet").unlink()
    edit_manifest(new, lambda m: m.update(files=[e for e in m["files"] if e["path"] != "data/flags.parquet"]))
    path = new / "data" / "changes.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["breaking"]), path)
    seal(new)
    found: Comparison = compare_snapshots(old, new)
    assert (found.rows["flags"].new, found.rows["flags"].removed) == (0, found.rows["flags"].old)
    assert found.files.removed == ("data/flags.parquet",)
    assert found.columns["changes"]["breaking"].new is None
    assert found.rows["changes"].changed == 0


def test_an_awkward_name_is_no_pattern(old: Path, tmp_path: Path) -> None:
    awkward = Path(shutil.copytree(old, tmp_path / "we:ird [ab]* %20#" / "library=x"))
    assert compare_snapshots(old, awkward).same


COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 50), min_size=1)


@given(COUNTS, COUNTS)
def test_the_distance_is_that_of_the_shares(one: dict[str, int], other: dict[str, int]) -> None:
    diff = column_diff(Summary(0, 1, counts=one), Summary(0, 1, counts=other), 0)
    back = column_diff(Summary(0, 1, counts=other), Summary(0, 1, counts=one), 0)
    assert diff.distance is not None
    assert 0 <= diff.distance <= 1
    assert diff.distance == back.distance
    assert (diff.distance == 1) == (not set(one) & set(other))
    assert (
        column_diff(Summary(0, 1, counts=one), Summary(0, 1, counts={k: 3 * n for k, n in one.items()}), 0).distance
        == 0
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9))), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)))
)
def test_each_row_has_at_most_one_successor_at_its_own_place(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    sides = [
        [{"id": f"{side}{number}", "path": f"p{path}", "source_line": line} for number, (path, line) in enumerate(rows)]
        for side, rows in (("l", left), ("r", right))
    ]
    pairs = pairs_at_places("problems", *sides)
    assert len({one["id"] for one, _ in pairs}) == len({other["id"] for _, other in pairs}) == len(pairs)
    assert all(one["path"] == other["path"] for one, other in pairs)
    lefts, rights = ([path for path, _ in rows] for rows in (left, right))
    assert len(pairs) == sum(min(lefts.count(path), rights.count(path)) for path in set(lefts))


def test_the_range_of_times_needs_no_package_of_time_zones(
    old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB makes times with `pytz`, which `requirements.lock` does not have."""
    monkeypatch.setitem(sys.modules, "pytz", None)
    times = [row["release_time"] for row in read_parquet(old / "data" / "releases.parquet")]
    found = compare_snapshots(old, new).columns["releases"]["release_time"].old
    assert found is not None
    assert (found.least, found.most) == (min(times), max(times))


def test_one_value_several_and_none_are_counted_each() -> None:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t AS FROM (VALUES (true, 2, NULL), (true, 3, NULL), (NULL, 3, NULL)) v(a, b, c)")
        found = summaries(database, "t", {"a": "bool", "b": "int64", "c": "bool"})
    assert [(one.distinct, one.counts) for one in found.values()] == [(1, {"True": 2}), (2, None), (0, None)]
    assert (found["b"].least, found["b"].most, found["a"].nulls) == (2, 3, 0.333333)
