"""What the names of a script are bound to, found by reading it: nothing is run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pipeline.corpus.pins.conditions import marker_of
from pipeline.corpus.pins.requirement import both

PASSES_ON = frozenset({"list", "tuple", "set", "sorted", "dict", "copy", "deepcopy", "OrderedDict", "unique"})
"""Calls that hand on what stands in their argument."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An expression that a name is bound to, or that is added to it, and the condition under which (a marker)."""

    value: ast.expr
    condition: str | None


@dataclass
class Bindings:
    """The bindings of a script: names, items that are set in dicts, functions; and what names stand for, once known.

    What a function binds for itself is kept apart from what others bind under that name.
    """

    names: defaultdict[str, list[Bound]] = field(default_factory=lambda: defaultdict(list))
    items: defaultdict[str, list[tuple[ast.expr, Bound]]] = field(default_factory=lambda: defaultdict(list))
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)

    def returned(self, function: str) -> list[Bound]:
        """Return what a function returns, wherever it does."""
        values = (child.value for child in ast.walk(self.functions[function]) if isinstance(child, ast.Return))
        return [Bound(value, None) for value in values if value]


def bindings_of(tree: ast.Module) -> Bindings:
    """Collect what a script binds: assignments, `+=`, `append`, `update`, items that are set, open files, loops."""
    bindings = Bindings()
    _Locals().visit(tree)
    for statement, condition, always in _statements(tree.body, None, True):
        if isinstance(statement, ast.FunctionDef):
            bindings.functions[statement.name] = statement
        for target, value in _targets(statement):
            replaces = always and isinstance(statement, ast.Assign | ast.AnnAssign)
            _bind(bindings, target, Bound(value, condition), replaces)
    return bindings


class _Locals(ast.NodeTransformer):
    """Gives the names that a function binds for itself the function's name too: `needs` becomes `read.needs`."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        names = [child for child in ast.walk(node) if isinstance(child, ast.Name)]
        shared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
        local = {name_node.id for name_node in names if isinstance(name_node.ctx, ast.Store)} - shared
        for name_node in names:
            if name_node.id in local and "." not in name_node.id:
                name_node.id = f"{node.name}.{name_node.id}"
        return node


def _targets(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement binds or changes, and with what."""
    if isinstance(statement, ast.Assign):
        yield from ((target, statement.value) for target in statement.targets)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value:
        yield statement.target, statement.value
    elif isinstance(statement, ast.For):
        yield statement.target, statement.iter
    elif isinstance(statement, ast.With):
        yield from ((item.optional_vars, item.context_expr) for item in statement.items if item.optional_vars)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _changed(statement.value)


def _changed(call: ast.Call) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what `name.append(x)`, `name.extend(xs)`, `name.update(d)` change, and `name["key"].append(x)`."""
    if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        if call.func.attr == "append":
            yield call.func.value, ast.copy_location(ast.List([call.args[0]], ast.Load()), call)
        elif call.func.attr in ("extend", "update"):
            yield call.func.value, call.args[0]


def _statements(
    body: Iterable[ast.stmt], condition: str | None, always: bool
) -> Iterator[tuple[ast.stmt, str | None, bool]]:
    """Yield statements in their order, the condition that they are under, and whether they run in any case."""
    for statement in body:
        yield statement, condition, always
        if isinstance(statement, ast.If):
            yield from _statements(statement.body, both(marker_of(statement.test), condition), False)
            yield from _statements(statement.orelse, both(marker_of(statement.test, holds=False), condition), False)
        elif isinstance(statement, ast.FunctionDef | ast.With | ast.ClassDef):
            yield from _statements(statement.body, condition, always)
        else:
            for part in ("body", "handlers", "orelse", "finalbody"):
                inner = getattr(statement, part, [])
                for child in inner if isinstance(inner, list) else ():
                    block = child.body if isinstance(child, ast.ExceptHandler) else [child]
                    yield from _statements(block, condition, False)


def _bind(bindings: Bindings, target: ast.expr, bound: Bound, replaces: bool) -> None:
    if isinstance(target, ast.Name):
        if replaces and not _repeated(target.id, bound.value):
            bindings.names[target.id].clear()
            bindings.items.pop(target.id, None)
        bindings.names[target.id].append(bound)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        bindings.items[target.value.id].append((target.slice, bound))


def _repeated(name: str, value: ast.expr) -> bool:
    """Whether a new value has the old one in it as it was: `x + [y]`, `sorted(x)`; what else is made of it is new."""
    if isinstance(value, ast.BinOp):
        return _repeated(name, value.left) or _repeated(name, value.right)
    if isinstance(value, ast.Call) and called(value) in PASSES_ON:
        return any(_repeated(name, argument) for argument in value.args)
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return any(_repeated(name, element) for element in value.elts)
    if isinstance(value, ast.Starred):
        return _repeated(name, value.value)
    return isinstance(value, ast.Name) and value.id == name


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))
