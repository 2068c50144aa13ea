"""Tests without what serves their suite alone: other names for what is imported, and contexts that do nothing."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.corpus.own_tests.suite import dotted_name
from pipeline.corpus.snippets.names import bound_by

_IMPORT = ast.Import | ast.ImportFrom


def without_scaffolding(outer: Sequence[ast.stmt], body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements around a test and its own without plain aliases and contexts that do nothing.

    An alias is a name that is bound once, to a definition or something imported, as a parametrised test binds `func`.
    """
    statements = [*outer, *body]
    bound = Counter(_bindings(each for each in statements if not isinstance(each, _IMPORT)))
    imported = {name for each in statements if isinstance(each, _IMPORT) for name in bound_by(each)}
    fixed = imported - bound.keys()
    fixed |= {each.name for each in statements if isinstance(each, ast.FunctionDef | ast.ClassDef)} - imported
    fixed = {name for name in fixed if bound[name] < 2}
    idle = {name: value for name, value in _idle_contexts(statements) if name.partition(".")[0] in fixed}
    uses = _Uses(statements)
    values: dict[str, ast.expr] = {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1 and name not in imported:
                is_entered = isinstance(value, ast.Call) and dotted_name(value) in idle and uses.loads[name] == 1
                if is_entered or (dotted_name(value).partition(".")[0] in fixed and uses.allow(name, value)):
                    values[name] = value
    plain = _Plain(values, idle)
    return plain.statements(outer), plain.statements(body)


def _bindings(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield each name that is bound anywhere in statements, as often as it is."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.alias(name=path, asname=name):
                yield name or path.partition(".")[0]


class _Uses:
    """How names are used: how often they are loaded, called or asked for attributes, and which attributes are set."""

    def __init__(self, statements: Iterable[ast.stmt]) -> None:
        nodes = [node for statement in statements for node in ast.walk(statement)]
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        heads = [*(node.value for node in attributes), *(node.func for node in nodes if isinstance(node, ast.Call))]
        self.loads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        self._heads = Counter(node.id for node in heads if isinstance(node, ast.Name))
        self._set = {dotted_name(node) for node in attributes if not isinstance(node.ctx, ast.Load)}

    def allow(self, name: str, value: ast.expr) -> bool:
        """Say whether a value can stand wherever its alias does: an attribute may be data, which changes."""
        is_head = self.loads[name] == self._heads[name] and dotted_name(value) not in self._set
        return isinstance(value, ast.Name) or (isinstance(value, ast.Attribute) and is_head)


def _idle_contexts(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield how contexts that do nothing are called, and what they give; None where it is their argument."""
    for statement in statements:
        match statement:
            case ast.ImportFrom(module="contextlib", names=names):
                yield from ((each.asname or each.name, None) for each in names if each.name == "nullcontext")
            case ast.Import(names=names):
                modules = (each.asname or each.name for each in names if each.name == "contextlib")
                yield from ((f"{module}.nullcontext", None) for module in modules)
            case ast.FunctionDef(
                name=name,
                args=ast.arguments(args=parameters),
                decorator_list=[decorator],
                body=[ast.Expr(ast.Yield(value))] | [ast.Expr(ast.Constant()), ast.Expr(ast.Yield(value))],
            ) if dotted_name(decorator).rpartition(".")[2] == "contextmanager":
                if value is None or isinstance(value, ast.Constant):
                    yield name, value or ast.Constant(None)
                elif isinstance(value, ast.Name) and [each.arg for each in parameters] == [value.id]:
                    yield name, None


class _Plain(ast.NodeTransformer):
    """Writes values in place of aliases, and the statements of contexts that do nothing in place of these."""

    def __init__(self, values: Mapping[str, ast.expr], idle: Mapping[str, ast.expr | None]) -> None:
        self._values = values
        self._idle = idle

    def statements(self, before: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Return the statements, without those that bind aliases."""
        return self.visit(ast.Module([*before], [])).body  # type: ignore[no-any-return]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        is_alias = isinstance(node.targets[0], ast.Name) and node.targets[0].id in self._values
        return None if is_alias else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._values.get(node.id, node))

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(ast.Call() as call, target)] if (name := dotted_name(call)) in self._idle:
                arguments = [*call.args, *(each.value for each in call.keywords), ast.Constant(None)]
                value = self._idle[name] or arguments[0]
                assigned = [ast.Assign([target], value, lineno=node.lineno)] if target else []
                return [*assigned, *node.body]
        return node
