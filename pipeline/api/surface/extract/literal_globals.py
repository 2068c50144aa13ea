"""Names that a module or class binds through its namespace, `globals()["name"] = value`, written as assignments.

A loop over literals is unrolled: `for n in ("red", "blue"): globals()["is_" + n] = make(n)`. What is bound only if
something succeeds there (inside `try` or `if`) is bound as a name that may be missing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import MAKES_NAMES
from pipeline.api.surface.parse.literal_values import Literals, RaisedError, Values
from pipeline.api.surface.parse.module_model import ALTERNATIVE
from pipeline.api.surface.parse.syntax import COMPOUND, parts, statements, text_of

_NAMESPACES = frozenset({"globals", "vars", "locals"})
_MOST_NAMES = 1000
"""Names that one loop is unrolled to."""


def bind_literal_globals(tree: ast.Module, bodies: Bodies, module: str, *, is_package: bool) -> None:
    """Rewrite, in place, statements that bind literal names through the namespace of a module or class."""
    if bodies.told.isdisjoint(MAKES_NAMES):
        return
    literals = Literals(tree, module, is_package, "")
    tree.body = _rewritten(tree.body, literals)


def _rewritten(body: Sequence[ast.stmt], literals: Literals) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in body:
        match statement:
            case ast.If() | ast.With() | ast.ClassDef():
                statement.body = _rewritten(statement.body, literals)
                if isinstance(statement, ast.If):
                    statement.orelse = _rewritten(statement.orelse, literals)
            case ast.Try():
                statement.body = _rewritten(statement.body, literals)
        found += _assignments(statement, literals) or [statement]
    return found


def _assignments(statement: ast.stmt, literals: Literals) -> list[ast.stmt]:
    """Return the assignments that a statement amounts to; none of what binds no literal names so."""
    if isinstance(statement, ast.For):
        return _unrolled(statement, literals)
    bound = list(_bound(statement, {}, literals))
    return [_assignment(name, value, statement) for name, value in bound if name is not None] if _all(bound) else []


def _all(bound: Sequence[tuple[str | None, ast.expr]]) -> bool:
    return bool(bound) and all(name is not None for name, _ in bound)


def _assignment(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    target = ast.Name(name, ctx=ast.Store())
    made = ast.copy_location(ast.Assign(targets=[target], value=value), at)
    return ast.fix_missing_locations(made)


def _unrolled(loop: ast.For, literals: Literals) -> list[ast.stmt]:
    inside = statements(loop.body)
    if not any(list(_bound(statement, {}, literals)) for statement in inside):
        return []
    rounds = literals.rounds(loop.target, loop.iter, literals.containers)
    made: list[ast.stmt] = []
    if len(rounds) * len(inside) > _MOST_NAMES:
        return []
    for values in rounds:
        for statement, sure in _simple(loop.body, sure=True):
            bound = list(_bound(statement, values, literals))
            if bound and not _all(bound):
                return []
            suffix = "" if sure else ALTERNATIVE
            made += [
                _assignment(f"{name}{suffix}", _Filled(values).visit(copy.deepcopy(value)), loop)
                for name, value in bound
            ]
    return made


def _simple(body: Sequence[ast.stmt], *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the innermost statements of a loop, each with whether it runs in every round."""
    for statement in body:
        if type(statement) in COMPOUND:
            for inner in parts(statement):
                yield from _simple(inner, sure=sure and isinstance(statement, ast.With))
        else:
            yield statement, sure


def _bound(statement: ast.stmt, values: Values, literals: Literals) -> Iterator[tuple[str | None, ast.expr]]:
    """Yield the names that a statement binds through a namespace, with their values; None for one that is unknown."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=namespace, slice=key)], value=value) if _is_namespace(namespace):
            yield _name(key, values, literals), value
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="setattr"), args=[ast.Subscript(value=ast.Attribute(attr="modules")), key, value]
            )
        ):
            yield _name(key, values, literals), value
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=namespace, attr="update"), args=args, keywords=keywords)
        ) if _is_namespace(namespace):
            for argument in args:
                pairs = zip(argument.keys, argument.values, strict=True) if isinstance(argument, ast.Dict) else ()
                if not isinstance(argument, ast.Dict):
                    yield None, argument
                for each, value in pairs:
                    yield _name(each, values, literals), value
            for keyword in keywords:
                yield keyword.arg, keyword.value


def _is_namespace(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES and not node.args
    )


def _name(key: ast.expr | None, values: Values, literals: Literals) -> str | None:
    try:
        name = text_of(literals.value(key, values)) if key is not None else None
    except RaisedError:
        return None
    return name if name is not None and name.isidentifier() else None


class _Filled(ast.NodeTransformer):
    """Fills in what the names of a loop stand for in one round."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what a name stands for."""
        return copy.deepcopy(self._values.get(node.id, node))
