"""Migrations that others made: functions of dependents before and after their uses of the library changed."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import OF_TYPES, WITH_MEMBERS, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import MigrationBasis
from pipeline.corpus.snippets.dependent_changes import ApiUse, Uses, changed_functions
from pipeline.corpus.snippets.names import free_names
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.mocks import with_mocks
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.pairs import Pair, Side, core_paths, imported_elsewhere, similarity
from pipeline.families.completions_and_migrations.rules import MigrationRules
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, SnippetRow, UsageRow
from pipeline.lake.stage import Reject


def changed_dependents(
    snippets: Iterable[SnippetRow],
    usages: Mapping[str, Sequence[UsageRow]],
    changes: Iterable[ChangeRow],
    history: History,
    rules: MigrationRules,
) -> Iterator[Pair | Reject]:
    """Yield the pair, or a reject, of each function of a dependent whose uses of the library differ between releases.

    A change of what the old form alone uses is behind it, and each line that differs has to do with what is used
    otherwise. One that takes either API, whichever there is, is no answer for one release. Nobody moves downwards.
    Authors often move before an API breaks: then the new form is that of the release in which it does.
    Whether the old form fails there is for runs to say: of programs in which other packages are mocked.
    """
    roots = {name for release in history.releases.values() for name in release["import_names"]}
    of_code = [row for row in changes if row["kind"] not in (*OF_TYPES, ChangeKind.BEHAVIOUR)]
    of_code.sort(key=lambda row: (not row["breaking"], history.rank(row["new_version"]), row["id"]))

    def uses_of(row: SnippetRow) -> Uses:
        return frozenset(ApiUse(use["path"], tuple(use["keywords"])) for use in usages.get(row["id"], ()))

    def pair(forms: tuple[SnippetRow, SnippetRow]) -> Pair | Reject:
        old, new = forms
        key, before, after = f"{old['id']} {new['id']}", uses_of(old), uses_of(new)
        gone, arrived = before - after, after - before
        behind = [(row, paths) for row in of_code if (paths := _paths_of(row, gone, forms, history))]
        if not behind:
            detail = f"what it uses no more did not change from {old['version']} to {new['version']}, nor broke later"
            return Reject(key, RejectReason.UNCHANGED, detail)
        change, changed = behind[0]
        cores = core_paths("", changed, frozenset(use.path for use in arrived))
        versions = old["version"], max(new["version"], change["new_version"], key=history.rank)
        if cores is None:
            return Reject(key, RejectReason.NO_PARTNER, f"nothing of the library takes the place of {min(changed)}")
        if lost := sorted(use.path for use in after if history.definition(use.path, versions[1]) is None):
            return Reject(key, RejectReason.NO_PARTNER, f"{versions[1]} has no {lost[0]}, which the new form uses")
        alike = similarity(source_of(old), source_of(new))
        if alike < rules.min_similarity:
            return Reject(key, RejectReason.NO_PARTNER, f"the forms are alike by {alike:.2f}")
        imported = [imported_elsewhere(source_of(row), history) for row in forms]
        if others := imported[0] ^ imported[1]:
            return Reject(key, RejectReason.OTHER_CAUSE, f"only one of the two forms uses {', '.join(sorted(others))}")
        if unknown := [name for row in forms for name in free_names(source_of(row))]:
            return Reject(key, RejectReason.BROKEN_EXAMPLE, f"nothing defines {', '.join(unknown)}")
        if line := _unrelated_line(forms, gone, arrived):
            return Reject(key, RejectReason.UNCHANGED, f"no API that is used otherwise is in: {line}")
        programs = [with_mocks(row, version, roots) for row, version in zip(forms, versions, strict=True)]
        sides = (
            Side(old, versions[0], cores[0], programs[0]),
            Side(new, versions[1], cores[1], programs[1]),
        )
        return Pair(*sides, MigrationBasis.DEPENDENT_CHANGED, alike, change["id"], upwards_only=True)

    pairs = changed_functions(snippets, uses_of)
    yield from guarded(pairs, lambda forms: f"{forms[0]['id']} {forms[1]['id']}", lambda forms: [pair(forms)])


def _paths_of(change: ChangeRow, uses: Uses, forms: tuple[SnippetRow, SnippetRow], history: History) -> frozenset[str]:
    """Return the paths of uses that a change is about if it came between two forms, or broke something later."""
    first, last = (history.rank(row["version"]) for row in forms)
    introduced = history.rank(change["new_version"])
    if introduced <= first or (introduced > last and not change["breaking"]):
        return frozenset()
    return frozenset(use.path for use in uses if _concerns(change, use, forms[0]["version"], history))


def _concerns(change: ChangeRow, use: ApiUse, version: str, history: History) -> bool:
    state = history.definition(use.path, version)
    names = {use.path, *([state["canonical_path"]] if state else [])}
    if change["kind"] in WITH_MEMBERS:
        names = {part for name in names for part in itertools.accumulate(name.split("."), "{}.{}".format)}
    is_passed = not {change["parameter"], change["new"]}.isdisjoint(use.keywords)
    return not names.isdisjoint((change["path"], change["canonical_path"])) and (
        change["parameter"] is None or is_passed
    )


def _unrelated_line(forms: tuple[SnippetRow, SnippetRow], gone: Uses, arrived: Uses) -> str | None:
    """Return the first line in which two forms differ that names nothing of what is used or imported otherwise.

    Of a call that both have, with other arguments, the arguments count that only one of them gives.
    """
    trees = [parse_python(source_of(row)) for row in forms]
    bound = [set(_imported(tree)) for tree in trees]
    names = {name for name, _ in bound[0] ^ bound[1]}
    keywords = [{(use.path, keyword) for use in uses for keyword in use.keywords} for uses in (gone, arrived)]
    if {use.path for use in gone} == {use.path for use in arrived}:
        names |= {keyword for _, keyword in keywords[0] ^ keywords[1]}
    names |= {use.path.rpartition(".")[2] for use in (*gone, *arrived)}
    old, new = (ast.unparse(tree).splitlines() for tree in trees)
    for kind, old_first, old_last, new_first, new_last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        differing = [*old[old_first:old_last], *new[new_first:new_last]] if kind != "equal" else []
        for line in filter(str.strip, differing):
            is_import = line.split()[0] in ("import", "from")
            if not is_import and names.isdisjoint(re.findall(r"\w+", line)):
                return line.strip()
    return None


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a program imports, each with where from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{getattr(node, 'module', None) or ''}.{alias.name}"
