"""The types of the rows are those of the tables that `schemas/` declares."""

from __future__ import annotations

import ast
from collections import Counter
from types import NoneType
from typing import Any, get_args, get_type_hints

from pipeline.core.settings import PROJECT
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


UNTYPED = {
    "api": 4,
    "audit": 22,
    "corpus": 1,
    "evaluation": 34,
    "families": 4,
    "quality": 29,
    "snapshots": 52,
}
"""How many rows in signatures of a room are not of one table: what treats all families alike. Only ever fewer."""


def test_rows_in_signatures_have_the_type_of_their_table() -> None:
    found: Counter[str] = Counter()
    for path in sorted((PROJECT / "pipeline").rglob("*.py")):
        room = path.relative_to(PROJECT / "pipeline").parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and room != "lake":
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                stars = [star for star in (node.args.vararg, node.args.kwarg) if star]
                annotations = [one.annotation for one in (*given, *stars)] + [node.returns]
                names = (name for one in annotations if one for name in ast.walk(one) if isinstance(name, ast.Name))
                found[room] += sum(name.id == "AnyRow" for name in names)
    assert dict(+found) == UNTYPED, (
        "take the types of pipeline/lake/rows.py; where there are fewer now, lower the number"
    )
