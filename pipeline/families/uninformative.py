"""What a program displays that tells nothing of what a library does."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.lake.rows import RewriteCheck

_KIND_CALLS = frozenset({"type", "isinstance", "issubclass", "hasattr", "callable"})
"""Builtins that say what kind of thing something is, not what it does."""


def uninformative(checks: Sequence[RewriteCheck]) -> str | None:
    """Say why checks tell nothing of what the library does: blanks, what kind of thing something is, or that it is."""
    if checks and not "".join(str(check["expected"]) for check in checks).replace("<BLANKLINE>", "").strip():
        return "all that it prints is blank"
    displayed: list[ast.AST] = []
    program = parse_python("\n".join(check["statement"] for check in checks))
    for statement in (each for each in program.body if not isinstance(each, ast.Import | ast.ImportFrom)):
        printed = [
            argument
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            for argument in node.args
        ]
        expression = statement.value if isinstance(statement, ast.Expr) else statement
        # The type of a caught exception is what a call did.
        displayed += printed if printed and not isinstance(statement, ast.Try) else [expression]
    is_kinds = displayed and all(map(_is_kind, displayed))
    return "it prints only what kind of thing something is, or that it is there" if is_kinds else None


def _is_kind(node: ast.AST) -> bool:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.Attribute(value=inner, attr="__name__" | "__qualname__"):
            return _is_kind(inner)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(None)]):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _KIND_CALLS
        case ast.BoolOp(values=values):
            return all(map(_is_kind, values))
    return False
