"""Which names an answer to a migration has to use.

Outputs alone accept code that needs no knowledge of a release: a literal, the standard library, an argument whose name
changed given by position, an older API that both releases have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.corpus.usages.text import parse_program


@dataclass(frozen=True, slots=True)
class RequiredNames:
    """Names of APIs, and of parameters given by name."""

    apis: frozenset[str]
    parameters: frozenset[str]

    def missing_from(self, answer: str) -> tuple[str, ...]:
        """Return the names that a program does not use, sorted; of one that does not parse, those it does not have."""
        tree = parse_program(answer)
        if tree is None:
            return tuple(sorted((self.apis | self.parameters) - set(re.findall(r"\w+", answer))))
        return tuple(sorted((self.apis - _apis(tree)) | (self.parameters - _parameters(tree))))


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
    used, had = _apis(new), _apis(old)
    own = {root, name} | (set(parts) - had if name in had else set())
    added, gone = _parameters(new) - _parameters(old), _parameters(old) - _parameters(new)
    return RequiredNames(frozenset(own & used), frozenset(added if gone else ()))


def _apis(tree: ast.Module) -> set[str]:
    """Return the names by which a program may use an API: imported, looked up, or bound by a star import."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, definitions)}
    return {
        name for node in ast.walk(tree) for name in _names(node) if name not in bound or not isinstance(node, ast.Name)
    }


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=name):
            yield name
        case ast.Name(id=name, ctx=ast.Load()):
            yield name
        case ast.Import(names=names):
            for alias in names:
                yield from alias.name.split(".")
        case ast.ImportFrom(module=module, names=names):
            yield from (module or "").split(".")
            yield from (alias.name for alias in names)


def _parameters(tree: ast.Module) -> set[str]:
    """Return the names by which a program gives arguments, in a call, or in a dictionary where a call unpacks one."""
    nodes = list(ast.walk(tree))
    names = {keyword.arg for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords}
    parameters = {name for name in names if name is not None}
    if None in names:
        keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
        parameters |= {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return parameters
