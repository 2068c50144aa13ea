"""`driftline compare`: differences between two snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import duckdb
import pyarrow as pa
import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, print_table, progress
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.snapshots.comparison.column_comparison import ColumnDiff, Summary
from pipeline.snapshots.comparison.comparison import Comparison, compare_snapshots
from pipeline.snapshots.comparison.table_comparison import NameDiff, RowDiff

_LISTED = 8
"""Names or values in a line of text; JSON has all."""

_WIDE = 60

_LEAST = 0.0005
"""Smaller differences of shares are not displayed."""


def compare(old: SnapshotName, new: SnapshotName, json: Json = False) -> None:
    """Compare two snapshots: added, removed and changed rows, columns, errata, libraries, releases and rules.

    Rows are compared by their id, and removed ones again by their place (source and API). Ends with status 0 if both
    are the same, 1 if they differ, 2 if one is no snapshot.

    Example: driftline compare data/snapshots/starter/starter-2026-04-02 starter
    """
    folders = find_snapshot(old), find_snapshot(new)
    try:
        with progress("comparing the snapshots"):
            comparison = compare_snapshots(*folders)
    except (ValueError, OSError, pa.ArrowException, duckdb.Error) as error:
        fail(f"{error}. `driftline verify` lists the problems of a snapshot", BAD_USAGE)
    if json:
        print_json(_as_json(comparison))
    else:
        _show(comparison)
    raise typer.Exit(0 if comparison.same else PROBLEM)


def _as_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON: all configurations, and the columns that differ."""
    columns = {
        config: {name: asdict(diff) for name, diff in of_config.items() if not diff.same}
        for config, of_config in comparison.columns.items()
    }
    fields = asdict(comparison) | {"columns": {config: names for config, names in columns.items() if names}}
    rows = {
        config: asdict(diff) | {"gone_share": round(diff.gone_share, 6)} for config, diff in comparison.rows.items()
    }
    return {"same": comparison.same, "errata_by_reason": comparison.errata_by_reason} | fields | {"rows": rows}


def _show(comparison: Comparison) -> None:
    out.print(f"{comparison.old} -> {comparison.new}", markup=False)
    if comparison.same:
        out.print("the same, byte by byte", markup=False)
        return
    lines = [f"{name}: {old} -> {new}" for name, (old, new) in comparison.facts.items()]
    named = {
        "rules": comparison.rules,
        "libraries": comparison.libraries,
        "releases": comparison.releases,
        "files": comparison.files,
    }
    lines += [f"{kind}: {_names(moved)}" for kind, moved in named.items()]
    for line in lines:
        out.print(line, markup=False)
    _show_rows(comparison)
    if columns := [*_column_lines(comparison)]:
        print_table("columns that differ", ("configuration", "column", "rows changed", "difference"), columns)
    if comparison.errata:
        reasons = ", ".join(f"{number} {reason}" for reason, number in comparison.errata_by_reason.items())
        out.print(f"errata that are new: {len(comparison.errata)} ({reasons})", markup=False)


def _show_rows(comparison: Comparison) -> None:
    differ = {config: diff for config, diff in comparison.rows.items() if not diff.same}
    if not differ:
        out.print(f"rows: all {len(comparison.rows)} configurations have the same", markup=False)
        return
    numbers = ("old", "new", "added", "removed", "replaced", "changed", "deprecated_new")
    rows = [[config, *(getattr(diff, number) for number in numbers)] for config, diff in differ.items()]
    head = ("configuration", "old", "new", "added", "removed", "replaced", "changed", "deprecated")
    print_table("rows that differ", head, rows)
    out.print(f"the other {len(comparison.rows) - len(differ)} configurations have the same rows", markup=False)


def _names(moved: NameDiff) -> str:
    """Return the numbers of added, removed and changed names, with the first of them."""
    parts = ((moved.added, "added"), (moved.removed, "removed"), (moved.changed, "changed"))
    changes = [f"{len(names)} {how} ({_first(names)})" for names, how in parts if names]
    return ", ".join(changes) or "the same"


def _first(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed} …"


def _column_lines(comparison: Comparison) -> Iterator[tuple[str, str, int, str]]:
    """Yield the columns that differ, of configurations with rows on both sides."""
    for config, columns in comparison.columns.items():
        if not (comparison.rows[config].old and comparison.rows[config].new):
            continue
        for name, diff in columns.items():
            difference = "; ".join(_of_column(diff, comparison.rows[config]))
            if diff.changed or difference:
                yield config, name, diff.changed, difference


def _of_column(diff: ColumnDiff, rows: RowDiff) -> Iterator[str]:
    """Yield the differences of a column; numbers of ids that only follow the rows are left out."""
    if diff.old is None or diff.new is None:
        yield "only new" if diff.old is None else "only old"
        return
    old, new = diff.old, diff.new
    if abs(old.nulls - new.nulls) >= _LEAST:
        yield f"nulls {old.nulls:.1%} -> {new.nulls:.1%}"
    if old.distinct != new.distinct and (old.distinct, new.distinct) != (rows.old, rows.new):
        yield f"{old.distinct} -> {new.distinct} values"
    yield from _range(old, new)
    if diff.distance and diff.distance >= _LEAST:
        yield f"{_values(old, new)} (distance {diff.distance:.3f})"


def _range(old: Summary, new: Summary) -> Iterator[str]:
    for measure in ("least", "most", "mean"):
        before, after = getattr(old, measure), getattr(new, measure)
        if before != after:
            yield f"{measure} {_short(before)} -> {_short(after)}"


def _values(old: Summary, new: Summary) -> str:
    """Return the values whose counts differ, largest differences first."""
    before, after = old.counts or {}, new.counts or {}
    values = sorted({*before, *after}, key=lambda value: (-abs(before.get(value, 0) - after.get(value, 0)), value))
    differing = [f"{v} {before.get(v, 0)} -> {after.get(v, 0)}" for v in values if before.get(v, 0) != after.get(v, 0)]
    return _first(differing)


def _short(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"
