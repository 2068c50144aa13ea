"""The first lines of the definition of a public path, read from the sources of its release."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

from pipeline.api.surface.parse.sources import module_name
from pipeline.core.syntax_trees import parse_python
from pipeline.index.tree import SourceTree
from pipeline.lake.rows import SymbolRow

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

Sources = Callable[[str], SourceTree]
"""Gives the sources of a release by its version."""

Contents = Callable[[list[str]], dict[str, bytes]]
"""Gives the bytes of source files by their sha256."""


def body_head(state: SymbolRow, tree: SourceTree, contents: Contents, lines: int) -> str:
    """Return the first lines of a definition without its docstring; empty where the sources do not show it."""
    path = str(state["file"]).removeprefix(tree.root)
    sha256 = tree.files.get(path)
    if sha256 is None or not lines:
        return ""
    text = contents([sha256])[sha256].decode("utf-8", "replace")
    names = state["canonical_path"].removeprefix(f"{module_name(path)}.").split(".")
    node = _definition(text, names)
    if node is None:
        return ""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if not body:
        return ""
    return "\n".join(text.splitlines()[body[0].lineno - 1 : node.end_lineno][:lines])


def _definition(text: str, names: list[str]) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """Return the last definition that bears names, each inside the one before."""
    try:
        with warnings.catch_warnings(action="ignore"):
            body = parse_python(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    function = None
    for name in names:
        named = [node for node in body if isinstance(node, _DEFINITIONS) and node.name == name]
        if not named:
            return None
        function = named[-1]
        body = function.body
    return function
