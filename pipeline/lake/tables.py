"""Tables on disk: one Parquet file per table and partition, written whole, in one order, under a temporary name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from packaging.version import Version

from pipeline.lake.collector import without_collector
from pipeline.lake.schema import Row, Table, table
from pipeline.lake.stage import Update


def write_parquet(path: Path, name: str, rows: Iterable[Row], *, volatile: bool = True) -> int:
    """Write rows of a declared table to a Parquet file and return how many there are.

    Rows are checked against the declaration, sorted by the table's key and written with fixed options, so that
    equal rows give equal bytes. The file appears under its name only when it is complete.

    Errors: SchemaError for a row that does not fit, ValueError for two rows with the same key.
    """
    declared = table(name)
    with without_collector():
        kept = _ordered(name, list(rows))
        for row in kept:
            declared.check(row)
        _check_keys(declared, kept)
        schema = declared.arrow(volatile=volatile)
        columns = {field.name: [row.get(field.name) for row in kept] for field in schema}
        data = pa.Table.from_pydict(columns, schema=schema)
    with replacing(path) as temporary:
        pq.write_table(
            data,
            temporary,
            compression="zstd",
            use_content_defined_chunking=True,
            write_page_index=True,
            store_schema=True,
        )
    return len(kept)


def _check_keys(declared: Table, rows: Sequence[Row]) -> None:
    """Raise ValueError for two rows with the same key."""
    keys = list(_keys(declared, rows))
    if len(set(keys)) < len(keys):
        key = next(key for key, times in Counter(keys).items() if times > 1)
        raise ValueError(f"table {declared.name}: two rows with the key {dict(zip(declared.key, key, strict=True))}")


def _keys(declared: Table, rows: Sequence[Row]) -> Iterator[tuple[Any, ...]]:
    return zip(*([row.get(column) for row in rows] for column in declared.key), strict=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Hand out a temporary name beside `path`, and rename it to `path` if all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_parquet(path: Path, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[Row]:
    """Read the rows of a Parquet file, all of them or those that a filter takes, whole or some columns of them."""
    data = pq.read_table(path, columns=list(columns) if columns else None, filters=where, partitioning=None)
    with without_collector():
        rows: list[Row] = data.to_pylist()
    return rows


class Lake:
    """The tables under one folder: `<table>/library=<library>/<part>.parquet`.

    A table has one part a library; but a table that declares `parts` has one for each series of releases, and in
    `rejects` each stage writes a part of its own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str, library: str, part: str = "part") -> Path:
        """Return where a part is, or would be."""
        return self.root / name / f"library={library}" / f"{part}.parquet"

    def parts(self, name: str, library: str) -> list[Path]:
        """Return the files of a library in a table, sorted; none where it was never made."""
        return sorted(self.path(name, library).parent.glob("*.parquet"))

    def read(
        self, name: str, library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> list[Row]:
        """Return the rows of a library in a table in the order of its key, all of them or those that a filter takes."""
        parts = self.parts(name, library)
        rows = [row for part in parts for row in read_parquet(part, where, columns)]
        return rows if len(parts) == 1 else _ordered(name, rows)

    def write(self, name: str, library: str, rows: Iterable[Row], part: str | None = None) -> int:
        """Replace the rows of a library in a table, or one part of them.

        A partition that shrinks to nothing keeps its empty file: "no rows" and "never made" are different facts.
        """
        column = table(name).parts
        if part is not None or column is None:
            return write_parquet(self.path(name, library, part or "part"), name, rows)
        kept = list(rows)
        grouped = _by_series(kept, column) or {"part": []}
        for series, of_series in grouped.items():
            write_parquet(self.path(name, library, series), name, of_series)
        for stale in set(self.parts(name, library)) - {self.path(name, library, series) for series in grouped}:
            stale.unlink()
        return len(kept)

    def update(self, name: str, library: str, update: Update) -> None:
        """Add rows to a library's table and change columns of others; parts without either stay as they are.

        Errors: ValueError for changes in a table whose key does not tell the part of a row.
        """
        declared = table(name)
        column = declared.parts or ""
        key = [part for part in declared.key if part != "library"]
        added = _by_series(update.added, column)
        changed: dict[str, dict[tuple[str, ...], Row]] = {}
        for of_row, columns in update.changed.items():
            changed.setdefault(series(of_row[key.index(column)]), {})[of_row] = columns
        for part in sorted(added.keys() | changed.keys()):
            path, changes = self.path(name, library, part), changed.get(part, {})
            known = read_parquet(path) if path.is_file() else []
            rows = [row | changes.get(tuple(row[k] for k in key), {}) for row in known]
            write_parquet(path, name, [*rows, *added.get(part, [])])
        if added:
            # the file of a table that had no rows
            self.path(name, library).unlink(missing_ok=True)

    def libraries(self, name: str) -> list[str]:
        """Return the libraries that a table has a partition of, sorted."""
        return sorted(folder.name.removeprefix("library=") for folder in (self.root / name).glob("library=*"))


def series(version: str) -> str:
    """Return the series of a release, major and minor number: 1.5 of 1.5.3."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor}"


def _by_series(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    names: dict[str, str] = {}
    for row in rows:
        version = row[column]
        name = names.get(version) or names.setdefault(version, series(version))
        grouped.setdefault(name, []).append(row)
    return grouped


def _ordered(name: str, rows: list[Row]) -> list[Row]:
    keys = [tuple([str(value or "") for value in key]) for key in _keys(table(name), rows)]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    return [rows[place] for place in order]
