"""Whether two examples are a migration: the same task, written otherwise because an API changed."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import OF_TYPES, RELOCATED, WITH_MEMBERS
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.history import History
from pipeline.lake.rows import ChangeRow, SnippetRow, UsageRow


class ChangedApis:
    """The APIs of a library that the catalogue says changed, by release."""

    def __init__(self, changes: Iterable[ChangeRow], history: History) -> None:
        self._history = history
        self._changes = [change for change in changes if change["kind"] not in OF_TYPES]

    def between(self, old: str, new: str) -> _Apis:
        """Return what changed after the release `old`, up to and with the release `new`."""
        rank = self._history.rank
        paths: set[str] = set()
        parents: set[str] = set()
        for change in self._changes:
            if rank(old) < rank(change["new_version"]) <= rank(new):
                named = {change["path"], change["canonical_path"]}
                named |= {str(change["new"])} if change["kind"] in RELOCATED else set()
                (parents if change["kind"] in WITH_MEMBERS else paths).update(named)
        return _Apis(self._history, old, new, paths, parents)


class _Apis:
    """The APIs that changed between two releases: paths, and those whose members changed with them."""

    def __init__(self, history: History, old: str, new: str, paths: Collection[str], parents: Collection[str]) -> None:
        self._history, self._versions = history, (old, new)
        self._paths, self._parents = paths, parents

    def has(self, path: str) -> bool:
        """Return whether a path changed, under any of its names."""
        states = (self._history.definition(path, version) for version in self._versions)
        for name in (path, *(state["canonical_path"] for state in states if state)):
            parts = itertools.accumulate(name.split("."), "{}.{}".format)
            if name in self._paths or any(part in self._parents for part in parts):
                return True
        return False


def objection(
    old: SnippetRow, new: SnippetRow, usages: Mapping[str, Sequence[UsageRow]], changed: _Apis, cores: Collection[str]
) -> tuple[RejectReason, str] | None:
    """Return why two examples are no migration, or None.

    A migration states equal outputs in equal order, at least one. Its programs differ in more than layout, the names
    of variables and the order of statements. Each differing statement, imports aside, uses an API that changed
    between the releases, or one of `cores`, which a change connects.
    """
    outputs = [_outputs(row) for row in (old, new)]
    if outputs[0] != outputs[1]:
        return RejectReason.OTHER_OUTPUT, "the examples state different outputs"
    if not outputs[0]:
        return RejectReason.NO_CHECK, "no stated output shows that the new code does the same"
    statements = [_statements(source_of(row)) for row in (old, new)]
    differing = [
        [node for form, node in statements[here] if form not in {form for form, _ in statements[1 - here]}]
        for here in (0, 1)
    ]
    if not any(differing):
        return RejectReason.SAME_CODE, "the programs differ in layout, names of variables or order only"
    touched = False
    for row, nodes in zip((old, new), differing, strict=True):
        for node in nodes:
            used = _paths_in(node, usages.get(row["id"], ()))
            touches = any(path in cores or changed.has(path) for path in used)
            touched |= touches
            if not touches and not isinstance(node, ast.Import | ast.ImportFrom):
                line = ast.unparse(node).partition("\n")[0]
                return RejectReason.UNCHANGED, f"no API that changed is used in: {line}"
    if not touched:
        return RejectReason.UNCHANGED, "only imports differ, of APIs that did not change"
    return None


def _outputs(snippet: SnippetRow) -> list[str]:
    return [check["expected"].strip() for check in snippet["checks"] if check["expected"] is not None]


def _paths_in(node: ast.stmt, usages: Iterable[UsageRow]) -> Iterator[str]:
    """Yield the public paths that a statement uses, or imports under their own path."""
    last = node.end_lineno or node.lineno
    yield from (row["path"] for row in usages if node.lineno <= row["line"] <= last)
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def _statements(code: str) -> list[tuple[str, ast.stmt]]:
    """Return the statements of a program, each with its form without the names of variables."""
    tree = parse_python(code)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, definitions)}
    return [(ast.dump(_Renaming(bound).visit(parse_python(ast.unparse(node)))), node) for node in tree.body]


class _Renaming(ast.NodeTransformer):
    """Numbers the names that a program binds in the order in which a statement has them."""

    def __init__(self, bound: Collection[str]) -> None:
        self._bound = bound
        self._numbers: dict[str, str] = {}

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("id", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name in self._bound and not isinstance(node, ast.alias | ast.keyword):
                setattr(node, field, self._numbers.setdefault(name, f"v{len(self._numbers)}"))
        return super().generic_visit(node)
