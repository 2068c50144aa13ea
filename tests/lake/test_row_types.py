"""The types of the rows are those of the tables that `schemas/` declares."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
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
    "cli": 1,
    "corpus": 1,
    "evaluation": 37,
    "families": 4,
    "quality": 30,
    "snapshots": 53,
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


UNTYPED_CALLABLES = {
    "api": 1,
    "audit": 1,
    "core": 2,
    "corpus": 1,
    "evaluation": 3,
    "execution": 9,
    "families": 2,
    "llm": 1,
    "quality": 3,
    "snapshots": 1,
}
"""How many parameters of callables in a room may be anything: rows where each family has its function, else values that
share no type, such as operands. Only ever fewer."""


def test_callables_take_rows_of_the_type_of_their_table() -> None:
    assert (
        parameters_of_anything("Maker = Callable[[int, Any, list[Any]], Any]\ndef f(g: 'Callable[[Any], int]'): ...")
        == 3
    )
    assert parameters_of_anything("Maker = Callable[[AnyRow, ChangeRow, list[str]], Any]\nf: Callable[..., Any]") == 0
    found: Counter[str] = Counter()
    for path in python_files("pipeline"):
        found[path.relative_to(PROJECT / "pipeline").parts[0]] += parameters_of_anything(path.read_text("utf-8"))
    del found["lake"]
    assert dict(+found) == UNTYPED_CALLABLES, (
        "take the types of pipeline/lake/rows.py; where there are fewer now, lower the number"
    )


LOOSE = {"Any", "dict[str, Any]", "Mapping[str, Any]"}
"""What says of a row that it may be anything."""

CONTAINERS = {"list", "tuple", "dict", "Sequence", "Iterable", "Iterator", "Collection", "Mapping"}


def test_no_name_stands_for_rows_of_any_type() -> None:
    assert names_of_anything("Row = Any\nRow: TypeAlias = Any\nRow = dict[str, Any]") == ["Row"] * 3
    assert not names_of_anything("Record = dict[str, Any]\nrow: Any = None\nWidth = int")
    named = {
        f"{path.relative_to(PROJECT)} {name}" for path in python_files() for name in names_of_anything(path.read_text())
    }
    assert named == {"pipeline/lake/rows.py AnyRow"}, "take the types of pipeline/lake/rows.py"


def test_no_signature_takes_a_row_of_any_type() -> None:
    for loose in ("row: Any", "row: dict[str, Any]", "rows: list[dict[str, Any]]", "rows: Mapping[str, Sequence[Any]]"):
        assert rows_of_anything(f"def f({loose}): ...") == ["f"]
    for loose in ("Any", "dict[str, Any] | None", "list[dict[str, Any]]", "tuple[str, Any]"):
        assert rows_of_anything(f"def change_row() -> {loose}: ...") == ["change_row"]
    assert not rows_of_anything("def f(row: AnyRow, rows: list[ChangeRow], other: Any) -> dict[str, Any]: ...")
    found = {
        f"{path.relative_to(PROJECT)} {name}"
        for path in python_files("pipeline", "dags", "benchmarks")
        if path != ROWS
        for name in rows_of_anything(path.read_text())
    }
    assert not found, "take the types of pipeline/lake/rows.py, or AnyRow where all tables are treated alike"


def python_files(*rooms: str) -> list[Path]:
    """The files of the project, or of some of its folders."""
    return [
        path for room in rooms or ("pipeline", "dags", "benchmarks", "tests") for path in (PROJECT / room).rglob("*.py")
    ]


def names_of_anything(source: str) -> list[str]:
    """The names that a module gives to `Any`, and names of rows that it gives to mappings of anything."""
    names = []
    for node in ast.parse(source).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(
                    target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=ast.expr() as value
                )
            ):
                pass
            case _:
                continue
        if ast.unparse(value) in LOOSE and "Row" in name:
            names.append(name)
    return names


def parameters_of_anything(source: str) -> int:
    """How many parameters of the callables that a module declares may be anything."""
    count = 0
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        for node in ast.walk(waiting.pop()):
            match node:
                case ast.Subscript(
                    value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=parameters), *_])
                ):
                    count += sum(map(_is_loose, parameters))
                case ast.Constant(value=str(text)) if text.startswith("Callable["):
                    waiting.append(ast.parse(text, mode="eval"))
    return count


def rows_of_anything(source: str) -> list[str]:
    """The functions that take `row` or `rows`, or return what they call so, without the type of a table."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    overloaded = {one.name for one in functions if any(ast.unparse(each) == "overload" for each in one.decorator_list)}
    return [one.name for one in functions if one.name not in overloaded and any(map(_is_loose, _of_rows(one)))]


def _of_rows(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    given = function.args
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if argument.annotation and argument.arg.split("_")[-1] in {"row", "rows"}:
            yield argument.annotation
    if function.returns and function.name.split("_")[-1] in {"row", "rows"}:
        yield function.returns


def _is_loose(annotation: ast.expr) -> bool:
    """Say whether an annotation is, or holds in containers, what may be anything."""
    if ast.unparse(annotation) in LOOSE:
        return True
    match annotation:
        case ast.BinOp(left=left, right=right):
            return _is_loose(left) or _is_loose(right)
        case ast.Subscript(value=ast.Name(id=container), slice=inner) if container in CONTAINERS:
            inside = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            # Rows of the tables of decisions are no rows of the lake, and have other keys than texts.
            return "Any" not in map(ast.unparse, inside[:-1]) and any(map(_is_loose, inside))
    return False
