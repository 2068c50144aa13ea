"""What a module says about its own names: `__all__`, read statically, and what a package imports from itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import find_all
from pipeline.api.surface.parse.literal_values import Literals, keys_of
from pipeline.api.surface.parse.module_model import Exports
from pipeline.api.surface.parse.syntax import dotted, written
from pipeline.core.syntax_trees import parse_python

_EXPORTS = "__all__"
_CHANGED = re.compile(rf"{_EXPORTS}\s*(?:\+=|\.(?:append|extend|remove|insert)\b)")

_SILENT = (ast.FunctionDef, ast.ClassDef, ast.Import)
"""What says nothing about `__all__`."""

Parts = list[tuple[str, str]]
ExportsChange = tuple[bool, Parts, bool]
"""What a statement says about `__all__`: whether it replaces what was there, parts, whether it was understood."""


def read_exports(tree: ast.Module, bodies: Bodies) -> Exports | None:
    """Read `__all__`: lists, tuples, concatenation, `+=`, extend, append, remove, and other modules' `__all__`.

    None if the module has no `__all__`. Where a part is not understood, or the text has a loop or function that changes
    it, `complete` is False.
    """
    if _EXPORTS not in bodies.rest:
        return None
    parts: Parts = []
    complete = True
    extenders, unobservable = _hidden_changes(bodies.text)
    reader = _Reader(Literals(tree, "", False, ""), extenders)
    changes = list(reader.changes(tree.body))
    for replaces, more, understood in changes:
        parts = more if replaces else parts + more
        complete = understood and (complete or replaces)
    return Exports(parts, complete and not unobservable) if changes else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads statements about `__all__`; `extenders` are functions that add to it that of a module they are given."""

    literals: Literals
    extenders: frozenset[str]

    def changes(self, body: list[ast.stmt]) -> Iterator[ExportsChange]:
        """Yield what the statements of a module say about `__all__`: of branches, the first one that says anything."""
        for statement in body:
            if isinstance(statement, _SILENT):
                continue
            for alternatives in _branches(statement):
                yield from next(filter(None, (list(self.changes(branch)) for branch in alternatives)), ())
            if (change := self._statement(statement)) is not None:
                yield change

    def _statement(self, statement: ast.stmt) -> ExportsChange | None:
        """Return (replaces what was there, parts, understood) of a statement about `__all__`, else None."""
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="__all__")],
                value=ast.BinOp(left=ast.Name(id="__all__"), op=ast.Add(), right=value),
            ):
                return False, *self._names(value)
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return True, *self._names(value)
            case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                return True, *self._names(value)
            case ast.AugAssign(target=ast.Name(id="__all__"), op=ast.Add(), value=value):
                return False, *self._names(value)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr=method), args=[argument])
            ):
                return False, *self._method(method, argument)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[argument])) if name in self.extenders:
                return False, [("all_of", written(argument))], True
            case ast.ImportFrom(names=names) if any((name.asname or name.name) == "__all__" for name in names):
                return True, [("all_of", "__all__")], True
        return None

    def _method(self, method: str, argument: ast.expr) -> tuple[Parts, bool]:
        if method in {"extend", "append"}:
            return self._names(argument)
        if method == "remove" and isinstance(argument, ast.Constant):
            return [("remove", str(argument.value))], True
        return [], False

    def _names(self, value: ast.expr) -> tuple[Parts, bool]:
        match value:
            case ast.Constant(value=str(name)):
                return [("add", name)], True
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return self._joined(elements)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                return self._joined([left, right])
            case (
                ast.Starred(value=inner)
                | ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None, step=None))
                | ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[])
                | ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "set"), args=[inner], keywords=[])
            ):
                return self._names(inner)
            case ast.Attribute(attr="__all__", value=owner):
                return [("all_of", written(owner))], True
            case ast.Attribute(attr="__name__", value=ast.Name(id=name)):
                return [("add", name)], True
            case ast.Name(id=name):
                return self._named(name)
        return [], False

    def _named(self, name: str) -> tuple[Parts, bool]:
        listed = self.literals.containers.get(name)
        if listed is not None:
            return self._joined([key for key in keys_of(listed) if key is not None])
        # `from .part import __all__ as part_all`: resolved where the imports are known
        return [("all_of", name)], True

    def _joined(self, values: list[ast.expr]) -> tuple[Parts, bool]:
        read = [self._names(value) for value in values]
        return [part for parts, _ in read for part in parts], all(understood for _, understood in read)


def _branches(statement: ast.stmt) -> Iterator[list[list[ast.stmt]]]:
    """Yield the bodies inside a statement, those together of which one runs."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            yield [orelse] if dotted(test) == "TYPE_CHECKING" else [body, orelse]
        case ast.Try() | ast.TryStar():
            yield [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
            yield [statement.finalbody]
        case ast.With(body=body):
            yield [body]


def _hidden_changes(text: str) -> tuple[frozenset[str], bool]:
    """Return the functions that add to `__all__` that of a module, and whether something else changes it unobservably.

    What a loop or another function adds, only running the module can tell.
    """
    if not any(text[place - 1] in " \t:" and _CHANGED.match(text, place) for place in find_all(text, _EXPORTS, 1)):
        return frozenset(), False
    extenders: set[str] = set()
    unobservable = False
    waiting: list[ast.AST] = [parse_python(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) and _extends(node):
            extenders.add(node.name)
            continue
        changing = isinstance(node, ast.For | ast.While | ast.FunctionDef)
        unobservable = unobservable or (changing and any(_changes_exports(inner) for inner in ast.walk(node)))
        waiting += ast.iter_child_nodes(node)
    return frozenset(extenders), unobservable


def _extends(function: ast.FunctionDef) -> bool:
    """Return whether a function adds the `__all__` of its only argument: `def extend_all(module): …` of numpy."""
    if len(function.args.args) != 1 or not any(_changes_exports(node) for node in ast.walk(function)):
        return False
    argument = function.args.args[0].arg
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="__all__") if name == argument:
                return True
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=name), ast.Constant(value="__all__"), *_]):
                return name == argument
    return False


def _changes_exports(node: ast.AST) -> bool:
    match node:
        case ast.AugAssign(target=ast.Name(id="__all__")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr="append" | "extend" | "remove" | "insert")):
            return True
    return False


def read_parts(tree: ast.Module, package: str) -> list[str]:
    """Return what a package imports from itself by name (`from . import part`), sorted: as a rule its submodules."""
    parts: set[str] = set()
    own = {(None, 1), (package, 0)}
    for statement in _running(tree.body):
        match statement:
            case ast.ImportFrom(module=module, level=level, names=names) if (module, level) in own:
                parts |= {name.name for name in names if name.asname in {None, name.name}}
    return sorted(parts - {"*"})


def _running(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for alternatives in _branches(statement):
            for branch in alternatives:
                yield from _running(branch)
