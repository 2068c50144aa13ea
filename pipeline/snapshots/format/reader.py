"""The only reader of snapshots: files are checked against the manifest, tables have the columns declared today."""

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
from pipeline.lake.rows import AnyRow, TypedSnapshot
from pipeline.lake.schema import Column, Table, enum_of, table
from pipeline.snapshots.format.manifest import Entry, Manifest, OtherVersion, SnapshotError, read_manifest
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.format.untrusted import bounded_memory, holds_names, unsafe_values

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

DATA = "data"
"""Folder of the current rows, with a file for each configuration."""

DEPRECATED = "deprecated"
"""Folder of the removed rows, likewise."""

_BROKEN = (pa.ArrowException, OSError, ValueError, MemoryError)
"""Errors of reading broken Parquet files, with absurd lengths, or names in the footer that are no text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A table's file: path, actual columns by their names of today, and those declared today."""

    path: Path
    schema: pa.Schema
    declared: Table
    has_earlier_names: bool

    @property
    def expected(self) -> pa.Schema:
        return self.declared.arrow(volatile=False)

    @property
    def there(self) -> Mapping[str, pa.Field[pa.DataType]]:
        return {field.name: field for field in self.schema}

    @property
    def readable(self) -> pa.Schema:
        there = self.there
        return pa.schema([field for field in self.expected if _misfit(there.get(field.name), field) is None])


class Snapshot(TypedSnapshot):
    """A folder with a snapshot. It may come from anybody, and from another version of driftline.

    Columns that are not declared today are ignored, and nullable ones that the file lacks are null. Any other
    difference is an error that names both versions; the same holds for members of structs. Names in the manifest open
    no file: they are looked up among the regular files of the folder. A file is read only if its hash is that of the
    manifest. Unsafe names in ids, libraries and paths are errors, and so are files that need more memory than is free.

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
        """The hash of the manifest, which identifies the snapshot's content."""
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
        """Say whether the manifest lists a table; older snapshots lack some."""
        return self._entry(config, split) is not None

    def count(self, configs: Iterable[str], split: str = DATA) -> int:
        """Return the number of rows of some configurations together, from the manifest."""
        return sum(entry.rows or 0 for config in configs if (entry := self._entry(config, split)) is not None)

    def columns(self, config: str, split: str = DATA) -> frozenset[str]:
        """Return the declared columns that a table's file has; none where the snapshot has no such table."""
        if not self.has(config, split):
            return frozenset()
        part = self._part(config, split)
        return frozenset(part.schema.names) & frozenset(part.expected.names)

    def _rows(
        self, config: str, columns: Iterable[str] | None, where: pc.Expression | None, split: str
    ) -> list[AnyRow]:
        data = self.read(config, columns, where, split)
        part = self._part(config, split)
        for name, values, vocabulary in _terms(data, part.declared):
            if wrong := sorted({value for value in values if value is not None} - {*vocabulary}):
                raise self._of_other(part.path, f"{name} has the value {wrong[0]!r}, which its vocabulary lacks")
        with without_collector():
            return [*data.to_pylist()]

    def read(
        self,
        config: str,
        columns: Iterable[str] | None = None,
        where: pc.Expression | None = None,
        split: str = DATA,
    ) -> pa.Table:
        """Return the rows of a table as an Arrow table, without a check of vocabularies."""
        part = self._part(config, split)
        schema = _fields(part.expected, columns)
        self._must_fit(part, schema)
        try:
            with bounded_memory():
                data = _read(part, schema, where)
                data.validate(full=True)  # invalid UTF-8 would raise wherever it is read
        except _BROKEN as error:
            raise self._broken(part.path, error) from None
        self._must_be_safe(part, data)
        return data

    def dataset(self, config: str, columns: Iterable[str] | None = None, split: str = DATA) -> Dataset:
        """Return a table as an Arrow data set, which DuckDB reads as far as needed; its file names are checked."""
        part = self._part(config, split)
        schema = _fields(part.expected, columns)
        self._must_fit(part, schema)
        names = [name for name in schema.names if name in part.there and holds_names(name, part.declared.name)]
        try:
            with bounded_memory():
                data = _dataset(part, schema)
                for batch in data.to_batches(columns=names):
                    batch.validate(full=True)
                    self._must_be_safe(part, pa.Table.from_batches([batch]))
        except SnapshotError:
            raise
        except _BROKEN as error:
            raise self._broken(part.path, error) from None
        return data

    def file(self, path: str) -> Path:
        """Return the path of a file after a check of its name, hash and size against the manifest."""
        if path not in self._entries:
            raise SnapshotError(f"{self.folder}: the manifest lists no file {path!r}", code="snapshot_file_unlisted")
        if problem := self.problem_of(self._entries[path]):
            raise SnapshotError(
                f"{self.folder}: {problem}. Run `driftline verify {self.folder}`, and take a whole copy of"
                " the snapshot",
                code="snapshot_file_differs",
            )
        return self.files[path]

    def problem_of(self, entry: Entry) -> str | None:
        """Return why the file of an entry is not the published one, None if it is."""
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

    def _entry(self, config: str, split: str) -> Entry | None:
        return next((self._entries[path] for path in paths_of(config, split) if path in self._entries), None)

    def _part(self, config: str, split: str) -> _Part:
        name = paths_of(config, split)[0]
        if name not in self._parts:
            entry = self._entry(config, split)
            if entry is None or entry.table != TABLES[config]:
                raise self._of_other(self.folder, f"it has no table {name}")
            path = self.file(entry.path)
            try:
                with pq.ParquetFile(path) as file:
                    schema, rows = file.schema_arrow, file.metadata.num_rows
            except _BROKEN as error:
                raise self._broken(path, error) from None
            if rows != entry.rows:
                raise SnapshotError(f"{path}: {rows} rows, the manifest says {entry.rows}", code="snapshot_rows_differ")
            declared = table(entry.table)
            present = _present_names(schema.names, declared)
            fields = [field.with_name(present[field.name]) for field in schema]
            self._parts[name] = _Part(path, pa.schema(fields), declared, present.keys() != {*present.values()})
        return self._parts[name]

    def _must_fit(self, part: _Part, schema: pa.Schema) -> None:
        problems = [problem for field in schema if (problem := _misfit(part.there.get(field.name), field))]
        if problems:
            raise self._of_other(part.path, "; ".join(problems[:5]))

    def _must_be_safe(self, part: _Part, data: pa.Table) -> None:
        if problem := next(unsafe_values(data, part.declared.name), None):
            raise SnapshotError(
                f"{part.path}: {problem}. Get the snapshot from its publisher again", code="snapshot_value_unsafe"
            )

    def _of_other(self, place: Path, problem: str) -> OtherVersion:
        return OtherVersion(
            f"{place}: {problem}. Driftline {self.manifest.driftline} published this snapshot, and this is"
            f" {build_version()}: use that version, or publish it again with this one"
        )

    def _broken(self, path: Path, error: BaseException) -> SnapshotError:
        return SnapshotError(
            f"{path}: not a Parquet file that can be read ({error}); run `driftline verify {self.folder}`",
            code="snapshot_file_unreadable",
        )


