"""Which names an answer to a migration has to use.

Outputs alone accept code that needs no knowledge of a release: a literal, the standard library, an argument whose name
changed given by position, an older API that both releases have.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.corpus.usages.text import parse_program
from pipeline.families.completions_and_migrations.certain_nodes import certain_nodes


@dataclass(frozen=True, slots=True)
class RequiredNames:
    """Names of APIs, and of parameters given by name.

    Those in `imports` need only to be imported: the target code does no more with them.
    """

    apis: frozenset[str]
    parameters: frozenset[str]
    imports: frozenset[str] = frozenset()

    def missing_from(self, answer: str) -> tuple[str, ...]:
        """Return the names that a program does not use, sorted; of one that does not parse, those it does not have."""
        tree = parse_program(answer)
        if tree is None:
            return tuple(sorted((self.apis | self.parameters) - set(re.findall(r"\w+", answer))))
        return tuple(sorted((self.apis | self.parameters) - self._used(tree, list(ast.walk(tree)))))

    def certain_in(self, statements: Iterable[str], lines: tuple[int, int] | None = None) -> frozenset[str]:
        """Return the names that a program of statements which raise nothing comes to use, whatever its branches do.

        Of its `lines`, the first and the last, only names on these count.
        """
        trees = [parse_program(statement) for statement in statements]
        program = ast.Module([node for tree in trees if tree for node in tree.body], [])
        first, last = lines or (0, sys.maxsize)
        nodes = [node for node in certain_nodes(program) if first <= getattr(node, "lineno", first) <= last]
        return frozenset((self.apis | self.parameters) & self._used(program, nodes))

    def readings(self, answer: str) -> dict[str, list[str]]:
        """Return by identifier the names that an answer uses where it reads it; those of its imports among them.

        Where this Python does not parse it, each name by itself.
        """
        tree = parse_program(answer)
        if tree is None:
            return {name: [name] for name in sorted(self.apis)}
        nodes = list(ast.walk(tree))
        readings = {name: {name} for name in self.apis - _bound(nodes)}
        for by, name in _imported(nodes):
            if name in self.apis and by != "*":
                readings.setdefault(by, set()).add(name)
        return {by: sorted(names) for by, names in sorted(readings.items())}

    def _used(self, tree: ast.Module, nodes: Sequence[ast.AST]) -> set[str]:
        """Return the names that some nodes of a program use, and parameters that they give."""
        return _apis(tree, nodes) | (self.imports & _imports(nodes)) | (self.parameters & _parameters(nodes))


def required_names(source: str, target: str, path: str) -> RequiredNames:
    """Return what an answer must use to do with the API `path` what the target code does with it.

    Required are the library, the name of the API, and the parts of its path that the source code lacks if it has the
    name; and where names of parameters replace others, these.
    """
    old, new = parse_program(source), parse_program(target)
    if old is None or new is None:
        return RequiredNames(frozenset(), frozenset())
    parts = path.split(".")
    root, name = parts[0], parts[-1]
    old_nodes, new_nodes = list(ast.walk(old)), list(ast.walk(new))
    used, had = _apis(new, new_nodes), _apis(old, old_nodes) | _imports(old_nodes)
    own = {root, name} | (set(parts) - had if name in had else set())
    imports = own & _imports(new_nodes) - used
    parameters, old_parameters = _parameters(new_nodes), _parameters(old_nodes)
    added, gone = parameters - old_parameters, old_parameters - parameters
    return RequiredNames(frozenset(own & used | imports), frozenset(added if gone else ()), frozenset(imports))


def new_part(source: str, target: str, path: str) -> str | None:
    """Return the last part of an API's path that the target code uses and the source code has nowhere, if any.

    It tells the target from a copy of the source where both have the API's name: `markupsafe` for `flask.escape`.
    """
    required = required_names(source, target, path).apis
    parts = reversed(path.split("."))
    return next((part for part in parts if part in required and not re.search(rf"\b{part}\b", source)), None)


def _apis(tree: ast.Module, nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names by which nodes of a program may use an API.

    They are looked up, bound by a star import, or imported anywhere in the program and read.
    """
    every = list(ast.walk(tree))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    looked_up = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imported = {name for by, name in _imported(every) if by in read}
    imported |= {name for by, name in _imported(nodes) if by == "*"}
    return (read - _bound(every)) | looked_up | imported


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that a program binds itself, but for imports."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, definitions):
            bound.add(node.name)
    return bound


def _imports(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for _, name in _imported(nodes)}


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names of modules and APIs that are imported, with what they are bound to."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                by = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                modules = f"{getattr(node, 'module', None) or ''}.{alias.name}".split(".")
                yield from ((by, name) for name in modules if name not in ("", "*"))


def _parameters(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names by which nodes give arguments, in a call, or in a dictionary where a call unpacks one."""
    names = {keyword.arg for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords}
    parameters = {name for name in names if name is not None}
    if None in names:
        keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
        parameters |= {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return parameters
