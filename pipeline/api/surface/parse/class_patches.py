"""Definitions that statements below them change: `Class.name = value`, `setattr(…)`, `name = decorator(name)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from pipeline.api.surface.parse.bound_names import bound_in, bound_names, target_names
from pipeline.api.surface.parse.syntax import dotted, written

_FIXES_ARGUMENTS = frozenset({"partial", "partialmethod"})

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def calls_of(body: Iterable[ast.stmt]) -> list[ast.Call]:
    """Return the calls that run for what they do: those of statements that bind no value."""
    return [call for statement in body for call in _calls(statement)]


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    if isinstance(statement, ast.Expr | ast.For | ast.While | ast.If | ast.Try | ast.TryStar | ast.With):
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def patched_members(body: Iterable[ast.stmt], gives: re.Pattern[str]) -> dict[str, set[str]]:
    """Return the names of the classes that a module gives members whose names only running tells, and of what does so.

    `add_methods(Class)`, called by a name in which `gives` finds something; or a loop that calls a method of the class
    with what it loops over: `for name in names: Class.add(name)`.
    """
    patches: dict[str, set[str]] = {}
    for statement in body:
        for name, giver in _patched_members(statement, gives):
            patches.setdefault(name, set()).add(giver)
    return patches


def _patched_members(statement: ast.stmt, gives: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=[ast.Name(id=name), *_])) if gives.search(written(func)):
            yield name, written(func).rpartition(".")[2]
        case ast.For(target=target, body=body):
            looped = set(target_names(target))
            for inner in body:
                match inner:
                    case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=giver), args=args)):
                        if any(isinstance(a, ast.Name) and a.id in looped for a in args):
                            yield name, giver


def put_into_classes(body: list[ast.stmt], calls: Iterable[ast.Call]) -> None:
    """Move what the calls of a module (`setattr(Class, "name", value)`), then its assignments, give to its classes."""
    for call in calls:
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), value]):
                _put_into_class(body, written(owner).split("."), name, value, call)
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=value):
                _put_into_class(body, written(owner).split("."), name, value, statement)


def _put_into_class(body: list[ast.stmt], owner: list[str], name: str, value: ast.expr, at: ast.AST) -> None:
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name == owner[0]:
            if owner[1:]:
                _put_into_class(statement.body, owner[1:], name, value, at)
            elif name not in bound_in(statement.body):
                target = ast.copy_location(ast.Name(name, ctx=ast.Store()), at)
                statement.body.append(ast.copy_location(ast.Assign(targets=[target], value=value), at))


def decorated(body: list[ast.stmt]) -> list[ast.stmt]:
    """Write `name = decorator(name)`, below what defines the name, as the decorator that it is (PEP 318)."""
    assigned = [s.targets[0] for s in body if type(s) is ast.Assign and type(s.value) is ast.Call]
    names = {target.id for target in assigned if type(target) is ast.Name}
    if not any(statement.name in names for statement in body if isinstance(statement, _Definition)):
        return body
    merged: list[ast.stmt] = []
    definitions: dict[str, _Definition] = {}
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                definitions[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in definitions:
                if decorators := _decorators(value, name):
                    definitions[name].decorator_list[:0] = decorators
                    continue
                del definitions[name]
            case ast.Expr():
                pass
            case _ if definitions:
                for name in bound_names(statement) & definitions.keys():
                    del definitions[name]
        merged.append(statement)
    return merged


def _decorators(value: ast.expr, name: str) -> Sequence[ast.expr]:
    """Return the decorators of `outer(inner(name))`, the outer one first; none where it is something else."""
    match value:
        case ast.Call(func=func, args=[ast.Name(id=argument_name)]) if argument_name == name:
            inner: Sequence[ast.expr] = ()
        case ast.Call(func=func, args=[ast.Call() as argument]) if inner := _decorators(argument, name):
            pass
        case _:
            return ()
    if (dotted(func) or "").rpartition(".")[2] in _FIXES_ARGUMENTS:
        return ()
    call = ast.copy_location(ast.Call(func=func, args=[], keywords=value.keywords), value)
    return [call if value.keywords else func, *inner]
