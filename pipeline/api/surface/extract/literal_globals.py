"""Names that a module or class binds through its namespace, `globals()["name"] = value`, written as assignments.

`setattr(sys.modules[__name__], "name", value)` does the same. In the body of a class, `globals()` and the module still
stand for the module: what they bind there is written behind the class.

A loop over literals is unrolled: `for n in ("red", "blue"): globals()["is_" + n] = make(n)`, and so is one that sets
members of a class: `for n in ("red", "blue"): setattr(Class, n, make(n))`. What is bound only if
something succeeds there (inside `try` or `if`) is bound as a name that may be missing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence, Set

from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import MAKES_NAMES
from pipeline.api.surface.parse.literal_values import Literals, RaisedError, Values
from pipeline.api.surface.parse.module_model import ALTERNATIVE
from pipeline.api.surface.parse.syntax import COMPOUND, parts, statements, text_of

_OF_MODULE = frozenset({"globals"})
_OF_SCOPE = frozenset({"vars", "locals"})
"""Calls that give the namespace of the module, and that of the body in which they stand."""

_MOST_NAMES = 1000
"""Names that one loop is unrolled to."""


def bind_literal_globals(tree: ast.Module, bodies: Bodies, module: str, *, is_package: bool) -> None:
    """Rewrite, in place, statements that bind literal names through the namespace of a module or class."""
    if bodies.keywords.isdisjoint(MAKES_NAMES):
        return
    literals = Literals(tree, module, is_package, "")
    namespace = _Namespace(literals, module, _OF_MODULE | _OF_SCOPE)
    tree.body = namespace.rewritten(tree.body)
    bodies.unrolled += namespace.unrolled


class _Namespace:
    """The namespace of a module or class, given by calls such as `globals()`, and how statements bind names in it."""

    def __init__(self, literals: Literals, module: str, calls: Set[str]) -> None:
        self._literals, self._module, self._calls = literals, module, calls
        self.unrolled: list[str] = []

    def rewritten(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return a body in which assignments stand for the statements that bind literal names in the namespace."""
        result: list[ast.stmt] = []
        for statement in body:
            behind: list[ast.stmt] = []
            match statement:
                case ast.ClassDef():
                    of_module = _Namespace(self._literals, self._module, _OF_MODULE)
                    if self._calls >= _OF_MODULE:
                        behind = [
                            assignment
                            for inner in statements(statement.body)
                            for assignment in of_module._assignments(inner)
                        ]
                    statement.body = _Namespace(self._literals, self._module, _OF_SCOPE).rewritten(statement.body)
                case ast.If() | ast.With() | ast.Try():
                    statement.body = self.rewritten(statement.body)
                    if isinstance(statement, ast.If):
                        statement.orelse = self.rewritten(statement.orelse)
            result += [*(self._assignments(statement) or [statement]), *behind]
        return result

    def _assignments(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the assignments that a statement amounts to; none of what binds no literal names so."""
        if isinstance(statement, ast.For):
            return self._unrolled(statement)
        bound = list(self._bound(statement, {}))
        return [_assignment(name, value, statement) for name, value in bound if name is not None] if _all(bound) else []

    def _unrolled(self, loop: ast.For) -> list[ast.stmt]:
        inside = statements(loop.body)
        if self._calls >= _OF_MODULE and (members := self._members(loop)):
            return members
        if not any(list(self._bound(statement, {})) for statement in inside):
            return []
        rounds = self._literals.rounds(loop.target, loop.iter, self._literals.containers)
        assignments: list[ast.stmt] = []
        if len(rounds) * len(inside) > _MOST_NAMES:
            return []
        for values in rounds:
            for statement, sure in _simple(loop.body, sure=True):
                bound = list(self._bound(statement, values))
                if bound and not _all(bound):
                    return []
                suffix = "" if sure else ALTERNATIVE
                assignments += [
                    _assignment(f"{name}{suffix}", _Filled(values).visit(copy.deepcopy(value)), loop)
                    for name, value in bound
                ]
        return assignments

    def _members(self, loop: ast.For) -> list[ast.stmt]:
        """Return the assignments that `for name in ("a", "b"): setattr(Class, name, …)` amounts to, else none."""
        owners: list[str] = []
        assignments: list[ast.stmt] = []
        calls = [call for statement in statements(loop.body) if (call := _set_member(statement)) is not None]
        rounds = self._literals.rounds(loop.target, loop.iter, self._literals.containers) if calls else []
        if len(rounds) * len(calls) > _MOST_NAMES:
            return []
        for values in rounds:
            for owner, key, value in calls:
                name = self._name(key, values)
                if name is None or owner in values:
                    return []
                owners.append(owner)
                target = ast.Attribute(value=ast.Name(owner, ctx=ast.Load()), attr=name, ctx=ast.Store())
                filled = _Filled(values).visit(copy.deepcopy(value))
                assignment = ast.copy_location(ast.Assign(targets=[target], value=filled), loop)
                assignments.append(ast.fix_missing_locations(assignment))
        self.unrolled += [owner for owner, _, _ in calls] if owners else []
        return assignments

    def _bound(self, statement: ast.stmt, values: Values) -> Iterator[tuple[str | None, ast.expr]]:
        """Yield the names that a statement binds in the namespace, with their values; None for one that is unknown."""
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=namespace, slice=key)], value=value) if self._gives(namespace):
                yield self._name(key, values), value
            case ast.Expr(
                value=ast.Call(
                    func=ast.Name(id="setattr"),
                    args=[ast.Subscript(value=ast.Attribute(attr="modules"), slice=of), key, value],
                )
            ) if self._calls >= _OF_MODULE and self._is_own(of, values):
                yield self._name(key, values), value
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=namespace, attr="update"), args=args, keywords=keywords)
            ) if self._gives(namespace):
                for argument in args:
                    pairs = zip(argument.keys, argument.values, strict=True) if isinstance(argument, ast.Dict) else ()
                    if not isinstance(argument, ast.Dict):
                        yield None, argument
                    for each, value in pairs:
                        yield self._name(each, values), value
                for keyword in keywords:
                    yield keyword.arg, keyword.value

    def _gives(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=called), args=[]):
                return called in self._calls
        return False

    def _is_own(self, of: ast.expr, values: Values) -> bool:
        """Return whether a key of `sys.modules` is the name of the module itself, written or as `__name__`."""
        if isinstance(of, ast.Name) and of.id == "__name__":
            return True
        return text_of(self._literals.value(of, values)) == self._module

    def _name(self, key: ast.expr | None, values: Values) -> str | None:
        try:
            name = text_of(self._literals.value(key, values)) if key is not None else None
        except RaisedError:
            return None
        return name if name is not None and name.isidentifier() else None


def _set_member(statement: ast.stmt) -> tuple[str, ast.expr, ast.expr] | None:
    """Return the class, name and value of `setattr(Class, name, value)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), key, value])):
            return owner, key, value
    return None


def _all(bound: Sequence[tuple[str | None, ast.expr]]) -> bool:
    return bool(bound) and all(name is not None for name, _ in bound)


def _assignment(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    target = ast.Name(name, ctx=ast.Store())
    assignment = ast.copy_location(ast.Assign(targets=[target], value=value), at)
    return ast.fix_missing_locations(assignment)


def _simple(body: Sequence[ast.stmt], *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the innermost statements of a loop, each with whether it runs in every round."""
    for statement in body:
        if type(statement) in COMPOUND:
            for inner in parts(statement):
                yield from _simple(inner, sure=sure and isinstance(statement, ast.With))
        else:
            yield statement, sure


class _Filled(ast.NodeTransformer):
    """Fills in what the names of a loop stand for in one round."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what a name stands for."""
        return copy.deepcopy(self._values.get(node.id, node))
