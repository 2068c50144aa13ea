"""Tables on disk: one Parquet file per table and partition, written whole, in one order, under a temporary name."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from more_itertools import first
from packaging.version import Version

from pipeline.core.credentials import cut_table
from pipeline.lake.collector import without_collector
from pipeline.lake.damage import Damaged, set_folder_aside
from pipeline.lake.names import plain_name
from pipeline.lake.rows import AnyRow, TypedReads
from pipeline.lake.schema import Table, table, values_of
from pipeline.lake.stage import Update

TEXT_LIMIT = 1 << 30
"""Bytes of a table from which it is put in order in pieces; below, no column can have too much text."""


def write_parquet(path: Path, name: str, rows: Iterable[AnyRow], *, volatile: bool = True) -> int:
    """Write rows of a declared table to a Parquet file and return how many there are.

    Rows are checked against the declaration, sorted by the table's key and written with fixed options, so that
    equal rows give equal bytes. The file appears under its name only when it is complete.

    Errors: SchemaError for a row that does not fit, ValueError for two rows with the same key.
    """
    declared = table(name)
    with without_collector():
        given = list(rows)
        keys = _keys(declared, given)
        _check_keys(declared, keys)
        data = _data(declared, [given[place] for place in _order(keys)], volatile=volatile)
    _save(data, path)
    return len(keys)


def write_parts(path: Path, name: str, parts: Iterable[Sequence[AnyRow]], *, volatile: bool = True) -> int:
    """Write rows that come in parts, to the bytes that `write_parquet` makes of all: only one part is held as rows.

    Errors: as `write_parquet`.
    """
    declared = table(name)
    keys: list[tuple[Any, ...]] = []
    data = [_data(declared, [], volatile=volatile)]
    for rows in parts:
        with without_collector():
            keys += _keys(declared, rows)
            data.append(_data(declared, rows, volatile=volatile))
    _check_keys(declared, keys)
    whole = pa.concat_tables(data)
    data.clear()
    _save(in_order(whole, _order(keys)), path)
    return len(keys)


def in_order(data: pa.Table, order: Sequence[int]) -> pa.Table:
    """Return the rows of a table in another order.

    Arrow's `string` counts to 2 GiB of text in one piece of a column, so a large table is taken in pieces, of half the
    limit each where rows are of equal length.
    """
    places = pa.array(order, pa.int64())
    if data.nbytes <= TEXT_LIMIT:
        return data.take(places)
    at_once = max(1, data.num_rows * TEXT_LIMIT // (2 * data.nbytes))
    roomy = data.cast(pa.schema([field.with_type(_roomy(field.type)) for field in data.schema]))
    pieces = (roomy.take(places.slice(start, at_once)) for start in range(0, len(places), at_once))
    return pa.concat_tables(piece.cast(data.schema) for piece in pieces)


def _roomy(kind: pa.DataType) -> pa.DataType:
    """Return a type with `large_string` in the place of `string`."""
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_roomy(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_roomy(field.type)) for field in kind])
    return kind


def _data(declared: Table, rows: Sequence[AnyRow], *, volatile: bool) -> pa.Table:
    """Return rows as they are kept: whatever a server said in any of them, no credential of ours is in it."""
    schema = declared.arrow(volatile=volatile)
    try:
        return cut_table(pa.Table.from_pydict(declared.checked(rows), schema=schema))
    except UnicodeEncodeError:
        return cut_table(pa.Table.from_pydict(declared.checked(encodable(list(rows))), schema=schema))


def encodable(value: Any) -> Any:
    """Return plain values in whose texts lone surrogates are written as escapes, since UTF-8 has none.

    A docstring may have one (`"\\ud800"`), and so may the message of an exception.
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {encodable(key): encodable(one) for key, one in value.items()}
    return [encodable(one) for one in value] if isinstance(value, list | tuple) else value


def _save(data: pa.Table, path: Path) -> None:
    with replacing(path) as temporary:
        pq.write_table(
            data,
            temporary,
            compression="zstd",
            use_content_defined_chunking=True,
            write_page_index=True,
            store_schema=True,
        )


