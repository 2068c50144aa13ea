"""The values that tests of a library give to parameters: programs that are written from changes take them over."""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.corpus.own_tests.rules import WrittenRules
from pipeline.corpus.witnesses.changed_uses import entered
from pipeline.lake.rows import OwnTestRow, SymbolState

BY_POSITION = frozenset({ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD})
_WITH_OWN_NAMES = (ast.Lambda, ast.NamedExpr, ast.Await, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class ValuesOfTests:
    """The values that tests of a library give to parameters, by the name of the parameter, the commonest first.

    They are literals, and what stands alone with the library and the standard library: `demo.Box(7)`. And the contexts
    that tests enter: `app.app_context()`.
    """

    def __init__(self, tests: Iterable[OwnTestRow], signatures: Iterable[SymbolState], rules: WrittenRules) -> None:
        self._rules = rules
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        by_position: dict[str, Sequence[str]] = {}
        roots: set[str] = set()
        for row in signatures:
            names = [each["name"] for each in row["parameters"] if each["kind"] in BY_POSITION]
            by_position.setdefault(row["path"].rpartition(".")[2], names)
            roots.add(row["path"].partition(".")[0])
        self._contexts: dict[str, list[OwnTestRow]] = defaultdict(list)
        for test in tests:
            tree = parse_python(test["preamble"] + test["code"])
            for node in ast.walk(tree):
                for context in entered(node):
                    if text := _source(context):
                        self._contexts[text].append(test)
            for call, expressions in _calls(tree, roots):
                called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                # What follows unpacked arguments has no place that the source tells.
                by_place = itertools.takewhile(lambda each: not isinstance(each, ast.Starred), call.args)
                pairs = [*zip(by_position.get(called, ()), by_place, strict=False)]
                for name, value in (*pairs, *((each.arg, each.value) for each in call.keywords if each.arg)):
                    self._count(name, _self_contained(value, expressions))

    def _count(self, name: str, value: ast.expr | None) -> None:
        text = _source(value) if value is not None and not _is_empty(value) else None
        if text and len(text) <= self._rules.longest_value:
            self._counts[name][text] += 1

    def of(self, name: str) -> list[str]:
        """Return the values of a parameter of this name, as source in which modules stand by their full names."""
        ordered = sorted(self._counts[name].items(), key=lambda each: (-each[1], len(each[0]), each[0]))
        return [text for text, _ in ordered[: self._rules.values_of_tests]]

    def contexts(self) -> list[tuple[str, list[OwnTestRow]]]:
        """Return the contexts that are entered most, as source, with the tests that enter them."""
        ordered = sorted(self._contexts.items(), key=lambda each: (-len(each[1]), each[0]))
        return ordered[: self._rules.contexts]


def _source(node: ast.expr) -> str | None:
    """Return the source of an expression; None of an f-string with a text that it cannot hold before Python 3.12."""
    try:
        return ast.unparse(node)
    except ValueError:
        return None


def _calls(tree: ast.Module, roots: Iterable[str]) -> Iterator[tuple[ast.Call, Mapping[str, ast.expr]]]:
    """Yield the calls of a program in their order, each with the expressions that names stand for there.

    A name stands for what it was bound to until a statement uses it: that may change the object.
    """
    modules = {*roots, *sys.stdlib_module_names}
    names: dict[str, ast.expr] = {}
    for statement in _in_order(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names |= _imported(statement, modules)
            continue
        expressions = list(_expressions(statement))
        nodes = [node for expression in expressions for node in ast.walk(expression)]
        yield from ((node, names) for node in nodes if isinstance(node, ast.Call))
        bound: dict[str, ast.expr] = {}
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if alone := _self_contained(value, names):
                bound[name] = alone
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        stale = {name for name in used & names.keys() if not _is_imported(names[name])}
        for node in ast.walk(statement):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    stale.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    stale.add(name)
        names = {name: value for name, value in names.items() if name not in stale} | bound


def _in_order(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _in_order(getattr(statement, part, ()))


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, not those of the statements in it."""
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, ast.expr):
            yield node
        elif isinstance(node, ast.withitem):
            yield node.context_expr


def _imported(statement: ast.Import | ast.ImportFrom, modules: set[str]) -> dict[str, ast.expr]:
    """Return what an import of the library or the standard library binds, as names with their whole paths."""
    names: dict[str, ast.expr] = {}
    for alias in statement.names:
        first = alias.name.partition(".")[0]
        if isinstance(statement, ast.Import):
            path = alias.name if alias.asname else first
        elif statement.level or alias.name == "*":
            continue
        else:
            path = f"{statement.module}.{alias.name}"
        if path.partition(".")[0] in modules:
            names[alias.asname or (first if isinstance(statement, ast.Import) else alias.name)] = _path(path)
    return names


def _path(path: str) -> ast.expr:
    return parse_python(path, mode="eval").body


def _is_imported(value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Attribute)


def _self_contained(value: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return an expression with its names written out, None if it needs one that stands for nothing known."""
    if isinstance(value, ast.Constant):
        return value
    nodes = list(ast.walk(value))
    needed = {node.id for node in nodes if isinstance(node, ast.Name)}
    if needed - names.keys() - _BUILTINS or any(isinstance(node, _WITH_OWN_NAMES) for node in nodes):
        return None
    return _WrittenOut(names).visit(copy.deepcopy(value))  # type: ignore[no-any-return]


_BUILTINS = frozenset(vars(builtins))


class _WrittenOut(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._names.get(node.id, node)


def _is_empty(value: ast.expr) -> bool:
    """Whether a value says nothing: None, `...`, or a collection without items."""
    match value:
        case ast.Constant(value=constant):
            return constant is None or constant is ...
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
    return False
