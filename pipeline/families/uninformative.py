"""What a program displays that tells nothing of what a library does."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pipeline.corpus.usages.text import parse_program
from pipeline.lake.rows import RewriteCheck

_KIND_CALLS = frozenset({"type", "isinstance", "issubclass", "hasattr", "callable"})
"""Builtins that say what kind of thing something is, not what it does."""


def uninformative(checks: Sequence[RewriteCheck]) -> str | None:
    """Say why what a program displays tells nothing of what a library does, if so.

    It is blank, or what kind of thing something is, or that it is. None for a program that states no output.
    """
    with_output = [check for check in checks if check["expected"]]
    if with_output and not "".join(str(check["expected"]) for check in with_output).replace("<BLANKLINE>", "").strip():
        return "all that it prints is blank"
    # A program that only another Python parses is not read.
    program = parse_program("\n".join(check["statement"] for check in with_output))
    statements = program.body if program is not None else []
    displayed: list[ast.AST] = []
    for statement in (each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)):
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