def _check_keys(declared: Table, keys: Sequence[tuple[Any, ...]]) -> None:
    """Raise ValueError for two rows with the same key."""
    if len(set(keys)) < len(keys):
        key = first(key for key, times in Counter(keys).items() if times > 1)
        raise ValueError(f"table {declared.name}: two rows with the key {dict(zip(declared.key, key, strict=True))}")


def _keys(declared: Table, rows: Sequence[AnyRow]) -> list[tuple[Any, ...]]:
    return list(zip(*(values_of(rows, column) for column in declared.key), strict=True))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Hand out a temporary name beside `path`, and rename it to `path` if all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        if path.is_dir():
            set_folder_aside(path)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Name a Parquet file that is read and cannot be, with what to do.

    Errors: Damaged.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EISDIR):
            raise
        library = path.parent.name.removeprefix("library=")
        made_again = f"run `driftline refresh --libraries {library}`, which makes it again"
        advice = made_again if path.parent.name.startswith("library=") else "put a whole copy in its place"
        raise Damaged(f"{path} is damaged ({str(error).strip('. ')}): {advice}") from None


def rows_in(path: Path) -> int:
    """Return the number of rows of a Parquet file, from its footer.

    Errors: Damaged.
    """
    with naming_damage(path):
        return int(pq.read_metadata(path).num_rows)


def read_parquet(path: Path, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[Any]:
    """Read the rows of a Parquet file, all of them or those that a filter takes, whole or some columns of them.

    Errors: Damaged for a file that is no Parquet, or a folder in its place.
    """
    wanted = list(columns) if columns else None
    with naming_damage(path):
        if where is None:
            # a data set of one file takes twice as long to read as the file
            with pq.ParquetFile(path) as file:
                data = file.read(wanted)
        else:
            data = pq.read_table(path, columns=wanted, filters=where, partitioning=None)
    with without_collector():
        return data.to_pylist()


class Lake(TypedReads):
    """The tables under one folder: `<table>/library=<library>/<part>.parquet`.

    A table has one part a library; but a table that declares `parts` has one for each series of releases, and in
    `rejects` each stage writes a part of its own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str, library: str, part: str = "part") -> Path:
        """Return where a part is, or would be.

        Errors: UnsafeName for a library or a part that would lie elsewhere.
        """
        plain_name(library, "a library")
        plain_name(part, "a part")
        return self.root / name / f"library={library}" / f"{part}.parquet"

    def parts(self, name: str, library: str) -> list[Path]:
        """Return the files of a library in a table, sorted; none where it was never made."""
        return sorted(self.path(name, library).parent.glob("*.parquet"))

    def _read(self, name: str, library: str, where: pc.Expression | None, columns: Sequence[str] | None) -> list[Any]:
        parts = self.parts(name, library)
        rows = [row for part in parts for row in read_parquet(part, where, columns)]
        return rows if len(parts) == 1 else _ordered(name, rows)

    def write(self, name: str, library: str, rows: Iterable[AnyRow], part: str | None = None) -> int:
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
        changed: dict[str, dict[tuple[str, ...], AnyRow]] = {}
        for of_row, columns in update.changed.items():
            changed.setdefault(series(of_row[key.index(column)]), {})[of_row] = columns
        for part in sorted(added.keys() | changed.keys()):
            path, changes = self.path(name, library, part), changed.get(part, {})
            known = read_parquet(path) if path.is_file() else []
            rows = [{**row, **changes.get(tuple(row[k] for k in key), {})} for row in known]
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


def _by_series(rows: Iterable[AnyRow], column: str) -> dict[str, list[AnyRow]]:
    grouped: dict[str, list[AnyRow]] = {}
    names: dict[str, str] = {}
    for row in rows:
        version = row[column]
        name = names.get(version) or names.setdefault(version, series(version))
        grouped.setdefault(name, []).append(row)
    return grouped


def _ordered(name: str, rows: list[AnyRow]) -> list[AnyRow]:
    return [rows[place] for place in _order(_keys(table(name), rows))]


def _order(keys: Sequence[tuple[Any, ...]]) -> list[int]:
    """Return the places of keys in their order, each value as text."""
    if set(map(type, chain.from_iterable(keys))) <= {str}:
        texts = keys
    else:
        texts = [tuple([str(value or "") for value in key]) for key in keys]
    return sorted(range(len(texts)), key=texts.__getitem__)
