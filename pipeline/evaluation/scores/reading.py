"""Syntax of a prediction: validity, calls with their arguments, API expressions. All metrics share one parse."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pipeline.evaluation.scores.fragments import parse_fragment

REMEMBERED = 512
"""Parsed texts in memory: the samples of a task share a reference, and several metrics read a sample."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call: dotted name, line and column, number of arguments, and keywords among them."""

    dotted: str
    place: tuple[int, int]
    arguments: int
    keywords: frozenset[str]

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.dotted.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed fragment of code; all fields are empty unless it is `valid`.

    `calls` are in order of place. `expressions` are dotted names that are called or are attributes, with repetitions;
    `decorators` those that are not called; `bound` are names that imports bind, with their targets.
    """

    valid: bool
    has_with: bool = False
    calls: tuple[Call, ...] = ()
    expressions: tuple[str, ...] = ()
    decorators: tuple[tuple[tuple[int, int], str], ...] = ()
    bound: tuple[tuple[str, str], ...] = ()


_BROKEN = Reading(valid=False)
# Values in a syntax tree that hold no further nodes.
_LEAVES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, type(...), ast.Load, ast.Store, ast.Del, ast.Name}
)


@functools.lru_cache(REMEMBERED)
def read(code: str) -> Reading:
    """Read statements at any indentation, or the header of a compound statement without its body."""
    tree = parse_fragment(code)
    return _BROKEN if tree is None else _Reader().read(tree)


class _Reader:
    """One walk over a syntax tree, with its results."""

    def __init__(self) -> None:
        self.waiting: list[ast.AST] = []
        self.calls: list[Call] = []
        self.expressions: list[str] = []
        self.decorators: list[tuple[tuple[int, int], str]] = []
        self.bound: list[tuple[str, str]] = []
        self.has_with = False

    def read(self, tree: ast.Module) -> Reading:
        """Walk over the tree; no recursion, since the depth of predictions has no limit."""
        special, waiting = self._special, self.waiting
        waiting.append(tree)
        for node in waiting:
            look = special.get(type(node))
            if look is None or look(self, node):
                for value in vars(node).values():
                    if type(value) is list:
                        waiting += [item for item in value if type(item) not in _LEAVES]
                    elif type(value) not in _LEAVES:
                        waiting.append(value)
        self.calls.sort(key=lambda call: call.place)
        return Reading(
            True, self.has_with, tuple(self.calls), tuple(self.expressions), tuple(self.decorators), tuple(self.bound)
        )

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if type(function) is ast.Name:
            self.expressions.append(function.id)
        elif type(function) is ast.Attribute:
            self._attribute(function)
        else:
            self.waiting.append(function)
        if type(function) is ast.Name or type(function) is ast.Attribute:
            keywords = frozenset([keyword.arg for keyword in node.keywords if keyword.arg])
            place, count = (node.lineno, node.col_offset), len(node.args) + len(node.keywords)
            self.calls.append(Call(self.expressions[-1], place, count, keywords))
        self.waiting += node.args
        self.waiting += [keyword.value for keyword in node.keywords]

    def _attribute(self, node: ast.Attribute) -> None:
        """Record `a.b.c`; of `f(x).g` and `x[0].g` only `.g`."""
        names, owner = [node.attr], node.value
        while type(owner) is ast.Attribute:
            names.append(owner.attr)
            owner = owner.value
        if type(owner) is ast.Name:
            names.append(owner.id)
        else:
            names.append("")
            self.waiting.append(owner)
        names.reverse()
        self.expressions.append(".".join(names))

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        self.has_with = True
        return True

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        for decorator in node.decorator_list:
            dotted = _dotted(decorator)
            if dotted:
                self.decorators.append(((decorator.lineno, decorator.col_offset), dotted))
        return True

    def _import(self, node: ast.Import) -> None:
        self.bound += [(alias.asname, alias.name) for alias in node.names if alias.asname]

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = f"{'.' * node.level}{node.module or ''}."
        self.bound += [(alias.asname or alias.name, module + alias.name) for alias in node.names]

    # Handlers by kind of node; a true result lets the walk visit its children too.
    _special: ClassVar[dict[type[ast.AST], Callable[..., bool | None]]] = {
        ast.Call: _call,
        ast.Attribute: _attribute,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.FunctionDef: _definition,
        ast.AsyncFunctionDef: _definition,
        ast.ClassDef: _definition,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
    }


def _dotted(node: ast.expr) -> str | None:
    names: list[str] = []
    while type(node) is ast.Attribute:
        names.append(node.attr)
        node = node.value
    names.append(node.id if type(node) is ast.Name else "")
    return ".".join(reversed(names)) if names[0] else None
