"""Which parts of a program are evaluated for certain, if its statements raise nothing that ends them.

Branches, handlers, deferred bodies and what stands behind a possible `return` are left out, so that nothing is asked of
an answer that the right one may not do. A function of the program counts where a certain part calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_MAY_SUPPRESS = frozenset({"raises", "suppress", "assertRaises", "assertRaisesRegex"})
"""Context managers after which a block may have ended early (pytest, contextlib, unittest)."""

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def certain_nodes(program: ast.Module) -> list[ast.AST]:
    """Return the nodes that a program evaluates for certain."""
    walker = _Walker(program)
    return list(walker.block(program.body))


class _Walker:
    def __init__(self, program: ast.Module) -> None:
        names = [node.name for node in ast.walk(program) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        self._functions = {
            node.name: node
            for node in program.body
            if isinstance(node, ast.FunctionDef) and names.count(node.name) == 1 and not _is_deferred(node)
        }

    def block(self, body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
        """Yield the nodes of statements, up to the first that may leave the block."""
        for statement in body:
            yield from self._statement(statement)
            if any(isinstance(node, _LEAVING) for node in ast.walk(statement)) and not isinstance(
                statement, _Definition
            ):
                return

    def _statement(self, node: ast.stmt) -> Iterator[ast.AST]:
        expressions, body = _parts_of_definition(node) if isinstance(node, _Definition) else _parts(node)
        for part in expressions:
            yield from self._expression(part)
        yield from self.block(body)

    def _expression(self, node: ast.AST) -> Iterator[ast.AST]:
        match node:
            case ast.Lambda():
                return
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                yield from self._expression(node.generators[0].iter)
                return
            case ast.IfExp(test=part) | ast.BoolOp(values=[part, *_]):
                yield from self._expression(part)
                return
            case ast.Compare(left=left, comparators=[second, *_]):
                yield from self._expression(left)
                yield from self._expression(second)
                return
        yield node
        for child in ast.iter_child_nodes(node):
            yield from self._expression(child)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            # Each function once, so that one which calls itself comes to an end.
            called = self._functions.pop(node.func.id, None)
            if called:
                yield from self.block(called.body)


def _parts(node: ast.stmt) -> tuple[list[ast.AST], Sequence[ast.stmt]]:
    """Return what a statement evaluates for certain, and then the statements that it runs for certain."""
    match node:
        case ast.If(test=test, body=body):
            return [test], body if _is_true(test) else []
        case ast.For(iter=iterated, body=body):
            return [iterated], body if _has_items(iterated) else []
        case ast.While(test=test) | ast.Assert(test=test):
            return [test], []
        case ast.With(items=items, body=body):
            managers: list[ast.AST] = [item.context_expr for item in items]
            return managers, [] if any(_last_name(each) in _MAY_SUPPRESS for each in managers) else body
        case ast.Try(handlers=[], body=body, finalbody=last):
            return [], [*body, *last]
        case ast.AnnAssign(target=target, value=value):
            return [part for part in (target, value) if part], []
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Return() | ast.Import() | ast.ImportFrom():
            return [node], []
    return [], []


def _parts_of_definition(node: _Definition) -> tuple[list[ast.AST], Sequence[ast.stmt]]:
    """Return the same of a definition; the body of a function waits for a call."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)], node.body
    defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
    return [*node.decorator_list, *defaults], []


def _is_deferred(function: ast.FunctionDef) -> bool:
    """Say whether calling a function may not run its body: decorators decide that, and generators wait."""
    yields = (ast.Yield, ast.YieldFrom)
    return bool(function.decorator_list) or any(isinstance(node, yields) for node in ast.walk(function))


def _is_true(test: ast.expr) -> bool:
    is_constant = isinstance(test, ast.Constant) and bool(test.value)
    return is_constant or ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _has_items(iterated: ast.expr) -> bool:
    is_display = isinstance(iterated, ast.List | ast.Tuple | ast.Set) and bool(iterated.elts)
    return is_display or (isinstance(iterated, ast.Constant) and bool(iterated.value))


def _last_name(manager: ast.AST) -> str:
    return ast.unparse(manager.func if isinstance(manager, ast.Call) else manager).rpartition(".")[2]
