"""`driftline compare`: what came, went and changed between two snapshots."""

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

_SHOWN = 8
"""How many names or values a line of the text shows; JSON has all."""

_WIDE = 60

_LEAST = 0.0005
"""Shares that differ by less are the same to a reader."""


def compare(old: SnapshotName, new: SnapshotName, json: Json = False) -> None:
    """Say what came, went and changed from one snapshot to another: rows, columns, errata, libraries, releases, rules.

    Rows are compared by their id, and what went once more by its place (source and API). Ends with status 0 where the
    two are the same, 1 where they differ, 2 where one is no snapshot.

    Example: driftline compare data/snapshots/starter/starter-2026-04-02 starter
    """
    folders = find_snapshot(old), find_snapshot(new)
    try:
        with progress("comparing the snapshots"):
            found = compare_snapshots(*folders)
    except (ValueError, OSError, pa.ArrowException, duckdb.Error) as error:
        fail(f"{error}. `driftline verify` says what is wrong with a snapshot", BAD_USAGE)
    if json:
        print_json(_as_json(found))
    else:
        _show(found)
    raise typer.Exit(0 if found.same else PROBLEM)


def _as_json(found: Comparison) -> dict[str, Any]:
    """Return a comparison for a program: all configurations, and of the columns those that differ."""
    columns = {
        config: {name: asdict(diff) for name, diff in of_config.items() if not diff.same}
        for config, of_config in found.columns.items()
    }
    told = asdict(found) | {"columns": {config: names for config, names in columns.items() if names}}
    rows = {config: asdict(diff) | {"gone_share": round(diff.gone_share, 6)} for config, diff in found.rows.items()}
    return {"same": found.same, "errata_by_reason": found.errata_by_reason} | told | {"rows": rows}


def _show(found: Comparison) -> None:
    out.print(f"{found.old} -> {found.new}", markup=False)
    if found.same:
        out.print("the same, byte by byte", markup=False)
        return
    lines = [f"{name}: {old} -> {new}" for name, (old, new) in found.facts.items()]
    named = {"rules": found.rules, "libraries": found.libraries, "releases": found.releases, "files": found.files}
    lines += [f"{what}: {_names(moved)}" for what, moved in named.items()]
    for line in lines:
        out.print(line, markup=False)
    _show_rows(found)
    if columns := [*_column_lines(found)]:
        print_table("columns that differ", ("configuration", "column", "rows changed", "what"), columns)
    if found.errata:
        reasons = ", ".join(f"{number} {reason}" for reason, number in found.errata_by_reason.items())
        out.print(f"errata that are new: {len(found.errata)} ({reasons})", markup=False)


def _show_rows(found: Comparison) -> None:
    differ = {config: diff for config, diff in found.rows.items() if not diff.same}
    if not differ:
        out.print(f"rows: all {len(found.rows)} configurations have the same", markup=False)
        return
    numbers = ("old", "new", "added", "removed", "replaced", "changed", "deprecated_new")
    rows = [[config, *(getattr(diff, number) for number in numbers)] for config, diff in differ.items()]
    head = ("configuration", "old", "new", "added", "removed", "replaced", "changed", "deprecated")
    print_table("rows that differ", head, rows)
    out.print(f"the other {len(found.rows) - len(differ)} configurations have the same rows", markup=False)


def _names(moved: NameDiff) -> str:
    """Return how many names came, went and changed, with the first of them."""
    parts = ((moved.added, "added"), (moved.removed, "removed"), (moved.changed, "changed"))
    told = [f"{len(names)} {how} ({_first(names)})" for names, how in parts if names]
    return ", ".join(told) or "the same"


def _first(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} …"


def _column_lines(found: Comparison) -> Iterator[tuple[str, str, int, str]]:
    """Yield the columns that have something to tell; where a side has no rows its columns have not."""
    for config, columns in found.columns.items():
        if not (found.rows[config].old and found.rows[config].new):
            continue
        for name, diff in columns.items():
            told = "; ".join(_of_column(diff, found.rows[config]))
            if diff.changed or told:
                yield config, name, diff.changed, told


def _of_column(diff: ColumnDiff, rows: RowDiff) -> Iterator[str]:
    """Yield what differs of a column; that ids are as many as the rows is no news."""
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
    for what in ("least", "most", "mean"):
        one, other = getattr(old, what), getattr(new, what)
        if one != other:
            yield f"{what} {_short(one)} -> {_short(other)}"


def _values(old: Summary, new: Summary) -> str:
    """Return the values whose counts differ, those that differ most first."""
    one, other = old.counts or {}, new.counts or {}
    values = sorted({*one, *other}, key=lambda value: (-abs(one.get(value, 0) - other.get(value, 0)), value))
    told = [f"{v} {one.get(v, 0)} -> {other.get(v, 0)}" for v in values if one.get(v, 0) != other.get(v, 0)]
    return _first(told)


def _short(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"
