"""Expressions of a syntax tree, written back as text: names without the cost of `ast.unparse`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

COMPOUND = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match}
)
"""Statements that have others inside them without a scope of their own."""

_LEAVES = frozenset({ast.Name, ast.Constant})
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
"""The same to ask for: `isinstance` takes twice as long with a union."""


def dotted(node: ast.AST | None) -> str | None:
    """Return `a.b.c` of a name or of attributes of a name, else None."""
    # asked of every target and decorator: matching patterns takes twice as long
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Attribute:
        above = dotted(node.value)
        return None if above is None else f"{above}.{node.attr}"
    return None


def written(node: ast.expr) -> str:
    """Return an expression as `ast.unparse` writes it."""
    return _plain(node) or ast.unparse(node)


def _plain(node: ast.expr) -> str | None:
    """Return a name, or a call of one with names and literals: what most decorators and defaults are."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute():
            return dotted(node)
        case ast.Constant(value=str() | bool() | int() | None as value, kind=None):
            return repr(value)
        case ast.Call(func=func, args=args, keywords=keywords):
            called = dotted(func)
            arguments = [_plain(argument) for argument in args]
            named = [(keyword.arg, _plain(keyword.value)) for keyword in keywords]
            if called is None or None in arguments or any(name is None or value is None for name, value in named):
                return None
            return f"{called}({', '.join([*map(str, arguments), *(f'{name}={value}' for name, value in named)])})"
    return None


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, in the order of the source, without what only says how they are used."""
    nodes: list[ast.AST] = []
    if type(node) in _LEAVES:
        return nodes
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            nodes += [inner for inner in value if isinstance(inner, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _SIGNS):
            nodes.append(value)
    return nodes


def text_of(node: ast.AST | None) -> str | None:
    """Return the value of a literal string, else None."""
    if type(node) is ast.Constant and isinstance(node.value, str):
        return node.value
    return None


def described_by(statement: ast.AST | None) -> ast.Constant | None:
    """Return the docstring that a statement is, if it is nothing but a string."""
    if type(statement) is ast.Expr and text_of(value := statement.value) is not None:
        assert isinstance(value, ast.Constant)
        return value
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


def statements(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body and those inside them, but not those of functions and classes in it."""
    flat: list[ast.stmt] = []
    for statement in body:
        flat.append(statement)
        if type(statement) in COMPOUND:
            for inner in parts(statement):
                flat += statements(inner)
    return flat


def absolute_name(source: str, module: str, *, is_package: bool) -> str:
    """Return the absolute path of a module that may be written with leading dots (PEP 328)."""
    name = source.lstrip(".")
    level = len(source) - len(name)
    if not level:
        return name
    segments = module.split(".")
    package = segments[: max(1, len(segments) - level + is_package)]
    return ".".join([*package, *([name] if name else [])])


def functions(body: Iterable[ast.stmt]) -> Iterator[Function]:
    """Yield the functions of a body and of the classes in it."""
    for statement in statements(body):
        if isinstance(statement, Function):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from functions(statement.body)
