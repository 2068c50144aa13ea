"""The one reader of snapshots: files held against the manifest, tables in the columns that are declared today."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.core.build import build_version
from pipeline.lake.collector import without_collector
from pipeline.lake.ids import sha256_file
from pipeline.lake.schema import Column, Row, Table, enum_of, table
from pipeline.snapshots.format.bounded_memory import bounded_memory
from pipeline.snapshots.format.forms import holds_names, unsafe_values
from pipeline.snapshots.format.manifest import Entry, Manifest, OtherVersion, SnapshotError, read_manifest
from pipeline.snapshots.format.rows import TABLES

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

DATA = "data"
"""Folder of a snapshot in which the rows stand that it publishes, a file for each configuration."""

DEPRECATED = "deprecated"
"""Folder of the rows that went, likewise."""

_BROKEN = (pa.ArrowException, OSError, ValueError, MemoryError)
"""What reading a broken Parquet file can end with: a length can be absurd, and a name in the footer no text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A table's file: where it is, the columns that it has, and those that are declared today."""

    path: Path
    found: pa.Schema
    declared: Table

    @property
    def expected(self) -> pa.Schema:
        return self.declared.arrow(volatile=False)

    @property
    def there(self) -> Mapping[str, pa.Field[pa.DataType]]:
        return {field.name: field for field in self.found}

    @property
    def readable(self) -> pa.Schema:
        there = self.there
        return pa.schema([field for field in self.expected if _misfit(there.get(field.name), field) is None])


