"""Code of a project as a program that runs without the rest of it: what is not installed is mocked."""

from __future__ import annotations

import ast
import itertools
import json
import sys
from collections.abc import Collection, Iterator

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.samples import Codemod
from pipeline.corpus.usages.text import source_of
from pipeline.lake.ids import content_id
from pipeline.lake.rows import RewriteRow, SnippetRow

_FUTURE = "from __future__ import annotations\n"

_HEAD = """\
import sys
from importlib.util import find_spec
from unittest.mock import MagicMock

# Other packages that are not installed are mocked.
{package}sys.modules.update(
    {{
        name: MagicMock()
        for name in ({names},)
        if find_spec(name.partition(".")[0]) is None
    }}
)
"""


def with_mocks(snippet: SnippetRow, version: str, roots: Collection[str]) -> RewriteRow:
    """Return a piece of a project as a program for a release in which other packages that are not installed are mocked.

    Every name can be imported from a `MagicMock` and used in any way (as with Sphinx's `autodoc_mock_imports`, which
    imports modules without what they need). `roots` are the top-level names of the library, which is never mocked. A
    relative import is one from the package in whose file the piece is. Annotations are not evaluated, as in the file
    they may not be.
    """
    tree = parse_python(source_of(snippet))
    folder = snippet["file"].removeprefix("src/").split("/")[:-1]
    modules = {name for module in _imported_modules(tree, folder) for name in _with_parents(module)}
    needed = sorted(name for name in modules if name.partition(".")[0] not in (*roots, *sys.stdlib_module_names))
    is_relative = any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
    package = f"__package__ = {json.dumps('.'.join(folder))}\n" if is_relative else ""
    head = _HEAD.format(package=package, names=", ".join(map(json.dumps, needed))) if needed else ""
    # A preamble that ends in the head of a class is no program of its own.
    source = source_of(snippet)
    if _has_annotations(tree) and not source.startswith(_FUTURE):
        source = _FUTURE + source
    code = _behind_future_imports(source, head)
    return {
        "id": content_id("rewrite", snippet["library"], version, code),
        "library": snippet["library"],
        "version": version,
        "snippet_id": snippet["id"],
        "snippet_version": snippet["version"],
        "changes": [],
        "preamble": "",
        "code": code,
        "checks": [],
        "edits": [
            {"codemod": Codemod.MOCK, "line": 1, "path": name, "parameter": None, "old": None, "new": name}
            for name in needed
        ],
    }


def _imported_modules(tree: ast.Module, folder: list[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = folder[: max(0, len(folder) - node.level + 1)] if node.level else []
            yield from filter(None, [".".join([*package, *([node.module] if node.module else [])])])


def _with_parents(module: str) -> Iterator[str]:
    return itertools.accumulate(module.split("."), "{}.{}".format)


def _behind_future_imports(code: str, head: str) -> str:
    """Return a program with lines put in where others than imports from `__future__` begin."""
    lines = code.splitlines(keepends=True)
    count = next((number for number, line in enumerate(lines) if not line.startswith("from __future__ ")), len(lines))
    return "".join([*lines[:count], head, *lines[count:]])


def _has_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.AnnAssign)
        or getattr(node, "annotation", None) is not None
        or getattr(node, "returns", None) is not None
        for node in ast.walk(tree)
    )
