"""What the names of a project's modules lead to: definitions of the project, through its own imports."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_HOPS = 20


@dataclass(frozen=True)
class Module:
    """A module of a project: what it defines itself, and what it imports, as (module, name or None)."""

    name: str
    defines: frozenset[str]
    imports: Mapping[str, tuple[str, str | None]]
    stars: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bindings:
    """The modules of a project by name."""

    modules: Mapping[str, Module] = field(default_factory=dict)

    @cached_property
    def packages(self) -> frozenset[str]:
        """Every dotted name that leads to a module, or to a package above one."""
        parts = [name.split(".") for name in self.modules]
        return frozenset(".".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1))

    def resolve(self, module: str, dotted: str) -> str | None:
        """Return the namespace of the definition that a chain of names in a module leads to; None if it is foreign.

        `util.helper` after `from pkg import util` leads to `pkg.util.helper`. A module by itself is no definition.
        """
        head, *rest = dotted.split(".")
        here = self.modules.get(module)
        for _ in range(_HOPS):
            if here is None:
                return None
            if head in here.defines:
                return f"{here.name}.{head}"
            if head not in here.imports:
                return self._through_star(here, head)
            source, name = here.imports[head]
            if name is not None and f"{source}.{name}" not in self.modules:
                here, head = self.modules.get(source), name
                continue
            target = source if name is None else f"{source}.{name}"
            while rest and f"{target}.{rest[0]}" in self.packages:
                target = f"{target}.{rest.pop(0)}"
            if not rest:
                return None
            here, head, rest = self.modules.get(target), rest[0], rest[1:]
        return None

    def _through_star(self, here: Module, name: str) -> str | None:
        for source in here.stars:
            bound = self.modules.get(source)
            if bound is not None and name in bound.defines and not name.startswith("_"):
                return f"{source}.{name}"
        return None


def read_module(name: str, is_package: bool, tree: ast.Module) -> Module:
    """Read what a module binds at its top level, also under conditions."""
    defines: set[str] = set()
    imports: dict[str, tuple[str, str | None]] = {}
    stars: list[str] = []
    package = name if is_package else name.rpartition(".")[0]
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defines.add(node.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0],
                    None,
                )
        elif isinstance(node, ast.ImportFrom):
            source = _source(node, package)
            for alias in node.names:
                if alias.name == "*":
                    stars.append(source)
                else:
                    imports[alias.asname or alias.name] = (source, alias.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = (part for target in targets for part in ast.walk(target))
            defines |= {part.id for part in bound if isinstance(part, ast.Name)}
    return Module(name, frozenset(defines - imports.keys()), imports, tuple(stars))


def imports_within(node: ast.AST, module: str, is_package: bool) -> Module:
    """Return what a function imports itself, as a module of its own."""
    inside = ast.Module([part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)], [])
    read = read_module(module, is_package, inside)
    return Module(module, frozenset(), read.imports, read.stars)


def _statements(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements of a module, those under conditions and in blocks too, but not of functions and classes."""
    bound: list[ast.stmt] = []
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.stmt):
            bound.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]
    return bound


def _source(node: ast.ImportFrom, package: str) -> str:
    """Return the module that an import names; a dot more is a package further up."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)