class Snapshot:
    """A folder that holds a snapshot. It may come from anybody, and from another version of driftline.

    One rule of compatibility holds for every column that is read. A column that is not declared today is passed over.
    A nullable one that the file lacks is null. Anything else is an error that names both versions. The same holds for
    the members of structs. No name in the manifest opens a file: it is looked up among the regular files of the folder.
    A file is read only when its hash is the one in the manifest. Ids, libraries and paths by which no file could be
    named are an error too, and so is a file that would need more memory than there is.

    Errors of every call: SnapshotError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder)
        self._problems: dict[Entry, str | None] = {}
        self._parts: dict[str, _Part] = {}

    @property
    def name(self) -> str:
        """The name of the snapshot's folder."""
        return self.folder.resolve().name

    @cached_property
    def sha256(self) -> str:
        """The hash of the manifest, which tells the snapshot's content."""
        return sha256_file(self.folder / "manifest.json") or ""

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """The regular files in the folder by their relative paths; no symbolic link is followed."""
        return {
            path.relative_to(self.folder).as_posix(): path
            for path in self.folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        return {entry.path: entry for entry in self.manifest.files}

    def has(self, config: str, split: str = DATA) -> bool:
        """Say whether the manifest lists a table; an older driftline may have published before there was one."""
        return _path(config, split) in self._entries

    def count(self, configs: Iterable[str], split: str = DATA) -> int:
        """Return how many rows some configurations have together, as the manifest says."""
        return sum(self._entries[path].rows or 0 for one in configs if (path := _path(one, split)) in self._entries)

    def columns(self, config: str, split: str = DATA) -> frozenset[str]:
        """Return the declared columns that a table's file has; none where the snapshot has no such table."""
        if not self.has(config, split):
            return frozenset()
        part = self._part(config, split)
        return frozenset(part.found.names) & frozenset(part.expected.names)

    def rows(
        self,
        config: str,
        columns: Iterable[str] | None = None,
        where: pc.Expression | None = None,
        split: str = DATA,
    ) -> list[Row]:
        """Return the rows of a table in the order of its key: all columns or some, all rows or those of a filter.

        A value that is not in its vocabulary today is an error too.
        """
        data = self.read(config, columns, where, split)
        part = self._part(config, split)
        for name, values, vocabulary in _terms(data, part.declared):
            if wrong := sorted({value for value in values if value is not None} - {*vocabulary}):
                raise self._of_other(part.path, f"{name} has the value {wrong[0]!r}, which its vocabulary lacks")
        with without_collector():
            rows: list[Row] = data.to_pylist()
        return rows

    def read(
        self,
        config: str,
        columns: Iterable[str] | None = None,
        where: pc.Expression | None = None,
        split: str = DATA,
    ) -> pa.Table:
        """Return the same as Arrow has it, whatever the values of vocabularies are."""
        part = self._part(config, split)
        wanted = _fields(part.expected, columns)
        self._must_fit(part, wanted)
        try:
            with bounded_memory():
                data = _read(part, wanted, where)
                data.validate(full=True)  # text that is no UTF-8 would be an error wherever it is looked at
        except _BROKEN as error:
            raise self._broken(part.path, error) from None
        self._must_be_safe(part, data)
        return data

    def dataset(self, config: str, columns: Iterable[str] | None = None, split: str = DATA) -> Dataset:
        """Return a table as an Arrow data set, which DuckDB reads as far as a query needs it; its names are checked."""
        part = self._part(config, split)
        wanted = _fields(part.expected, columns)
        self._must_fit(part, wanted)
        data = _dataset(part, wanted)
        names = [name for name in wanted.names if name in part.there and holds_names(name, part.declared.name)]
        try:
            with bounded_memory():
                for batch in data.to_batches(columns=names):
                    batch.validate(full=True)
                    self._must_be_safe(part, pa.Table.from_batches([batch]))
        except SnapshotError:
            raise
        except _BROKEN as error:
            raise self._broken(part.path, error) from None
        return data

    def file(self, path: str) -> Path:
        """Return where a file of the manifest lies, once its name, its hash and its size are those of the manifest."""
        if path not in self._entries:
            raise SnapshotError(f"{self.folder}: the manifest lists no file {path!r}")
        if problem := self.problem_of(self._entries[path]):
            raise SnapshotError(
                f"{self.folder}: {problem}. Run `driftline verify {self.folder}`, and take a whole copy of the snapshot"
            )
        return self.files[path]

    def problem_of(self, entry: Entry) -> str | None:
        """Say why the file of an entry is not the one that was published; None where it is."""
        if entry not in self._problems:
            self._problems[entry] = self._problem_of(entry)
        return self._problems[entry]

    def _problem_of(self, entry: Entry) -> str | None:
        pure = PurePosixPath(entry.path)
        if pure.is_absolute() or ".." in pure.parts:
            return f"{entry.path}: leads out of the snapshot"
        if entry.path not in self.files:
            return f"{entry.path}: listed in the manifest, but missing"
        if (digest := sha256_file(self.files[entry.path])) != entry.sha256:
            return f"{entry.path}: sha256 is {digest}, the manifest says {entry.sha256}"
        if (size := self.files[entry.path].stat().st_size) != entry.bytes:
            return f"{entry.path}: {size} bytes, the manifest says {entry.bytes}"
        return None

    def _part(self, config: str, split: str) -> _Part:
        name = _path(config, split)
        if name not in self._parts:
            entry = self._entries.get(name)
            if entry is None or entry.table != TABLES[config]:
                raise self._of_other(self.folder, f"it has no table {name}")
            path = self.file(name)
            try:
                with pq.ParquetFile(path) as file:
                    found, rows = file.schema_arrow, file.metadata.num_rows
            except _BROKEN as error:
                raise self._broken(path, error) from None
            if rows != entry.rows:
                raise SnapshotError(f"{path}: {rows} rows, the manifest says {entry.rows}")
            self._parts[name] = _Part(path, found, table(entry.table))
        return self._parts[name]

    def _must_fit(self, part: _Part, wanted: pa.Schema) -> None:
        problems = [problem for field in wanted if (problem := _misfit(part.there.get(field.name), field))]
        if problems:
            raise self._of_other(part.path, "; ".join(problems[:5]))

    def _must_be_safe(self, part: _Part, data: pa.Table) -> None:
        if problem := next(unsafe_values(data, part.declared.name), None):
            raise SnapshotError(f"{part.path}: {problem}. Take the snapshot from whoever published it")

    def _of_other(self, place: Path, problem: str) -> OtherVersion:
        return OtherVersion(
            f"{place}: {problem}. Driftline {self.manifest.driftline} published this snapshot, and this is"
            f" {build_version()}: use that version, or publish it again with this one"
        )

    def _broken(self, path: Path, error: BaseException) -> SnapshotError:
        return SnapshotError(
            f"{path}: not a Parquet file that can be read ({error}); run `driftline verify {self.folder}`"
        )


def _read(part: _Part, wanted: pa.Schema, where: pc.Expression | None) -> pa.Table:
    if where is None and set(wanted.names) <= set(part.found.names):
        # a data set of one file takes twice as long to read as the file
        with pq.ParquetFile(part.path) as file:
            return file.read(wanted.names).select(wanted.names).cast(wanted)
    return _dataset(part, part.readable).to_table(columns=wanted.names, filter=where)


def _fields(schema: pa.Schema, names: Iterable[str] | None) -> pa.Schema:
    return schema if names is None else pa.schema([schema.field(name) for name in names])


def _dataset(part: _Part, schema: pa.Schema) -> Dataset:
    # slow to import, the more so where pandas is installed
    import pyarrow.dataset

    return pyarrow.dataset.dataset(part.path, format="parquet", schema=schema)


def _path(config: str, split: str) -> str:
    return f"{split}/{config}.parquet"


def _misfit(found: pa.Field[pa.DataType] | None, declared: pa.Field[pa.DataType]) -> str | None:
    """Say why a column of a file, or a member of a struct, is not what is declared; None where it fits."""
    if found is None:
        return None if declared.nullable else f"no {declared.name}, which has a value in every row"
    if found.nullable and not declared.nullable:
        return f"{declared.name} may be without a value"
    one, other = found.type, declared.type
    if pa.types.is_list(one) and pa.types.is_list(other):
        problem = _misfit(one.value_field, other.value_field)
        return problem and f"{declared.name}: {problem}"
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        there = {member.name: member for member in one}
        problem = next(filter(None, (_misfit(there.get(member.name), member) for member in other)), None)
        return problem and f"{declared.name}: {problem}"
    return None if one == other else f"{declared.name} is {one}, not {other}"


def _terms(data: pa.Table, declared: Table) -> Iterator[tuple[str, list[str | None], Iterable[str]]]:
    """Yield for each column of a vocabulary its name, the values that are in it, and those that may be."""
    by_name = {column.name: column for column in declared.columns}
    for name in data.column_names:
        yield from _terms_of(name, data[name], by_name[name], declared)


def _terms_of(
    where: str, values: pa.ChunkedArray[Any], column: Column, declared: Table
) -> Iterator[tuple[str, list[str | None], Iterable[str]]]:
    kind = column.type.removeprefix("list[").removesuffix("]")
    if kind not in declared.types and enum_of(kind) is None:
        return
    flat = pc.list_flatten(values) if kind != column.type else values
    if (vocabulary := enum_of(kind)) is not None:
        yield where, pc.unique(flat).to_pylist(), [str(term) for term in vocabulary]
    for member in declared.types.get(kind, ()):
        yield from _terms_of(f"{where}.{member.name}", pc.struct_field(flat, member.name), member, declared)
