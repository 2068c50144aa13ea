"""The same function of a dependent in releases for different releases of the library: where its uses differ."""

from __future__ import annotations

import ast
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from packaging.version import Version

from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.usages.text import parse_program, source_of
from pipeline.lake.rows import SnippetRow


class ApiUse(NamedTuple):
    """What a piece of code uses of the library: a public path, and the arguments that it gives by name."""

    path: str
    keywords: tuple[str, ...]


Uses = frozenset[ApiUse]

_PARTS = frozenset({"register", "setter", "getter", "deleter", "overload"})
"""Decorators of definitions that share a name."""


def changed_functions(
    snippets: Iterable[SnippetRow], uses_of: Callable[[SnippetRow], Uses]
) -> Iterator[tuple[SnippetRow, SnippetRow]]:
    """Yield, old and new, the forms of functions of dependents whose uses of the library differ.

    Of several releases of a dependent that are for one release of the library the last counts. What a release has twice
    is left out: nobody knows which of the two became which.
    """
    by_name: dict[tuple[str, ...], list[SnippetRow]] = defaultdict(list)
    for row in sorted(snippets, key=lambda row: row["id"]):
        if row["source"] == SnippetSource.DOWNSTREAM and (name := _qualified_name(row)):
            by_name[row["origin"], row["file"].removeprefix("src/"), *name].append(row)
    for forms in by_name.values():
        counts = Counter(row["place"] for row in forms)
        single = sorted((row for row in forms if counts[row["place"]] == 1), key=lambda row: row["created_time"])
        last = {Version(row["version"]): row for row in single}
        for old, new in itertools.pairwise(last[version] for version in sorted(last)):
            if uses_of(old) != uses_of(new):
                yield old, new


def _qualified_name(snippet: SnippetRow) -> tuple[str, ...] | None:
    """Return the name of what a piece defines, with those of the classes around it; None where it defines nothing."""
    tree, names = parse_program(source_of(snippet)), list[str]()
    body = tree.body if tree else []
    while body and isinstance(body[-1], ast.ClassDef):
        names.append(body[-1].name)
        body = body[-1].body
    last = body[-1] if body else None
    if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef):
        nodes = [node for decorator in last.decorator_list for node in ast.walk(decorator)]
        decorators = {getattr(node, "attr", getattr(node, "id", None)) for node in nodes}
        return None if decorators & _PARTS or last.name == "_" else (*names, last.name)
    # Of attributes of a class the last one tells them from others of the class.
    targets = last.targets if isinstance(last, ast.Assign) else [last.target] if isinstance(last, ast.AnnAssign) else []
    if names and targets and isinstance(targets[0], ast.Name):
        names.append(targets[0].id)
    return tuple(names) or None
