"""Comparison of one configuration in two snapshots: rows by key and by place, and columns."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import Table, table
from pipeline.snapshots.comparison.column_comparison import ColumnDiff, Summary, column_diff, count_rows, summaries
from pipeline.snapshots.format.places import LINES, PLACES, pairs_at_places
from pipeline.snapshots.format.reader import DEPRECATED, Snapshot
from pipeline.snapshots.format.rows import TABLES


@dataclass(frozen=True, slots=True)
class RowDiff:
    """Counts of rows: `common` have the same key on both sides, `changed` of them differ.

    `replaced` are removed rows with a successor at the same place; `removed` and `added` do not include them.
    `deprecated_*` are the rows in the split deprecated.
    """

    old: int = 0
    new: int = 0
    common: int = 0
    changed: int = 0
    replaced: int = 0
    added: int = 0
    removed: int = 0
    deprecated_old: int = 0
    deprecated_new: int = 0

    @property
    def same(self) -> bool:
        """Whether the rows are equal on both sides."""
        moved = self.changed or self.replaced or self.added or self.removed
        return not moved and self.deprecated_old == self.deprecated_new

    @property
    def gone_share(self) -> float:
        """Share of the old rows whose key is removed, 0 to 1; 0 where there were none."""
        return (self.removed + self.replaced) / self.old if self.old else 0.0


@dataclass(frozen=True, slots=True)
class NameDiff:
    """Names that were added or removed, or have other values."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing was added, removed or changed."""
        return not (self.added or self.removed or self.changed)


def name_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> NameDiff:
    """Compare the names and values of two mappings."""
    added, removed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    changed = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    return NameDiff(tuple(added), tuple(removed), tuple(changed))


class Pair:
    """A configuration in both snapshots, as two views of a database; a side without the file has no view.

    Files that are `equal` byte by byte are read once.
    """

    def __init__(
        self, database: duckdb.DuckDBPyConnection, config: str, old: Snapshot, new: Snapshot, *, equal: bool = False
    ) -> None:
        self._database, self._config, self._equal = database, config, equal
        self._declared: Table = table(TABLES[config])
        self._views: dict[str, str] = {}
        self._names: dict[str, set[str]] = {"old": set(), "new": set()}
        self._deprecated = [side.count([config], DEPRECATED) for side in (old, new)]
        for side, snapshot in (("old", old), ("new", new)):
            if snapshot.has(config):
                self._views[side] = f"{side}_{config}"
                self._names[side] = set(snapshot.columns(config))
                database.register(self._views[side], snapshot.dataset(config, sorted(self._names[side])))

    @property
    def _key(self) -> tuple[str, ...]:
        return ("id",) if self._config in PLACES else self._declared.key

    def rows(self) -> RowDiff:
        """Compare the rows."""
        old, new = self._rows_of("old"), self._rows_of("new")
        if self._equal:
            return RowDiff(old, new, common=new, deprecated_old=self._deprecated[0], deprecated_new=self._deprecated[1])
        if not self._joined:
            return RowDiff(old, new, 0, 0, 0, new, old, *self._deprecated)
        common, changed, _ = self._joint
        replaced = len(self._replaced()) if self._config in PLACES else 0
        return RowDiff(
            old, new, common, changed, replaced, new - common - replaced, old - common - replaced, *self._deprecated
        )

    def columns(self) -> dict[str, ColumnDiff]:
        """Compare the declared columns that either side has."""
        new = self._summaries("new")
        old = new if self._equal else self._summaries("old")
        changed = self._joint[2] if self._joined and not self._equal else {}
        names = [column.name for column in self._declared.columns if column.name in old or column.name in new]
        return {name: column_diff(old.get(name), new.get(name), changed.get(name, 0)) for name in names}

    def _summaries(self, side: str) -> dict[str, Summary]:
        if side not in self._views:
            return {}
        kinds = {c.name: c.type for c in self._declared.columns if c.name in self._names[side]}
        return summaries(self._database, self._views[side], kinds)

    def named(self) -> NameDiff:
        """Compare the keys, as texts."""
        sides = [self._texts(side) for side in ("old", "new")]
        return name_diff(*sides)

    def new_rows(self) -> list[AnyRow]:
        """Return the rows of the new side whose key the old side lacks."""
        if "new" not in self._views:
            return []
        where = f"ANTI JOIN {self._views['old']} AS a ON {self._on}" if "old" in self._views else ""
        query = f"SELECT b.* FROM {self._views['new']} AS b {where} ORDER BY ALL"  # noqa: S608
        return self._fetched(query)

    def _rows_of(self, side: str) -> int:
        query = f"SELECT 1 FROM {self._views.get(side)}"  # noqa: S608
        return count_rows(self._database, query) if side in self._views else 0

    def _texts(self, side: str) -> dict[str, str]:
        if side not in self._views:
            return {}
        names = ", ".join(f'"{name}"' for name in sorted(self._names["old"] & self._names["new"] or self._names[side]))
        query = f"SELECT concat_ws(' ', {', '.join(self._key)}), md5(({names})::VARCHAR) FROM {self._views[side]}"  # noqa: S608
        return {str(key): str(digest) for key, digest in self._database.execute(query).fetchall()}

    @property
    def _joined(self) -> bool:
        return len(self._views) == 2 and all(set(self._key) <= names for names in self._names.values())

    @property
    def _common(self) -> list[str]:
        return [c.name for c in self._declared.columns if all(c.name in names for names in self._names.values())]

    @property
    def _on(self) -> str:
        return " AND ".join(f'a."{name}" IS NOT DISTINCT FROM b."{name}"' for name in self._key)

    @property
    def _join(self) -> str:
        return f"FROM {self._views['old']} AS a JOIN {self._views['new']} AS b ON {self._on}"

    @functools.cached_property
    def _joint(self) -> tuple[int, int, dict[str, int]]:
        """Count the rows of the same key, those of them that differ, and those that differ by column."""
        other = {name: f'a."{name}" IS DISTINCT FROM b."{name}"' for name in self._common}
        parts = [f"count(*) FILTER (WHERE {each})" for each in (" OR ".join(other.values()), *other.values())]
        counts = self._database.execute(f"SELECT count(*), {', '.join(parts)} {self._join}").fetchone() or ()
        common, changed, *by_column = map(int, counts)
        return common, changed, dict(zip(other, by_column, strict=True))

    def _replaced(self) -> list[tuple[AnyRow, AnyRow]]:
        """Return the removed rows with their successors at the same place."""
        sides = [self._alone("old", "new"), self._alone("new", "old")]
        return pairs_at_places(self._config, *sides)

    def _alone(self, side: str, other: str) -> list[AnyRow]:
        """Return the columns of the place of rows whose id only one side has."""
        names = [name for name in dict.fromkeys(("id", *PLACES[self._config], *LINES)) if name in self._names[side]]
        query = (
            f"SELECT {', '.join(names)} FROM {self._views[side]} AS a"  # noqa: S608
            f" ANTI JOIN {self._views[other]} AS b ON a.id = b.id"
        )
        return self._fetched(query)

    def _fetched(self, query: str) -> list[AnyRow]:
        result = self._database.execute(query)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
