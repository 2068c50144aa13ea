"""What a module says about its own names: `__all__`, read statically, and what a package imports from itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pipeline.surface.bodies import Bodies
from pipeline.surface.records import Exports
from pipeline.surface.syntax import dotted, written
from pipeline.surface.telling import find_all

_EXPORTS = "__all__"
_CHANGED = re.compile(rf"{_EXPORTS}\s*(?:\+=|\.(?:append|extend|remove|insert)\b)")

_SILENT = (ast.FunctionDef, ast.ClassDef, ast.Import)
"""What says nothing about `__all__`."""

Parts = list[tuple[str, str]]
Said = tuple[bool, Parts, bool]
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
    said = list(_said(tree.body))
    for replaces, more, understood in said:
        parts = more if replaces else parts + more
        complete = understood and (complete or replaces)
    return Exports(parts, complete and not _changes_unseen(bodies.text)) if said else None


def _said(body: list[ast.stmt]) -> Iterator[Said]:
    """Yield what the statements of a module say about `__all__`: of branches, the first one that says anything."""
    for statement in body:
        if isinstance(statement, _SILENT):
            continue
        for alternatives in _branches(statement):
            yield from next(filter(None, (list(_said(branch)) for branch in alternatives)), ())
        if (said := _statement(statement)) is not None:
            yield said


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


def _changes_unseen(text: str) -> bool:
    """Return whether a loop or function changes `__all__`: what is in it then, only running the module can tell."""
    if not any(text[place - 1] in " \t:" and _CHANGED.match(text, place) for place in find_all(text, _EXPORTS, 1)):
        return False
    tree = ast.parse(text)
    hidden = (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.FunctionDef))
    return any(_changes_exports(node) for part in hidden for node in ast.walk(part))


def _changes_exports(node: ast.AST) -> bool:
    match node:
        case ast.AugAssign(target=ast.Name(id="__all__")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr="append" | "extend" | "remove" | "insert")):
            return True
    return False


def _statement(statement: ast.stmt) -> Said | None:
    """Return (replaces what was there, parts, understood) of a statement about `__all__`, else None."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id="__all__")],
            value=ast.BinOp(left=ast.Name(id="__all__"), op=ast.Add(), right=value),
        ):
            return False, *_names(value)
        case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
            return True, *_names(value)
        case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
            return True, *_names(value)
        case ast.AugAssign(target=ast.Name(id="__all__"), op=ast.Add(), value=value):
            return False, *_names(value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr=method), args=[argument])):
            return False, *_method(method, argument)
        case ast.ImportFrom(names=names) if any((name.asname or name.name) == "__all__" for name in names):
            return True, [("all_of", "__all__")], True
    return None


def _method(method: str, argument: ast.expr) -> tuple[Parts, bool]:
    if method in {"extend", "append"}:
        return _names(argument)
    if method == "remove" and isinstance(argument, ast.Constant):
        return [("remove", str(argument.value))], True
    return [], False


def _names(value: ast.expr) -> tuple[Parts, bool]:
    match value:
        case ast.Constant(value=str(name)):
            return [("add", name)], True
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return _joined(elements)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([left, right])
        case ast.Starred(value=inner):
            return _names(inner)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "set"), args=[inner], keywords=[]):
            return _names(inner)
        case ast.Attribute(attr="__all__", value=owner):
            return [("all_of", written(owner))], True
        case ast.Attribute(attr="__name__", value=ast.Name(id=name)):
            return [("add", name)], True
        case ast.Name(id=name):
            # `from .part import __all__ as part_all`: resolved where the imports are known
            return [("all_of", name)], True
    return [], False


def _joined(values: list[ast.expr]) -> tuple[Parts, bool]:
    read = [_names(value) for value in values]
    return [part for parts, _ in read for part in parts], all(understood for _, understood in read)


def read_parts(tree: ast.Module, package: str) -> list[str]:
    """Return what a package imports from itself by name (`from . import part`), sorted: as a rule its submodules."""
    found: set[str] = set()
    for statement in _running(tree.body):
        match statement:
            case ast.ImportFrom(module=None, level=1, names=names):
                found |= {name.name for name in names if name.asname in {None, name.name}}
            case ast.ImportFrom(module=module, level=0, names=names) if module == package:
                found |= {name.name for name in names if name.asname in {None, name.name}}
    return sorted(found - {"*"})


def _running(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for alternatives in _branches(statement):
            for branch in alternatives:
                yield from _running(branch)
