"""Tables: Parquet files with declared columns in one order, and the lake, whose Delta tables are made of them."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import FileLock
from more_itertools import first
from packaging.version import Version

from pipeline.core.credentials import cut_table
from pipeline.core.errors import InputError
from pipeline.core.places import is_local
from pipeline.lake.collector import without_collector
from pipeline.lake.damage import Damaged, set_folder_aside
from pipeline.lake.delta import NEVER, DataFile, DeltaPartitions, LakeError, LakeProblem, NewFile, lake_errors
from pipeline.lake.names import plain_name
from pipeline.lake.rows import AnyRow, TypedReads
from pipeline.lake.schema import Table, table, table_names, values_of
from pipeline.lake.stage import Update

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

TEXT_LIMIT = 1 << 30
"""Bytes of a table from which it is put in order in pieces; below, no column can have too much text."""


def write_parquet(path: Path, name: str, rows: Iterable[AnyRow], *, volatile: bool = True) -> int:
    """Write rows of a declared table to a Parquet file and return how many there are.

    Rows are checked against the declaration, sorted by the table's key and written with fixed options, so that
    equal rows give equal bytes. The file appears under its name only when it is complete.

    Errors: SchemaError for a row that does not fit, ValueError for two rows with the same key.
    """
    data = _sorted_data(name, rows, volatile=volatile)
    _save(data, path)
    return int(data.num_rows)


def _sorted_data(name: str, rows: Iterable[AnyRow], *, volatile: bool) -> pa.Table:
    declared = table(name)
    with without_collector():
        unsorted = list(rows)
        keys = _keys(declared, unsorted)
        _check_keys(declared, keys)
        return _data(declared, [unsorted[place] for place in _order(keys)], volatile=volatile)


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
    """Return rows as an Arrow table without the credentials of this process, which messages of servers may repeat."""
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
        return {encodable(key): encodable(member) for key, member in value.items()}
    return [encodable(member) for member in value] if isinstance(value, list | tuple) else value


def _save(data: pa.Table, path: Path) -> None:
    with replacing(path) as temporary:
        pq.write_table(data, temporary, **_OPTIONS)


_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "use_content_defined_chunking": True,
    "write_page_index": True,
    "store_schema": True,
}


def _check_keys(declared: Table, keys: Sequence[tuple[Any, ...]]) -> None:
    """Raise ValueError for two rows with the same key."""
    if len(set(keys)) < len(keys):
        key = first(key for key, times in Counter(keys).items() if times > 1)
        raise InputError(
            f"table {declared.name}: two rows with the key {dict(zip(declared.key, key, strict=True))}",
            code="rows_with_same_key",
        )


def _keys(declared: Table, rows: Sequence[AnyRow]) -> list[tuple[Any, ...]]:
    return list(zip(*(values_of(rows, column) for column in declared.key), strict=True))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name, and rename it to `path` unless there is an error; in a store, the whole file is sent."""
    if not is_local(path):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / "file"
            path.write_bytes((Path(folder) / "file").read_bytes())
        return
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
    """Raise an error with the name of a Parquet file that cannot be read, and advice.

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
        refresh = f"run `driftline refresh --libraries {library}`, which makes it again"
        advice = refresh if path.parent.name.startswith("library=") else "put a whole copy in its place"
        raise Damaged(f"{path} is damaged ({str(error).strip('. ')}): {advice}") from None


def one_of(column: str, values: Iterable[str]) -> pc.Expression:
    """Return the filter of the rows whose column of text holds one of some values, of which there may be none.

    The values have a type: of an empty list Arrow knows none, and refuses to compare.
    """
    return pc.field(column).isin(pa.array(list(values), pa.string()))


def read_parquet(path: Path, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[Any]:
    """Read the rows of a Parquet file, all of them or those that a filter takes, whole or some columns of them.

    Errors: Damaged for a file that is no Parquet, or a folder in its place.
    """
    names = list(columns) if columns else None
    with naming_damage(path), _opened(path) as source:
        if where is None:
            # a data set of one file takes twice as long to read as the file
            with pq.ParquetFile(source) as file:
                data = file.read(names)
        else:
            data = pq.read_table(source, columns=names, filters=where, partitioning=None)
    with without_collector():
        return data.to_pylist()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Yield the path of a local file, and the content of a file in a store."""
    if is_local(path):
        yield path
        return
    with lake_errors(path):
        content = path.read_bytes()
    yield pa.BufferReader(content)


