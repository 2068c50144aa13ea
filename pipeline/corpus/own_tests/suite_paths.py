"""Paths in a program that lead to files of its suite: `Path(__file__).parent / "data"`, followed by name."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum

from pipeline.corpus.own_tests.rules import is_named
from pipeline.corpus.own_tests.suite import dotted_name, root_name

_OF_PATHS = ("os.path.*", "posixpath.*", "pathlib.*", "os.fspath")
"""Functions that make paths of paths."""


class PathScope(IntEnum):
    """Where a path of a program leads."""

    ELSEWHERE = 0
    SUITE = 1
    """To the file of the test, or to a folder above it."""
    BELOW = 2
    """To a file or folder that the suite has to hold."""


class SuitePaths:
    """The paths of a suite in a program of these nodes; `callee` gives the dotted name of what a call calls."""

    def __init__(self, nodes: Sequence[ast.AST], callee: Callable[[ast.Call], str]) -> None:
        self._nodes = nodes
        self._callee = callee
        self._scopes = {"__file__": PathScope.SUITE}
        self._by_node: dict[int, PathScope] = {}
        self._is_empty = not any(isinstance(node, ast.Name) and node.id == "__file__" for node in nodes)
        # A name may stand for a path that is made of names which are bound further down.
        while not self._is_empty and self._follow_names():
            self._by_node.clear()

    def scope(self, node: ast.expr) -> PathScope:
        """Return where the path leads that an expression is; ELSEWHERE if it is none of the suite."""
        if self._is_empty:
            return PathScope.ELSEWHERE
        if id(node) not in self._by_node:
            self._by_node[id(node)] = self._scope(node)
        return self._by_node[id(node)]

    def _scope(self, node: ast.expr) -> PathScope:
        match node:
            case ast.Name() | ast.Attribute() if dotted_name(node) in self._scopes:
                return self._scopes[dotted_name(node)]
            case (
                ast.Attribute(value=part)
                | ast.Subscript(value=part)
                | ast.FormattedValue(value=part)
                | ast.Starred(value=part)
                | ast.NamedExpr(value=part)
                | ast.ListComp(elt=part)
                | ast.GeneratorExp(elt=part)
            ):
                return self.scope(part)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return self._furthest(parts)
            case ast.BinOp(left=left, right=right, op=operator):
                return self._joined([left, right], isinstance(operator, ast.Div) or _has_slash([left, right]))
            case ast.JoinedStr(values=parts):
                return self._joined(parts, _has_slash(parts))
            case ast.Call(func=function) if dotted_name(function) in self._scopes:
                return self._scopes[dotted_name(function)]
            case ast.Call(func=ast.Attribute(value=path, attr=method), args=parts) if self.scope(path):
                return self._joined([path, *parts], method == "joinpath")
            case ast.Call(args=parts) if self.is_path(node):
                return self._joined(parts, True)
        return PathScope.ELSEWHERE

    def is_path(self, call: ast.Call) -> bool:
        """Say whether a call makes a path of paths, or is of a method of a path or a built-in function."""
        is_method = isinstance(call.func, ast.Attribute) and bool(self.scope(call.func.value))
        callee = self._callee(call)
        return is_method or is_named(callee, _OF_PATHS) or hasattr(builtins, callee)

    def handed_over(self) -> str | None:
        """Return a path below the suite that is set on an object: `app.root_path = …`."""
        for node in self._nodes:
            if isinstance(node, ast.Assign) and self.scope(node.value) is PathScope.BELOW:
                attributes = [target for target in node.targets if isinstance(target, ast.Attribute)]
                if any(root_name(target) not in ("self", "cls") for target in attributes):
                    return ast.unparse(node.value)
        return None

    def _follow_names(self) -> bool:
        """Note the names that stand for paths of the suite, and functions that give one; say whether any is new."""
        before = dict(self._scopes)
        for node in self._nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._note(map(dotted_name, targets), self.scope(value))
                case (
                    ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value)
                ):
                    self._note([dotted_name(target)], self.scope(value))
                case ast.ClassDef(name=name, body=body):
                    self._note_attributes(("self", "cls", name), body)
                case ast.FunctionDef(name=name):
                    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield)]
                    self._note([name], self._furthest([value for value in values if value is not None]))
        return before != self._scopes

    def _note(self, names: Iterable[str], scope: PathScope) -> None:
        self._scopes |= {name: max(scope, self._scopes.get(name, scope)) for name in names if name and scope}

    def _note_attributes(self, owners: Sequence[str], body: Sequence[ast.stmt]) -> None:
        """Note what the statements of a class assign, as attributes of each owner."""
        for statement in body:
            match statement:
                case ast.Assign(targets=targets, value=ast.expr() as value):
                    names = [*map(dotted_name, targets)]
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    names = [dotted_name(target)]
                case _:
                    continue
            self._note([f"{owner}.{name}" for owner in owners for name in names if name], self.scope(value))

    def _furthest(self, parts: Sequence[ast.expr]) -> PathScope:
        return max(map(self.scope, parts), default=PathScope.ELSEWHERE)

    def _joined(self, parts: Sequence[ast.expr], names_file: bool) -> PathScope:
        """Return where a path of these parts leads: below the suite if another part names a file, more than `..`."""
        scope = self._furthest(parts)
        others = [part for part in parts if not self.scope(part)]
        named = [part for part in others if not isinstance(part, ast.Constant) or str(part.value).strip("./")]
        return PathScope.BELOW if scope and names_file and named else scope


def _has_slash(parts: Sequence[ast.expr]) -> bool:
    return any(isinstance(part, ast.Constant) and "/" in str(part.value) for part in parts)
