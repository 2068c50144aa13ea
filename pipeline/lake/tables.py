"""Tables on disk: one Parquet file per table and partition, written whole, in one order, under a temporary name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.lake.schema import Row, table


def write_parquet(path: Path, name: str, rows: Iterable[Row], *, volatile: bool = True) -> int:
    """Write rows of a declared table to a Parquet file and return how many there are.

    Rows are checked against the declaration, sorted by the table's key and written with fixed options, so that
    equal rows give equal bytes. The file appears under its name only when it is complete.

    Errors: SchemaError for a row that does not fit, ValueError for two rows with the same key.
    """
    declared = table(name)
    kept = sorted(rows, key=lambda row: tuple(str(row.get(column) or "") for column in declared.key))
    seen: set[tuple[object, ...]] = set()
    for row in kept:
        declared.check(row)
        key = tuple(row.get(column) for column in declared.key)
        if key in seen:
            raise ValueError(f"table {name}: two rows with the key {dict(zip(declared.key, key, strict=True))}")
        seen.add(key)
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


def read_parquet(path: Path) -> list[Row]:
    """Read all rows of a Parquet file."""
    rows: list[Row] = pq.read_table(path).to_pylist()
    return rows


class Lake:
    """The tables under one folder: `<table>/library=<library>/<part>.parquet`.

    A table has one part a library, but for `rejects`, where each stage writes a part of its own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str, library: str, part: str = "part") -> Path:
        """Return where a part is, or would be."""
        return self.root / name / f"library={library}" / f"{part}.parquet"

    def read(self, name: str, library: str) -> list[Row]:
        """Return the rows of a library in a table, of all parts; none where it was never made."""
        parts = sorted(self.path(name, library).parent.glob("*.parquet"))
        return [row for part in parts for row in read_parquet(part)]

    def write(self, name: str, library: str, rows: Iterable[Row], part: str = "part") -> int:
        """Replace the rows of a library in a table, or one part of them.

        A partition that shrinks to nothing keeps its empty file: "no rows" and "never made" are different facts.
        """
        return write_parquet(self.path(name, library, part), name, rows)

    def libraries(self, name: str) -> list[str]:
        """Return the libraries that a table has a partition of, sorted."""
        return sorted(folder.name.removeprefix("library=") for folder in (self.root / name).glob("library=*"))
