"""Columns of a configuration in two snapshots: nulls, distinct values, vocabularies, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from pipeline.lake.schema import enum_of

_NUMBERS = frozenset({"int64", "float64"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def count_rows(database: duckdb.DuckDBPyConnection, query: str) -> int:
    """Return the number of rows of a query."""
    row = database.execute(f"SELECT count(*) FROM ({query})").fetchone()  # noqa: S608
    return int(row[0]) if row else 0


@dataclass(frozen=True, slots=True)
class Summary:
    """A column of one snapshot: share of nulls, distinct values, range; `counts` for vocabularies and truth values."""

    nulls: float
    distinct: int
    least: object = None
    most: object = None
    mean: float | None = None
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class ColumnDiff:
    """A column in both snapshots; None for a side whose table is empty or lacks the column.

    `changed` are rows of the same key with another value in it. `distance` is the total variation distance of the
    shares of the values of a vocabulary or truth value: 0 for the same shares, 1 where no value is in both.
    """

    old: Summary | None
    new: Summary | None
    changed: int
    distance: float | None = field(default=None)

    @property
    def same(self) -> bool:
        """Whether the column is equal on both sides."""
        return self.old == self.new and not self.changed


def column_diff(old: Summary | None, new: Summary | None, changed: int) -> ColumnDiff:
    """Compare a column in two snapshots."""
    if old is None or new is None or old.counts is None or new.counts is None:
        return ColumnDiff(old, new, changed)
    shares = [{value: count / sum(side.values()) for value, count in side.items()} for side in (old.counts, new.counts)]
    values = sorted({*shares[0], *shares[1]})
    distance = sum(abs(shares[0].get(value, 0) - shares[1].get(value, 0)) for value in values) / 2
    return ColumnDiff(old, new, changed, round(distance, 6))


def summaries(database: duckdb.DuckDBPyConnection, view: str, types: Mapping[str, str]) -> dict[str, Summary]:
    """Summarise the columns of a table by name; `types` are their declared types."""
    if not types:
        return {}
    parts = [part for name, kind in types.items() for part in _measures(name, kind)]
    measured = database.execute(f"SELECT count(*), {', '.join(parts)} FROM {view}").fetchone() or (0,)  # noqa: S608
    rows = int(measured[0])
    if not rows:
        return {}
    of_name = {name: measured[1 + 5 * place : 6 + 5 * place] for place, name in enumerate(types)}
    distinct = _distinct(database, view, [name for name, (_, is_varied, *_) in of_name.items() if is_varied])
    by_name = {}
    for name, kind in types.items():
        present, is_varied, least, most, mean = of_name[name]
        counts = None
        if present and _is_counted(kind):
            counts = _counts(database, view, name, kind) if is_varied or kind.startswith("list[") else {least: present}
            counts = {str(value): int(number) for value, number in counts.items()} or None
        if kind not in _NUMBERS | {"timestamp"}:
            least = most = None
        if kind == "timestamp":
            least, most = _time(least), _time(most)
        mean = round(float(mean), 6) if mean is not None else None
        values = distinct.get(name, min(int(present), 1))
        by_name[name] = Summary(round(1 - present / rows, 6), values, least, most, mean, counts)
    return by_name


def _measures(name: str, kind: str) -> list[str]:
    """Return the measures of a column: values, whether they differ, their range and mean where that is of use."""
    least, most = f'min("{name}")', f'max("{name}")'
    varied = f"{least} IS DISTINCT FROM {most}"
    if kind == "timestamp":
        # as microseconds: DuckDB needs pytz for times, and returns them in the zone of the machine
        least, most = f"epoch_us({least})", f"epoch_us({most})"
    elif kind not in _NUMBERS:
        least, most = least if _is_counted(kind) else "NULL", "NULL"
    mean = f'avg("{name}")' if kind in _NUMBERS else "NULL"
    return [f'count("{name}")', varied, least, most, mean]


def _distinct(database: duckdb.DuckDBPyConnection, view: str, names: Sequence[str]) -> dict[str, int]:
    """Count the distinct values of columns that have several: each count builds a hash table, even of one value."""
    if not names:
        return {}
    parts = ", ".join(f'count(DISTINCT "{name}")' for name in names)
    counted = database.execute(f"SELECT {parts} FROM {view}").fetchone() or ()  # noqa: S608
    return {name: int(number) for name, number in zip(names, counted, strict=True)}


def _time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def _is_counted(kind: str) -> bool:
    """Say whether a column holds values of a vocabulary, lists of them, or truth values."""
    return kind == "bool" or enum_of(kind.removeprefix("list[").removesuffix("]")) is not None


def _counts(database: duckdb.DuckDBPyConnection, view: str, name: str, kind: str) -> dict[Any, int]:
    """Count the values of a column, those in lists one by one."""
    item = f'unnest("{name}")' if kind.startswith("list[") else f'"{name}"'
    source = f"(SELECT {item} AS item FROM {view})"  # noqa: S608
    query = f"SELECT item, count(*) FROM {source} WHERE item IS NOT NULL GROUP BY item ORDER BY item"  # noqa: S608
    return dict(database.execute(query).fetchall())
