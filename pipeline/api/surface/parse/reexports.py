"""Imports that a module makes for others to import from it (typing specification, "Library interface")."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from pipeline.api.surface.parse.bound_names import binders, bound_names
from pipeline.api.surface.parse.syntax import described_by


def reassigns_itself(name: str, above: Iterable[ast.stmt]) -> bool:
    """Return whether `name = name` says nothing new: what is imported above is then an import `as name`.

    So langchain_core passes on what it has moved out of a module.
    """
    nodes = [node for statement in above if name in bound_names(statement) for node in binders(statement)]
    for node in nodes:
        if isinstance(node, ast.alias) and node.name == name:
            node.asname = node.asname or name
    return bool(nodes)


def only_imports(tree: ast.Module) -> bool:
    """Return whether all that a module does is to import, and it does not tell which of it is for others.

    There is no other use for it than to be imported from: seaborn.objects, scipy.stats.sampling.
    """
    body = tree.body[1:] if tree.body and described_by(tree.body[0]) else tree.body
    names = [name for s in body if isinstance(s, ast.Import | ast.ImportFrom) for name in s.names]
    marked = any(name.name == name.asname for name in names)
    return bool(names) and not marked and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body)
