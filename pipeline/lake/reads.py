"""What a stage reads of its tables: whole ones, or the columns and rows of them that it declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any, NoReturn

from pipeline.core.errors import FatalError
from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import SchemaError, table
from pipeline.lake.tables import Lake, one_of


@dataclass(frozen=True, slots=True)
class Read:
    """The columns of a table that a stage reads, beside those of its key, and the rows.

    `where` maps columns of text to the values of which a row must have one; without it all rows are read.
    """

    table: str
    columns: tuple[str, ...]
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read, in the order of the table; those of its key put the rows in order.

        Errors: SchemaError for a column that the table has not.
        """
        declared = table(self.table)
        if unknown := {*self.columns, *self.where} - {column.name for column in declared.columns}:
            raise SchemaError(
                f"a stage reads columns {sorted(unknown)}, which {self.table}.yaml does not declare",
                code="undeclared_table_column",
            )
        read = {*self.columns, *declared.key}
        return tuple(column.name for column in declared.columns if column.name in read)

    @property
    def layout(self) -> list[Any]:
        """How the table is kept, as far as it is read, and which rows are: a part of the fingerprint of a stage."""
        declared = table(self.table)
        schema = declared.arrow()
        columns = [str(schema.field(name)) for name in self.names]
        return [columns, declared.key, declared.parts, {name: sorted(values) for name, values in self.where.items()}]

    def rows(self, lake: Lake, library: str) -> list[PartialRow]:
        """Return the rows of a library.

        Errors: as `Lake.read`.
        """
        filters = [one_of(column, values) for column, values in self.where.items()]
        where = reduce(and_, filters) if filters else None
        rows: list[Any] = lake.read(self.table, library, where, self.names)
        for place, row in enumerate(rows):
            rows[place] = PartialRow(row)
        return rows


class UndeclaredColumn(FatalError):
    """A stage uses a column that it does not declare to read: the declaration is wrong, whatever the unit is."""

    code = "undeclared_column"


class PartialRow(dict[str, Any]):
    """A row in some of its columns.

    Asking for another column is an error that no guard takes for the reject of a unit. So is passing the row on whole
    (`{**row}`), where what was not read would count as empty.
    """

    __slots__ = ()

    def __missing__(self, name: str) -> NoReturn:
        raise UndeclaredColumn(
            f"a stage uses the column {name}, but reads only {', '.join(self._names)}: add it to the `Read` that"
            " the stage is declared with"
        )

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a column; there is no default, since rows that are read have all their columns.

        Errors: UndeclaredColumn.
        """
        return self[name]

    @property
    def _names(self) -> list[str]:
        return [name for name, _ in self.items()]

    def keys(self) -> NoReturn:
        """Refuse to pass the row on whole.

        Errors: UndeclaredColumn.
        """
        raise UndeclaredColumn(
            f"a stage passes on a whole row, but reads only {', '.join(self._names)}: name the columns, or declare"
            " the stage to read the whole table"
        )

    def __iter__(self) -> Iterator[str]:
        self.keys()


class LakeTables(Mapping[str, Sequence[AnyRow]]):
    """The tables of a library that a stage reads, each when it is first asked for: a stage may not need all."""

    def __init__(self, lake: Lake, library: str, tables: Iterable[str], partly: Mapping[str, Read]) -> None:
        self._lake, self._library = lake, library
        self._tables, self._partly = tuple(tables), partly
        self._rows: dict[str, Sequence[AnyRow]] = {}

    def __getitem__(self, name: str) -> Sequence[AnyRow]:
        if name not in self._tables:
            raise KeyError(name)
        if name not in self._rows:
            read = self._partly.get(name)
            self._rows[name] = read.rows(self._lake, self._library) if read else self._lake.read(name, self._library)
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)
