"""Declared table schemas: the YAML files in `schemas/` become Arrow schemas, and rows are checked against them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml

from pipeline.core.errors import FatalError
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.term import Term, vocabularies

if TYPE_CHECKING:  # it is made from what this reads
    from pipeline.lake.rows import AnyRow

SCHEMAS = PROJECT / "schemas"

_SCALARS: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


class SchemaError(FatalError, ValueError):
    """A schema file, or a row that is to be written, does not fit the declaration."""


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column; `formerly` is the name that it has in snapshots of format 1."""

    name: str
    type: str
    meaning: str
    nullable: bool = False
    volatile: bool = False
    term: str | None = None
    references: str | None = None
    formerly: str | None = None


@dataclass(frozen=True)
class Table:
    """One declared table; `types` holds the structs that its columns use.

    `parts` is the column with a version by whose series (1.5 of 1.5.3) a library's rows are kept in files of their
    own, so that another release rewrites few of them. Its first columns are those of the table that it `extends`, or
    those of a `head` that several tables begin with. `formerly` is an earlier name, whose folder older lakes have.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    types: dict[str, tuple[Column, ...]]
    parts: str | None = None
    extends: str | None = None
    head: str | None = None
    formerly: str | None = None

    def arrow(self, *, volatile: bool = True) -> pa.Schema:
        """Return the Arrow schema, without the volatile columns (durations, mirrors' addresses) if so asked."""
        return pa.schema(self._field(c) for c in self.columns if volatile or not c.volatile)

    @property
    def partitions(self) -> tuple[str, ...]:
        """The columns by which its rows are kept apart in the lake; `series` is made of the column `parts`."""
        if self.name == "rejects":
            return ("library", "stage")  # each stage writes those of its own
        return ("library", "series") if self.parts else ("library",)

    @functools.cached_property
    def layout(self) -> str:
        """How its rows are kept: the columns with types, whether they may be null, the key, and the parts."""
        return f"{self.arrow().to_string(show_field_metadata=False)}\n{self.key} {self.parts}"

    @functools.cached_property
    def earlier_names(self) -> Mapping[str, str]:
        """The present names of its columns by those that they had."""
        return {column.formerly: column.name for column in self.columns if column.formerly}

    def _field(self, column: Column) -> pa.Field[pa.DataType]:
        metadata = {"meaning": column.meaning} | ({"term": column.term} if column.term else {})
        return pa.field(column.name, self._arrow_type(column.type), column.nullable, metadata)

    def _arrow_type(self, name: str) -> pa.DataType:
        if name.startswith("list["):
            return pa.list_(pa.field("item", self._arrow_type(name[5:-1]), nullable=False))
        if name in self.types:
            return pa.struct([self._field(column) for column in self.types[name]])
        if enum_of(name):
            return pa.string()
        if name not in _SCALARS:
            raise SchemaError(
                f"table {self.name}: {name!r} is no type, struct or vocabulary of pipeline.core.vocabularies",
                code="schema_type_unknown",
            )
        return _SCALARS[name]

    @functools.cached_property
    def _shapes(self) -> dict[str, _Shape]:
        """What rows and structs must look like, by the name of the struct; that of the rows has none."""
        return {name: _Shape.of(columns, self.types) for name, columns in [("", self.columns), *self.types.items()]}

    def check(self, row: AnyRow) -> None:
        """Raise SchemaError where the row has an undeclared, missing or misplaced value."""
        self.checked([row])

    def checked(self, rows: Sequence[AnyRow]) -> dict[str, list[Any]]:
        """Return the values of rows by column.

        Errors: SchemaError where one of the rows has an undeclared, missing or misplaced value.
        """
        return self._checked(rows, self._shapes[""], self.name)

    def _checked(self, rows: Sequence[AnyRow], shape: _Shape, where: str) -> dict[str, list[Any]]:
        if undeclared := set[str]().union(*rows) - shape.declared:
            raise SchemaError(f"{where}: undeclared columns {sorted(undeclared)}", code="row_column_undeclared")
        columns = {name: values_of(rows, name) for name in shape.declared}
        for name in shape.required:
            if None in columns[name]:
                row = rows[columns[name].index(None)]
                raise SchemaError(f"{where}: column {name} has no value in {_short(row)}", code="row_value_missing")
        for name, enum in shape.vocabularies:
            _check_vocabulary(columns[name], enum, f"{where}.{name}")
        for name, is_list, inner in shape.closer:
            values = list(filter(None, columns[name]))
            self._check_values(list(chain.from_iterable(values)) if is_list else values, inner, f"{where}.{name}")
        return columns

    def _check_values(self, values: Sequence[Any], type_name: str, where: str) -> None:
        if (shape := self._shapes.get(type_name)) is not None:
            self._checked(values, shape, where)
        elif (enum := enum_of(type_name)) is not None:
            _check_vocabulary(values, enum, where)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of a row or struct: all, those that need a value, those of a vocabulary, and those to look into.

    The last are (name, is a list, type).
    """

    declared: frozenset[str]
    required: tuple[str, ...]
    vocabularies: tuple[tuple[str, type[Term]], ...]
    closer: tuple[tuple[str, bool, str], ...]

    @classmethod
    def of(cls, columns: tuple[Column, ...], types: dict[str, tuple[Column, ...]]) -> _Shape:
        vocabularies, closer = [], []
        for column in columns:
            is_list = column.type.startswith("list[")
            inner = column.type[5:-1] if is_list else column.type
            enum = enum_of(inner)
            if inner in types or (is_list and enum is not None):
                closer.append((column.name, is_list, inner))
            elif enum is not None:
                vocabularies.append((column.name, enum))
        required = tuple(column.name for column in columns if not column.nullable)
        return cls(frozenset(column.name for column in columns), required, tuple(vocabularies), tuple(closer))


def enum_of(name: str) -> type[Term] | None:
    """Return the vocabulary of that name, or None if there is none."""
    return vocabularies().get(name)


@functools.cache
def _values(enum: type[Term]) -> frozenset[str]:
    return frozenset(enum)


def _check_vocabulary(values: Iterable[str | None], enum: type[Term], where: str) -> None:
    if wrong := set(values) - _values(enum) - {None}:
        raise SchemaError(
            f"{where}: {sorted(wrong, key=repr)[0]!r} is not one of {', '.join(enum)}", code="row_value_unknown"
        )


def values_of(rows: Sequence[AnyRow], name: str) -> list[Any]:
    """Return the values of a column, None where a row does not have it."""
    try:
        return list(map(itemgetter(name), rows))
    except KeyError:
        # a column that may be without a value may be left out
        return [row.get(name) for row in rows]


def _short(row: AnyRow) -> str:
    text = repr(row)
    return text if len(text) < 300 else text[:300] + "…"


_KEYS = {"table", "meaning", "key", "head", "tail", "extends", "columns", "types", "parts", "formerly"}


@functools.cache
def table(name: str) -> Table:
    """Load the declaration of a table.

    Errors: SchemaError if there is no such table or its file has keys that are not known.
    """
    path = SCHEMAS / f"{name}.yaml"
    if not path.is_file():
        raise SchemaError(f"no table {name!r}: {path.name} is not in schemas/", code="table_unknown")
    raw = _read(path)
    if unknown := set(raw) - {
        "table",
        "meaning",
        "key",
        "head",
        "tail",
        "extends",
        "columns",
        "types",
        "parts",
        "formerly",
    }:
        raise SchemaError(f"{path.name}: unknown keys {sorted(unknown)}", code="schema_key_unknown")
    if raw["table"] != name:
        raise SchemaError(f"{path.name}: declares table {raw['table']!r}", code="schema_misnamed")
    columns = [_column(c, path.name) for c in raw["columns"]]
    types = {struct: tuple(_column(c, path.name) for c in members) for struct, members in raw.get("types", {}).items()}
    if renamed := [member.name for members in types.values() for member in members if member.formerly]:
        raise SchemaError(
            f"{path.name}: members of structs cannot say `formerly`, as {', '.join(renamed)} does: older snapshots are"
            " read by the names of whole columns",
            code="schema_column_invalid",
        )
    if "extends" in raw:
        base = table(raw["extends"])
        columns, types = [*base.columns, *columns], base.types | types
    elif "head" in raw:
        columns = [*shared_columns(f"_{raw['head']}_head.yaml"), *columns]
    if "tail" in raw:
        tail = shared_columns(f"_{raw['tail']}_tail.yaml")
        # What the table that it extends has too stands where every published table has it.
        columns = [column for column in columns if column.name not in {last.name for last in tail}] + tail
    others = {key: raw.get(key) for key in ("parts", "extends", "head", "formerly")}
    declared = Table(name, raw["meaning"], tuple(raw["key"]), tuple(columns), types, **others)
    declared.arrow()
    return declared


def shared_columns(file: str) -> list[Column]:
    """Return the columns that several tables begin or end with."""
    return [_column(column, file) for column in _read(SCHEMAS / file)["columns"]]


def _read(path: Path) -> Any:
    """Read a declaration with libyaml: every command needs most of them."""
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def _column(raw: dict[str, Any], file: str) -> Column:
    try:
        return Column(**raw)
    except TypeError as error:
        raise SchemaError(f"{file}: column {raw.get('name')!r}: {error}", code="schema_column_invalid") from None


@functools.cache
def table_names() -> tuple[str, ...]:
    """Return the names of all declared tables, sorted."""
    return tuple(sorted(p.stem for p in SCHEMAS.glob("*.yaml") if not p.name.startswith("_")))
