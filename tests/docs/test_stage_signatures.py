"""A stage gets the rows of its library in one object."""

from __future__ import annotations

import ast
import re

from pipeline.core.rules.load import RULES

PIPELINE = RULES.parent / "pipeline"
ROWS = re.compile(r"(Sequence|Iterable|Collection|list)\[\w*Row\]")


def row_parameters(source: str) -> list[str]:
    """Return the parameters of stages that are rows of one table."""
    return [
        f"{node.name} {argument.arg}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_stage")
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.annotation is not None and ROWS.match(ast.unparse(argument.annotation))
    ]


def test_stages_take_their_tables_in_one_object() -> None:
    found = [each for path in PIPELINE.rglob("*.py") for each in row_parameters(path.read_text())]
    assert found == [], "take `tables: Tables`"


def test_a_table_of_its_own_counts() -> None:
    source = "def a_stage(rows: Sequence[ReleaseRow], read: Callable[[ReleaseRow], int]): ...\n"
    assert row_parameters(source) == ["a_stage rows"]