def _read(part: _Part, schema: pa.Schema, where: pc.Expression | None) -> pa.Table:
    if not part.has_earlier_names and where is None and set(schema.names) <= set(part.schema.names):
        # a data set of one file takes twice as long to read as the file
        with pq.ParquetFile(part.path) as file:
            return file.read(schema.names).select(schema.names).cast(schema)
    return _dataset(part, part.readable).to_table(columns=schema.names, filter=where)


def _fields(schema: pa.Schema, names: Iterable[str] | None) -> pa.Schema:
    return schema if names is None else pa.schema([schema.field(name) for name in names])


def _dataset(part: _Part, schema: pa.Schema) -> Dataset:
    # slow to import, the more so where pandas is installed
    import pyarrow.dataset

    if part.has_earlier_names:
        data = pq.read_table(part.path, partitioning=None)
        names = part.schema.names
        columns = [
            data.column(names.index(name)) if name in names else pa.nulls(len(data), schema.field(name).type)
            for name in schema.names
        ]
        return pyarrow.dataset.dataset(pa.table(columns, schema.names).cast(schema))
    return pyarrow.dataset.dataset(part.path, format="parquet", schema=schema)


def paths_of(config: str, split: str) -> tuple[str, ...]:
    """Return the path of a table's file in a snapshot, and the one that it had under its earlier name."""
    names = filter(None, (config, table(TABLES[config]).formerly))
    return tuple(f"{split}/{name}.parquet" for name in names)


def _present_names(columns: Iterable[str], declared: Table) -> dict[str, str]:
    """Return the names of today by those in a file; where it has both, the earlier one is an ignored column."""
    names = list(columns)
    earlier = {old: new for old, new in declared.earlier_names.items() if new not in names}
    return {name: earlier.get(name, name) for name in names}


def _misfit(field: pa.Field[pa.DataType] | None, declared: pa.Field[pa.DataType]) -> str | None:
    """Return why a column of a file, or a member of a struct, differs from its declaration; None where it fits."""
    if field is None:
        return None if declared.nullable else f"no {declared.name}, which has a value in every row"
    if field.nullable and not declared.nullable:
        return f"{declared.name} may be without a value"
    actual, expected = field.type, declared.type
    if pa.types.is_list(actual) and pa.types.is_list(expected):
        problem = _misfit(actual.value_field, expected.value_field)
        return problem and f"{declared.name}: {problem}"
    if pa.types.is_struct(actual) and pa.types.is_struct(expected):
        there = {member.name: member for member in actual}
        problem = next(filter(None, (_misfit(there.get(member.name), member) for member in expected)), None)
        return problem and f"{declared.name}: {problem}"
    return None if actual == expected else f"{declared.name} is {actual}, not {expected}"


def _terms(data: pa.Table, declared: Table) -> Iterator[tuple[str, list[str | None], Iterable[str]]]:
    """Yield the name, the actual values and the allowed values of each column of a vocabulary."""
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
