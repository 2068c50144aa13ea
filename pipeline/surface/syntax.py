"""Expressions of a syntax tree, written back as text: names without the cost of `ast.unparse`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.AST | None) -> str | None:
    """Return `a.b.c` of a name or of attributes of a name, else None."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            above = dotted(owner)
            return None if above is None else f"{above}.{name}"
    return None


def written(node: ast.expr) -> str:
    """Return an expression as `ast.unparse` writes it."""
    return dotted(node) or ast.unparse(node)


def text_of(node: ast.AST | None) -> str | None:
    """Return the value of a literal string, else None."""
    match node:
        case ast.Constant(value=str(text)):
            return text
    return None


def options(call: ast.expr) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call by name; none of what is no call."""
    if not isinstance(call, ast.Call):
        return {}
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def parts(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the bodies inside a statement that run in the scope around it, as `if` and `try` have them."""
    match statement:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            yield from (statement.body, statement.orelse)
        case ast.With() | ast.AsyncWith():
            yield statement.body
        case ast.Try() | ast.TryStar():
            yield from (statement.body, *(handler.body for handler in statement.handlers))
            yield from (statement.orelse, statement.finalbody)
        case ast.Match():
            yield from (case.body for case in statement.cases)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body and those inside them, but not those of functions and classes in it."""
    for statement in body:
        yield statement
        for inner in parts(statement):
            yield from statements(inner)


def functions(body: Iterable[ast.stmt]) -> Iterator[Function]:
    """Yield the functions of a body and of the classes in it."""
    for statement in statements(body):
        if isinstance(statement, Function):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from functions(statement.body)
