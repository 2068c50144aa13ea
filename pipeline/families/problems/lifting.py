"""Values of an example become parameters: what is left is the code that a solver has to write."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.core.syntax_trees import parse_python
from pipeline.families.problems.slices import Program, Slice, Unfit, names_in
from pipeline.families.problems.stated_values import plain_source

_BUILTINS = frozenset(dir(builtins))
_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict


@dataclass(frozen=True, slots=True)
class Lifted:
    """Statements and the returned expression with parameters `parameter_0`, `parameter_1`, … in their order.

    `arguments` are the values that stood in their place; `variables` the names that these had in the example, or "".
    `free` are the names that the arguments take for granted.
    """

    body: tuple[str, ...]
    returned: str
    arguments: tuple[str, ...]
    variables: tuple[str, ...]
    free: frozenset[str]

    @property
    def shape(self) -> tuple[str, ...]:
        """What two cases of one task have in common."""
        return (*self.body, self.returned)


def parameter(number: int) -> str:
    """Return the name of a parameter until it gets one that fits."""
    return f"parameter_{number}"


def lift(program: Program, needed: Slice, expression: ast.expr) -> Lifted:
    """Take every value that has nothing to do with the library out of an expression and the statements it needs.

    Errors: Unfit where a statement cannot be taken into a function.
    """
    if rebound := sorted(needed.data.keys() & {n for at in needed.body for n in program.steps[at].binds}):
        raise Unfit(f"{rebound[0]} is a value first, and then something of the library")
    lifter = _Lifter(_data(program, needed), frozenset(_not_values(program, needed)))
    body = [ast.unparse(lifter.statement(program.steps[position].node)) for position in sorted(needed.body)]
    returned = ast.unparse(lifter.value(copy.deepcopy(expression)))
    free = frozenset(name for argument in lifter.arguments for name in names_in(parse_python(argument)))
    return Lifted(tuple(body), returned, tuple(lifter.arguments), tuple(lifter.variables), free)


def _data(program: Program, needed: Slice) -> dict[str, ast.expr]:
    """Return the values of names by assignments without the library, each with earlier ones put in their places."""
    values: dict[str, ast.expr] = {}
    for name, position in sorted(needed.data.items(), key=lambda item: item[1]):
        node = program.steps[position].node
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            values[name] = _Inlined(dict(values)).visit(copy.deepcopy(node.value))
    return values


def _not_values(program: Program, needed: Slice) -> set[str]:
    """Return the names that no argument may mention: those of the library, and what the body binds."""
    bound = {name for position in (*needed.body, *needed.own) for name in program.steps[position].binds}
    return (set(program.of_library) - set(needed.data)) | bound


def replaced(source: str, sources: Mapping[str, str]) -> str:
    """Return code in which expressions, by their plain source, are replaced by others."""
    values = {each: parse_python(other, mode="eval").body for each, other in sources.items()}
    return ast.unparse(_Inlined(values).visit(parse_python(source)))


class _Inlined(ast.NodeTransformer):
    """Puts values in the places of expressions, by the plain source of these."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> Any:
        is_read = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        value = self.values.get(ast.unparse(node)) if is_read else None
        return copy.deepcopy(value) if value is not None else self.generic_visit(node)


@dataclass(slots=True)
class _Lifter(ast.NodeTransformer):
    """Replaces values by parameters, from left to right; a name that stands for a value is one parameter throughout."""

    data: Mapping[str, ast.expr]
    not_values: frozenset[str]
    arguments: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    inner: set[str] = field(default_factory=set)

    def statement(self, node: ast.stmt) -> ast.stmt:
        """Return a statement with its values lifted."""
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.AugAssign | ast.Delete):
            raise Unfit("a statement of several parts changes what is needed")
        changed: ast.stmt = self.visit(copy.deepcopy(node))
        return ast.fix_missing_locations(changed)

    def value(self, node: ast.expr) -> ast.expr:
        """Return an expression lifted, as a whole if it is a value."""
        return self._parameter(node) if self._is_value(node) else ast.fix_missing_locations(self.visit(node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Go through the fields of a node in their order."""
        for name, child in ast.iter_fields(node):
            if isinstance(child, list):
                setattr(node, name, [self._child(item) for item in child])
            elif isinstance(child, ast.AST):
                setattr(node, name, self._child(child))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A function is no value where it is called; its arguments may be."""
        node.func = node.func if isinstance(node.func, ast.Name) else self._child(node.func)
        node.args = [self._child(argument) for argument in node.args]
        node.keywords = [self._child(keyword) for keyword in node.keywords]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        raise Unfit("a text with the library's values in it cannot be parted")

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._scoped(node, {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)})

    def _scoped(self, node: ast.AST, names: set[str]) -> ast.AST:
        before = set(self.inner)
        self.inner |= names
        changed = self.generic_visit(node)
        self.inner = before
        return changed

    def _comprehension(self, node: ast.AST) -> ast.AST:
        targets = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return self._scoped(node, targets)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def _child(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and self._is_value(node):
            return self._parameter(node)
        return self.visit(node)

    def _is_value(self, node: ast.expr) -> bool:
        if not _is_independent(node) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        names = names_in(node)
        return not names & (self.not_values | self.inner) and not _binds(node)

    def _parameter(self, node: ast.expr) -> ast.Name:
        variable = node.id if isinstance(node, ast.Name) and node.id in self.data else ""
        if variable and variable in self.variables:
            return ast.Name(parameter(self.variables.index(variable)), ast.Load())
        self.arguments.append(plain_source(_Inlined(self.data).visit(copy.deepcopy(node))))
        self.variables.append(variable)
        return ast.Name(parameter(len(self.arguments) - 1), ast.Load())


def _is_independent(node: ast.expr) -> bool:
    """Say whether an expression may stand outside of where it is found: `1:3`, also in `[1:3, 0]`, is an index only."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return not isinstance(node, ast.Starred) and not any(isinstance(part, ast.Slice) for part in parts)


def _binds(node: ast.expr) -> bool:
    return any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in ast.walk(node))
