"""Columns of a configuration in two snapshots: nulls, distinct values, vocabularies, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

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
    by_name = {}
    for place, (name, kind) in enumerate(types.items()):
        present, distinct, least, most, mean = measured[1 + 5 * place : 6 + 5 * place]
        mean = round(float(mean), 6) if mean is not None else None
        if kind == "timestamp":
            least, most = _time(least), _time(most)
        counts = _counts(database, view, name, kind)
        by_name[name] = Summary(round(1 - present / rows, 6), int(distinct), least, most, mean, counts)
    return by_name


def _measures(name: str, kind: str) -> list[str]:
    """Return the measures of a column: values, distinct ones, and the range of numbers and times."""
    least, most = (f'min("{name}")', f'max("{name}")') if kind in _NUMBERS else ("NULL", "NULL")
    if kind == "timestamp":
        # as microseconds: DuckDB needs pytz for times, and returns them in the zone of the machine
        least, most = f'epoch_us(min("{name}"))', f'epoch_us(max("{name}"))'
    mean = f'avg("{name}")' if kind in _NUMBERS else "NULL"
    return [f'count("{name}")', f'count(DISTINCT "{name}")', least, most, mean]


def _time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def _counts(database: duckdb.DuckDBPyConnection, view: str, name: str, kind: str) -> dict[str, int] | None:
    """Count the values of a vocabulary or truth value, those in lists one by one; None for other columns."""
    inner = kind.removeprefix("list[").removesuffix("]")
    if enum_of(inner) is None and kind != "bool":
        return None
    item = f'unnest("{name}")' if inner != kind else f'"{name}"'
    source = f"(SELECT {item} AS item FROM {view})"  # noqa: S608
    query = f"SELECT item, count(*) FROM {source} WHERE item IS NOT NULL GROUP BY item ORDER BY item"  # noqa: S608
    counted = {str(value): int(number) for value, number in database.execute(query).fetchall()}
    return counted or None
