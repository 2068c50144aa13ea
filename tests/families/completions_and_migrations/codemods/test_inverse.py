"""What codemods write is what renaming in the syntax tree would give, and the way back leads to the same text."""

from __future__ import annotations

import ast
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipeline.families.completions_and_migrations.codemods.moves import Move
from pipeline.families.completions_and_migrations.codemods.program import Program
from pipeline.families.completions_and_migrations.codemods.rewrite import Task, rewrite
from pipeline.lake.rows import SnippetRow

THERE = Move("lib.fetch", "lib.load", "lib")
BACK = Move("lib.load", "lib.fetch", "lib")

STATEMENTS = (
    "x = {use}('fetch')",
    "print({use} ( 1, size = 2 ) )  # {use}",
    "if not{{}}:\n    return_ = [{use}(n) for n in 'ab' if {use}]\nelse:\n    pass",
    "def inner(fetch=1, *, load=2):\n    '''{use}'''\n    return({use})(fetch)",
    "@{use}\nclass Thing({use}): pass",
    "z = (lambda fetch: {use}(fetch=fetch).load)(3); w = {use}\\\n    (1)",
    "with {use}(1) as fetch, \\\n        {use}(2):\n    fetch.fetch = {use}\n\n",
    "long = {use}(\n    1,  # one\n    (2),\n)",
    "match {use}(1):\n    case {use}(): pass\n    case _: pass",
)


def tasks(snippet: SnippetRow, use: str, move: Move) -> list[Task]:
    """A task for each use of a name, in the bytes of the program."""
    data = (snippet["preamble"] + snippet["code"]).encode()
    tree = ast.parse(data)
    starts = [0, *(found.end() for found in re.finditer(b"\n", data))]
    found = [
        (starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) == use
    ]
    rows: list[Any] = [
        {"start_byte": start, "end_byte": end, "path": move.old, "access": "direct"} for start, end in found
    ]
    return [Task(row, move) for row in rows]


def program(preamble: str, code: str) -> Any:
    return {"preamble": preamble, "code": code, "checks": []}


class _Rename(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node) == "lib.fetch":
            node.attr = "load"
        return node


def code_of(chosen: list[int], use: str) -> str:
    return "\n".join(STATEMENTS[n].format(use=use) for n in chosen) + "\n"


def test_a_use_within_an_f_string_or_an_awkward_place() -> None:
    code = "y = f'{lib.fetch(1)!r:>{lib.fetch(2)}} ä'\nz = 1 if(lib.fetch)else(lib.fetch)\n"
    old = program("import lib\n", code)
    data = (old["preamble"] + code).encode()
    rows: list[Any] = [
        {"start_byte": at.start(), "end_byte": at.end(), "path": "lib.fetch", "access": "direct"}
        for at in re.finditer(rb"lib\.fetch", data)
    ]
    there = rewrite(Program(old), [Task(row, THERE) for row in rows])
    assert there is not None
    assert there.pieces.code == code.replace("fetch", "load")


@given(st.lists(st.sampled_from(range(len(STATEMENTS))), min_size=1, max_size=5))
def test_a_rename_by_the_module(chosen: list[int]) -> None:
    old = program("import lib\n", code_of(chosen, "lib.fetch"))
    there = rewrite(Program(old), tasks(old, "lib.fetch", THERE))
    assert there is not None
    assert ast.unparse(ast.parse(there.pieces.code)) == ast.unparse(_Rename().visit(ast.parse(old["code"])))
    new = program(there.pieces.preamble, there.pieces.code)
    back = rewrite(Program(new), tasks(new, "lib.load", BACK))
    assert back is not None
    assert back.pieces.preamble + back.pieces.code == old["preamble"] + old["code"]


@given(st.lists(st.sampled_from([0, 1, 4, 7]), min_size=1, max_size=5))
def test_a_rename_of_what_is_imported(chosen: list[int]) -> None:
    old = program("from lib import a, fetch\n", code_of(chosen, "fetch"))
    there = rewrite(Program(old), tasks(old, "fetch", THERE))
    assert there is not None
    assert there.pieces.preamble == "from lib import a, load\n"
    new = program(there.pieces.preamble, there.pieces.code)
    back = rewrite(Program(new), tasks(new, "load", BACK))
    assert back is not None
    assert back.pieces.preamble + back.pieces.code == old["preamble"] + old["code"]
