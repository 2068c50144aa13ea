"""Which names an answer to a migration has to use.

Outputs alone accept code that needs no knowledge of a release: a literal, the standard library, an argument whose name
changed given by position, an older API that both releases have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.corpus.usages.text import parse_program


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
        return tuple(
            sorted((self.apis - _apis(tree) - (self.imports & _imports(tree))) | (self.parameters - _parameters(tree)))
        )


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
    used, had = _apis(new), _apis(old) | _imports(old)
    own = {root, name} | (set(parts) - had if name in had else set())
    imports = own & _imports(new) - used
    added, gone = _parameters(new) - _parameters(old), _parameters(old) - _parameters(new)
    return RequiredNames(frozenset(own & used | imports), frozenset(added if gone else ()), frozenset(imports))


def _apis(tree: ast.Module) -> set[str]:
    """Return the names by which a program may use an API: looked up, bound by a star import, or imported and read."""
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    looked_up = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imported = {name for by, name in _imported(nodes) if by in read or by == "*"}
    return (read - bound) | looked_up | imported


def _imports(tree: ast.Module) -> set[str]:
    return {name for _, name in _imported(ast.walk(tree))}


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names of modules and APIs that are imported, with what they are bound to."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                by = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                modules = f"{getattr(node, 'module', None) or ''}.{alias.name}".split(".")
                yield from ((by, name) for name in modules if name not in ("", "*"))


def _parameters(tree: ast.Module) -> set[str]:
    """Return the names by which a program gives arguments, in a call, or in a dictionary where a call unpacks one."""
    nodes = list(ast.walk(tree))
    names = {keyword.arg for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords}
    parameters = {name for name in names if name is not None}
    if None in names:
        keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
        parameters |= {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return parameters