class Lake(TypedReads):
    """The Delta tables under a folder or an address: one for each declared table, partitioned by library.

    A table has one part per library. A table with `parts` has one for each series of releases, and `rejects` one for
    each stage. The log of a table is read once, and again by `refresh`. A commit to rows that another process has
    changed since is an error.
    """

    def __init__(self, root: Path, versions: Mapping[str, int] | None = None) -> None:
        """Open the lake as it is now, or its tables at some `versions` and no others.

        Errors: LakeError for a lake of the layout before Delta Lake.
        """
        if is_local(root) and (root / OLD_STATES).is_dir():
            raise LakeError(LakeProblem.OLD_LAYOUT, root)
        self.root = root
        self._versions = versions
        self._tables: dict[str, DeltaPartitions] = {}

    def delta(self, name: str) -> DeltaPartitions:
        """Return a table as of its first use or last refresh.

        Errors: LakeError.
        """
        if name not in self._tables:
            declared = table(name)
            former = declared.formerly or name
            pins = self._versions
            version = None if pins is None else pins.get(name, pins.get(former, NEVER))
            # a lake that was there before the table got its name keeps the folder, with all its versions
            renamed = former != name and (self.root / former).exists()
            self._tables[name] = DeltaPartitions(self.root / (former if renamed else name), declared, version)
        return self._tables[name]

    def refresh(self, *names: str) -> None:
        """Read the new commits of some tables, or of all open ones."""
        for name in names or list(self._tables):
            if name in self._tables:
                self._tables[name].refresh()

    def versions(self) -> dict[str, int]:
        """Return the versions of all existing tables."""
        versions = {name: self.delta(name).version for name in table_names()}
        return {name: version for name, version in versions.items() if version is not None}

    def dataset(self, name: str) -> Dataset:
        """Return a table of all libraries as an Arrow data set.

        Errors: LakeError; KeyError if the table does not exist.
        """
        return self.delta(name).dataset()

    def files(self, name: str, library: str) -> Mapping[str, DataFile]:
        """Return the files of a library in a table by part; none if no stage wrote it."""
        return self.holder(name, library).files(library)

    def holder(self, name: str, library: str) -> DeltaPartitions:
        """Return the table that has the files of a library."""
        return self.delta(name)

    def path(self, name: str, library: str, part: str = "part") -> Path:
        """Return the path of a part's file.

        Errors: KeyError if there is none.
        """
        return self.holder(name, library).folder / self.files(name, library)[part].path

    def is_whole(self, name: str, library: str, part: str) -> bool:
        """Return whether a part's file has the content that the log names."""
        return self.holder(name, library).is_whole(self.files(name, library)[part])

    def hashes(self, name: str, library: str) -> dict[str, str]:
        """Return the sha256 of a library's files in a table, by part, as file names of the old layout.

        Fingerprints of stages hold these names, so that a migrated lake runs no stage again.
        """
        return {f"{part}.parquet": file.sha256 for part, file in sorted(self.files(name, library).items())}

    def count(self, name: str, library: str) -> int:
        """Return the number of rows of a library in a table, from the log."""
        return sum(file.rows for file in self.files(name, library).values())

    def _read(self, name: str, library: str, where: pc.Expression | None, columns: Sequence[str] | None) -> list[Any]:
        parts = [
            row
            for part in sorted(self.files(name, library))
            for row in _read_file(self.path(name, library, part), where, columns)
        ]
        return parts if len(self.files(name, library)) == 1 else _ordered(name, parts)

    def content(self, name: str, library: str, part: str) -> NewFile:
        """Return the file of a part, to be committed elsewhere."""
        return NewFile(self.path(name, library, part).read_bytes(), self.files(name, library)[part].rows)

    def write(self, name: str, library: str, rows: Iterable[AnyRow], part: str | None = None) -> int:
        """Replace the rows of a library in a table, or one part of them, in one commit.

        A partition that shrinks to nothing keeps an empty file: "no rows" and "never made" are different facts.

        Errors: SchemaError, ValueError as `write_parquet`; LakeError.
        """
        column, written = table(name).parts, list(rows)
        if part is not None or column is None:
            self.replace(name, library, {part or "part": new_file(name, written)})
        else:
            grouped = _by_series(written, column) or {"part": []}
            stale = dict.fromkeys(self.files(name, library).keys() - grouped.keys())
            self.replace(name, library, stale | {part: new_file(name, rows) for part, rows in grouped.items()})
        return len(written)

    def update(self, name: str, library: str, update: Update) -> None:
        """Add rows to a library's table and change columns of others; parts without either stay as they are.

        Errors: ValueError for changes in a table whose key does not tell the part of a row; LakeError.
        """
        declared = table(name)
        column = declared.parts or ""
        key = [part for part in declared.key if part != "library"]
        added = _by_series(update.added, column)
        changed: dict[str, dict[tuple[str, ...], AnyRow]] = {}
        for of_row, columns in update.changed.items():
            changed.setdefault(series(of_row[key.index(column)]), {})[of_row] = columns
        files = self.files(name, library)
        new: dict[str, NewFile | None] = {}
        for part in sorted(added.keys() | changed.keys()):
            changes = changed.get(part, {})
            before = _read_file(self.path(name, library, part)) if part in files else []
            rows = [{**row, **changes.get(tuple(row[k] for k in key), {})} for row in before]
            new[part] = new_file(name, [*rows, *added.get(part, [])])
        if added and "part" in files:
            new["part"] = None  # the file of a table that had no rows
        self.replace(name, library, new)

    def replace(self, name: str, library: str, files: Mapping[str, NewFile | None]) -> None:
        """Replace parts of a library by files, or by none, in one commit.

        Errors: UnsafeName for a library or a part that is no plain name; LakeError.
        """
        plain_name(library, "a library")
        for part in files:
            plain_name(part, "a part")
        self.delta(name).commit(library, files)

    def drop(self, name: str, library: str) -> None:
        """Remove a library from a table, as if no stage had written it."""
        self.replace(name, library, dict.fromkeys(self.files(name, library)))

    def libraries(self, name: str) -> list[str]:
        """Return the libraries that a table has a partition of, sorted."""
        return self.delta(name).libraries()

    @contextmanager
    def turn(self, library: str) -> Iterator[None]:
        """Let processes of one machine take turns at a library, so that the second finds the work done.

        Of two machines, the slower one gets a conflict, and its task is tried again.
        """
        if not is_local(self.root):
            yield
            return
        locks = self.root / "_locks"
        lock = FileLock(locks / f"{plain_name(library, 'a library')}.lock")
        with lake_errors(self.root):
            locks.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        with lock:
            lock.release()
            yield


OLD_STATES = "_state"
"""Folder in a lake of the layout before Delta Lake."""


def new_file(name: str, rows: Iterable[AnyRow]) -> NewFile:
    """Return rows of a declared table as the Parquet file that `write_parquet` makes of them.

    Errors: as `write_parquet`.
    """
    data = _sorted_data(name, rows, volatile=True)
    buffer = io.BytesIO()
    pq.write_table(data, buffer, **_OPTIONS)
    return NewFile(buffer.getvalue(), data.num_rows)


def _read_file(path: Path, where: pc.Expression | None = None, columns: Sequence[str] | None = None) -> list[Any]:
    """Read a data file that the log of a table names; a missing one is damaged."""
    try:
        return read_parquet(path, where, columns)
    except FileNotFoundError:
        library = path.parent.name.removeprefix("library=")
        raise Damaged(
            f"{path} is missing, but the log of its table names it: run `driftline refresh --libraries {library}`,"
            " which makes it again",
            code="lake_file_missing",
        ) from None


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
