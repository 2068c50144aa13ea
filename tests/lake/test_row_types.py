"""The types of the rows are those of the tables that `schemas/` declares."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args, get_type_hints

from pipeline.lake import rows
from pipeline.lake.row_types import ROWS, row_name, row_types
from pipeline.lake.schema import table, table_names
from pipeline.lake.tables import Lake


def test_the_written_types_are_those_of_the_schemas() -> None:
    assert row_types() == ROWS.read_text("utf-8"), "make rows"


def test_each_table_has_a_type_with_its_columns_and_the_reader_knows_it() -> None:
    of_tables = get_type_hints(rows.Tables)
    assert list(of_tables) == list(table_names())
    for name in table_names():
        hints: dict[str, Any] = get_type_hints(getattr(rows, row_name(name)))
        assert get_args(of_tables[name]) == (getattr(rows, row_name(name)),)
        assert {column.name: column.nullable for column in table(name).columns} == {
            column: NoneType in get_args(hint) for column, hint in hints.items()
        }


def test_rows_are_read_through_the_typed_reader() -> None:
    assert issubclass(Lake, rows.TypedReads)
    assert "read" not in vars(Lake)
