"""Migrations that others made: functions of dependents before and after their uses of the library changed."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import OF_TYPES, WITH_MEMBERS
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import MigrationBasis
from pipeline.corpus.snippets.dependent_changes import ApiUse, Uses, changed_functions
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.mocks import with_mocks
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.pairs import Pair, Side, core_paths, similarity
from pipeline.families.completions_and_migrations.rules import MigrationRules
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, SnippetRow, UsageRow
from pipeline.lake.stage import Reject

_OF_IMPORTS = re.compile(r"(import|from) |try:$|except (ImportError|ModuleNotFoundError)\b")
"""What a line of imports begins with, also where another import takes the place of one that fails."""


def changed_dependents(
    snippets: Iterable[SnippetRow],
    usages: Mapping[str, Sequence[UsageRow]],
    changes: Iterable[ChangeRow],
    history: History,
    rules: MigrationRules,
) -> Iterator[Pair | Reject]:
    """Yield the pair, or a reject, of each function of a dependent whose uses of the library differ between releases.

    A change of the library is behind it, and each line that differs has to do with what is used or imported otherwise.
    Authors often move before an API breaks: then the new form is that of the release in which it does. Whether the old
    form fails there is for runs to say: of programs in
    which other packages are mocked.
    """
    roots = {name for release in history.releases.values() for name in release["import_names"]}
    of_code = [row for row in changes if row["kind"] not in OF_TYPES]
    of_code.sort(key=lambda row: (not row["breaking"], history.rank(row["new_version"]), row["id"]))

    def uses_of(row: SnippetRow) -> Uses:
        return frozenset(ApiUse(use["path"], tuple(use["keywords"])) for use in usages.get(row["id"], ()))

    def pair(forms: tuple[SnippetRow, SnippetRow]) -> Iterator[Pair | Reject]:
        old, new = forms
        key, before, after = f"{old['id']} {new['id']}", uses_of(old), uses_of(new)
        gone, arrived = before - after, after - before
        change = next((row for row in of_code if _is_behind(row, gone | arrived, forms, history)), None)
        if change is None:
            detail = f"what it uses otherwise did not change from {old['version']} to {new['version']}, nor broke later"
            yield Reject(key, RejectReason.UNCHANGED, detail)
        elif (cores := core_paths("", _paths(gone or before), _paths(arrived))) is None:
            used = ", ".join(sorted(_paths(gone)))
            yield Reject(key, RejectReason.NO_PARTNER, f"nothing of the library takes the place of {used}")
        elif (alike := similarity(source_of(old), source_of(new))) < rules.min_similarity:
            yield Reject(key, RejectReason.NO_PARTNER, f"the forms are alike by {alike:.2f}")
        elif line := _unrelated_line(forms, gone | arrived):
            yield Reject(key, RejectReason.UNCHANGED, f"no API that is used otherwise stands in: {line}")
        else:
            versions = old["version"], max(new["version"], change["new_version"], key=history.rank)
            sides = [
                Side(row, version, path, with_mocks(row, version, path, change["id"], roots))
                for row, version, path in zip(forms, versions, cores, strict=True)
            ]
            yield Pair(sides[0], sides[1], MigrationBasis.DEPENDENT_CHANGED, alike, change["id"])

    pairs = changed_functions(snippets, uses_of)
    yield from guarded(pairs, lambda forms: f"{forms[0]['id']} {forms[1]['id']}", pair)


def _paths(uses: Uses) -> frozenset[str]:
    return frozenset(use.path for use in uses)


def _is_behind(change: ChangeRow, uses: Uses, forms: tuple[SnippetRow, SnippetRow], history: History) -> bool:
    """Say whether a change came between two forms, or broke something later, and is about one of these uses."""
    first, last = (history.rank(row["version"]) for row in forms)
    introduced = history.rank(change["new_version"])
    if introduced <= first or (introduced > last and not change["breaking"]):
        return False
    changed = {change["path"], change["canonical_path"]}
    for use in uses:
        states = (history.definition(use.path, row["version"]) for row in forms)
        names = {use.path, *(state["canonical_path"] for state in states if state)}
        if change["kind"] in WITH_MEMBERS:
            names = {part for name in names for part in itertools.accumulate(name.split("."), "{}.{}".format)}
        if names & changed and (
            change["parameter"] is None or {change["parameter"], change["new"]} & set(use.keywords)
        ):
            return True
    return False


def _unrelated_line(forms: tuple[SnippetRow, SnippetRow], uses: Uses) -> str | None:
    """Return the first line in which two forms differ that names nothing of what is used or imported otherwise."""
    trees = [parse_python(source_of(row)) for row in forms]
    imported = [set(_imported(tree)) for tree in trees]
    names = {name for name, _ in imported[0] ^ imported[1]}
    names |= {part for use in uses for part in (use.path.rpartition(".")[2], *use.keywords)}
    old, new = (ast.unparse(tree).splitlines() for tree in trees)
    for kind, old_first, old_last, new_first, new_last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        differing = [*old[old_first:old_last], *new[new_first:new_last]] if kind != "equal" else []
        for line in filter(str.strip, differing):
            if not _OF_IMPORTS.match(line.strip()) and names.isdisjoint(re.findall(r"\w+", line)):
                return line.strip()
    return None


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a program imports, each with where from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{getattr(node, 'module', None) or ''}.{alias.name}"
