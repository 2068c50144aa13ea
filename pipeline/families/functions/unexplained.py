"""What nobody can know of the hidden part of a function: inputs and steps beside its core API that no text names."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from pipeline.families.completions_and_migrations.source import Source, Span

_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")


def unexplained(source: Source, cut: Span, use: Span, path: str, visible: str, description: str) -> list[str]:
    """Return the parameters, steps and fixtures within `cut` that nothing explains, as source.

    A parameter is explained where the description has its name as code, or where it goes to the use of the core API
    `path`, whose result may be called with it. On its way it may be the only argument of calls. What becomes of the
    result has to be visible or in the description, but for a conversion to a built-in type. So has a call without any
    input.
    """
    core = next((node for node in ast.walk(source.tree) if _is_use(source, node, use)), None)
    if core is None:
        return []
    words = {word.casefold() for word in _WORD.findall(f"{visible}\n{description}")}
    hidden = _Hidden(source, cut, frozenset(words | {part.casefold() for part in path.split(".")}))
    hidden.follow(core)
    arguments = hidden.parameters_around(core)
    loads = [node for node in hidden.names if node.id in arguments]
    reached = {node.id for node in loads if hidden.reaches_core(node)}
    described = {name for name in arguments if f"`{name}`" in description}
    inputs = [name for name in dict.fromkeys(node.id for node in loads) if name not in reached | described]
    return [*(f"what {name} is" for name in inputs), *dict.fromkeys([*hidden.steps, *hidden.fixtures(arguments)])]


def _is_use(source: Source, node: ast.AST, use: Span) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and source.end_of(node) == use[1]


@dataclass(slots=True)
class _Hidden:
    """The nodes of a program within a span; `core` are the uses of the core API and what is made of it."""

    source: Source
    cut: Span
    words: frozenset[str]
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    core: set[ast.AST] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in ast.walk(self.source.tree):
            self.parents |= dict.fromkeys(ast.iter_child_nodes(node), node)

    @property
    def nodes(self) -> Iterator[ast.expr | ast.stmt]:
        """The expressions and statements within the span."""
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.expr | ast.stmt):
                start, end = self.source.start_of(node), self.source.end_of(node)
                if self.cut[0] <= start and end <= self.cut[1]:
                    yield node

    @property
    def names(self) -> list[ast.Name]:
        """The names that are read within the span, in the order of the program."""
        names = [node for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        return sorted(names, key=self.source.start_of)

    def parameters_around(self, node: ast.AST) -> frozenset[str]:
        """Return the parameters of the functions around a node, without the object of a method."""
        names: set[str] = set()
        while node := self.parents.get(node):  # type: ignore[assignment]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = node.args
                names |= {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        return frozenset(names - {"self", "cls"})

    def follow(self, node: ast.AST) -> None:
        """Collect what is made of the core API, and the steps of it that nothing mentions."""
        while node not in self.core:
            self.core.add(node)
            parent = self.parents[node]
            match parent:
                case ast.Assign(targets=[ast.Name(id=name)]):
                    for load in self.names:
                        if load.id == name:
                            self.follow(load)
                    return
                case ast.stmt():
                    return
                case ast.comprehension(target=ast.Name(id=name), ifs=[]):
                    parent = self.parents[parent]
                    is_same = getattr(getattr(parent, "elt", None), "id", None) == name
                case ast.Call(func=called):
                    is_same = called is node or self._is_mentioned(called) or _is_type(called)
                case _:
                    is_same = self._is_mentioned(parent)
            if not is_same:
                self.steps.append(ast.unparse(parent))
                return
            node = parent

    def reaches_core(self, node: ast.AST) -> bool:
        """Whether a value goes to the core API, on its way as the only argument of calls."""
        while not isinstance(parent := self.parents[node], ast.stmt):
            if parent in self.core and not (isinstance(parent, ast.Call) and _is_type(parent.func)):
                return True
            if isinstance(parent, ast.Call) and node is not parent.func:
                is_only = len(parent.args) + len(parent.keywords) == 1
                if not is_only and not self._is_mentioned(parent.func):
                    return False
            node = parent
        match parent:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return any(self.reaches_core(load) for load in self.names if load.id == name)
        return False

    def fixtures(self, arguments: Collection[str]) -> Iterator[str]:
        """Yield the calls that nothing goes into and nothing mentions."""
        stored = {node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        variables = stored.union(arguments)
        for node in self.nodes:
            if isinstance(node, ast.Call) and node not in self.core and not self._is_mentioned(node.func):
                read = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                if not read & variables and not read & set(dir(builtins)):
                    yield ast.unparse(node)

    def _is_mentioned(self, node: ast.AST) -> bool:
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        return isinstance(name, str) and name.casefold() in self.words


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and isinstance(getattr(builtins, node.id, None), type)
