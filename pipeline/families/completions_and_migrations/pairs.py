"""Which two snippets, of two releases, are the same task: the pairs that migration instances are made of."""

from __future__ import annotations

import ast
import difflib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import RELOCATED, REPLACEABLE_APIS
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import MigrationBasis
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.equivalence import ChangedApis, objection
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.replacements import resolve
from pipeline.families.completions_and_migrations.rules import MigrationRules
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, LifecycleRow, RewriteCheck, RewriteRow, SnippetRow, UsageRow, WitnessRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: a snippet, the version it stands for, its core API, and what a codemod made of it, if any."""

    snippet: SnippetRow
    version: str
    path: str
    rewrite: RewriteRow | None = None

    @property
    def code(self) -> str:
        """The whole program."""
        return source_of(self.rewrite or self.snippet)

    @property
    def checks(self) -> Sequence[RewriteCheck]:
        """The statements of the program with what they display."""
        return (self.rewrite or self.snippet)["checks"]

    @property
    def outputs(self) -> int:
        """How many outputs the program states, which it must meet to pass."""
        return sum(check["expected"] is not None for check in self.snippet["checks"])

    @property
    def rewrite_id(self) -> str | None:
        """The id of what a codemod made of the snippet."""
        return self.rewrite["id"] if self.rewrite else None


@dataclass(frozen=True, slots=True)
class Pair:
    """The same task in an old and a new version, what connects the two, and how alike the programs are (0 to 1).

    `change_id` is the change that a run showed; `upwards_only` says that the new program passes in the old version too.
    """

    old: Side
    new: Side
    basis: MigrationBasis
    similarity: float
    change_id: str | None = None
    upwards_only: bool = False


class Corpus:
    """The snippets of a library by the path they document, and the public paths that each of them uses."""

    def __init__(
        self,
        snippets: Iterable[SnippetRow],
        usages: Mapping[str, Sequence[UsageRow]],
        changes: Iterable[ChangeRow],
        history: History,
    ) -> None:
        self.snippets = sorted(snippets, key=lambda row: row["id"])
        self.paths = {key: frozenset(row["path"] for row in rows) for key, rows in usages.items()}
        self.usages = usages
        self.history = history
        self._changed = ChangedApis(changes, history)

    def pair(self, key: str, old: Side, new: Side, basis: MigrationBasis, score: float) -> Pair | Reject:
        """Return two examples as a pair, or why they are no migration; a change connects the APIs of most bases."""
        changed = self._changed.between(old.version, new.version)
        cores = () if basis is MigrationBasis.EXAMPLE_CHANGED else (old.path, new.path)
        refusal = objection(old.snippet, new.snippet, self.usages, changed, cores)
        return Reject(key, *refusal) if refusal else Pair(old, new, basis, score)

    def using(self, path: str, version: str) -> list[SnippetRow]:
        """Return the snippets that hold in a version and use a path; only those that document it, if there are any."""
        rows = [
            row
            for row in self.snippets
            if path in self.paths.get(row["id"], ())
            and self.history.within(version, row["version"], row["last_version"])
        ]
        return [row for row in rows if row["path"] == path] or rows


def changed_tests(
    witnesses: Iterable[WitnessRow], snippets: Mapping[str, SnippetRow], history: History
) -> Iterator[Pair | Reject]:
    """Yield the pair, or a reject, of each witness that has both forms.

    Forms that use other libraries differently ask another question, though their outputs are equal.
    """
    for row in sorted(witnesses, key=lambda row: row["id"]):
        old, new = snippets.get(row["old_snippet_id"] or ""), snippets.get(row["new_snippet_id"] or "")
        if old is None or new is None:
            continue
        sides = Side(old, row["old_version"], str(row["old_path"])), Side(new, row["new_version"], str(row["new_path"]))
        if others := imported_elsewhere(sides[0].code, history) ^ imported_elsewhere(sides[1].code, history):
            detail = f"only one of the two forms uses {', '.join(sorted(others))}"
            yield Reject(row["id"], RejectReason.OTHER_CAUSE, detail)
            continue
        passes = row["new_in_old"] == Outcome.PASSED
        yield Pair(*sides, MigrationBasis.TEST_CHANGED, row["similarity"] or 0, row["change_id"], passes)


def imported_elsewhere(code: str, history: History) -> frozenset[str]:
    """Return what a program imports from other modules than those of the library."""
    imports = [node for node in ast.walk(parse_python(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = (
        f"{node.module or ''}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in imports
        for alias in node.names
    )
    return frozenset(name for name in names if not history.is_root(name.partition(".")[0]))


def changed_examples(corpus: Corpus, rules: MigrationRules) -> Iterator[Pair | Reject]:
    """Yield a pair, or a reject, for each snippet that ends where there is a next release, by the API it documents.

    An API whose old path lives on as an alias is documented under its new path.
    """
    beginning: dict[tuple[str, str], list[SnippetRow]] = defaultdict(list)
    for row in corpus.snippets:
        beginning[str(row["path"]), row["version"]].append(row)
    ending: dict[tuple[str, str], list[SnippetRow]] = defaultdict(list)
    for row in corpus.snippets:
        following = corpus.history.next(row["last_version"])
        if following is not None:
            ending[str(row["path"]), following].append(row)

    def of_path(path: str, version: str) -> Iterator[Pair | Reject]:
        documented = path if (path, version) in beginning else corpus.history.preferred_path(path, version)
        matches = _match(ending[path, version], beginning.get((documented, version), []), rules.min_similarity)
        for old, new, score in matches.matched:
            yield _pair_examples(corpus, path, version, old, new, score)
        for old in matches.left:
            detail = f"{path} has no example like it in {version}"
            yield Reject(f"{old['id']} {version}", RejectReason.NO_PARTNER, detail)

    yield from guarded(sorted(ending), " ".join, lambda place: of_path(*place))


@dataclass(frozen=True, slots=True)
class _Matches:
    """Snippets matched one to one, with how alike they are, and the old ones that are left over."""

    matched: Sequence[tuple[SnippetRow, SnippetRow, float]]
    left: Sequence[SnippetRow]


def _match(olds: Sequence[SnippetRow], news: Sequence[SnippetRow], min_similarity: float) -> _Matches:
    """Match each old snippet with at most one new one, the most alike first."""
    scores = [(similarity(source_of(old), source_of(new)), old, new) for old in olds for new in news]
    old_left = {old["id"]: old for old in olds}
    new_left = {new["id"] for new in news}
    matched = []
    for score, old, new in sorted(scores, key=lambda item: (-item[0], item[1]["id"], item[2]["id"])):
        if score >= min_similarity and old["id"] in old_left and new["id"] in new_left:
            new_left.remove(new["id"])
            matched.append((old_left.pop(old["id"]), new, score))
    return _Matches(matched, [old_left[old_id] for old_id in sorted(old_left)])


def _pair_examples(
    corpus: Corpus, path: str, version: str, old: SnippetRow, new: SnippetRow, score: float
) -> Pair | Reject:
    key = f"{old['id']} {new['id']}"
    cores = core_paths(path, corpus.paths.get(old["id"], frozenset()), corpus.paths.get(new["id"], frozenset()))
    if cores is None:
        return Reject(key, RejectReason.NO_USE, "one side uses no public API of the library")
    sides = Side(old, old["last_version"], cores[0]), Side(new, version, cores[1])
    return corpus.pair(key, *sides, MigrationBasis.EXAMPLE_CHANGED, score)


def core_paths(documented: str, old: frozenset[str], new: frozenset[str]) -> tuple[str, str] | None:
    """Return the core API of each side of a changed example, or None where a side uses nothing.

    It is the documented API if both sides use it; else what each side alone uses, of several the two that are called
    most alike; else what both use. Then the one with the name of the documented API goes first, then the deepest, then
    the first by name.
    """
    if documented in old and documented in new:
        return documented, documented
    if not old or not new:
        return None
    name = _name(documented)
    if old - new and new - old:
        return min(
            itertools.product(old - new, new - old),
            key=lambda pair: (-similarity(_name(pair[0]), _name(pair[1])), *(_order(path, name) for path in pair)),
        )
    shared = old & new
    return _closest(shared or old, name), _closest(shared or new, name)


def _closest(paths: frozenset[str], name: str) -> str:
    return min(paths, key=lambda path: _order(path, name))


def _order(path: str, name: str) -> tuple[bool, int, str]:
    return _name(path) != name, -path.count("."), path


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def connected_examples(
    corpus: Corpus, changes: Iterable[ChangeRow], lifecycles: Iterable[LifecycleRow], rules: MigrationRules
) -> Iterator[Pair | Reject]:
    """Yield the pairs, or a reject, for each rename, move, and removal or deprecation with a stated replacement."""
    replacements = {row["path"]: row["replacement"] for row in lifecycles if row["replacement"]}

    def of_change(change: ChangeRow) -> Iterator[Pair | Reject]:
        kind = change["kind"]
        if kind in RELOCATED:
            yield from _connect(corpus, change, str(change["new"]), MigrationBasis.RENAMED, rules)
        elif kind in REPLACEABLE_APIS and (words := change["replacement"] or replacements.get(change["path"])):
            new_path = resolve(words, change["path"], change["new_version"], corpus.history)
            if new_path is None:
                detail = f"{words!r}, said to replace {change['path']}, is no public path of {change['new_version']}"
                yield Reject(change["id"], RejectReason.NO_PARTNER, detail)
            else:
                yield from _connect(corpus, change, new_path, MigrationBasis.REPLACEMENT, rules)

    ordered = sorted(changes, key=lambda row: str(row["id"]))
    yield from guarded(ordered, lambda change: str(change["id"]), of_change)


def _connect(
    corpus: Corpus, change: ChangeRow, new_path: str, basis: MigrationBasis, rules: MigrationRules
) -> Iterator[Pair | Reject]:
    old_path, old_version, new_version = change["path"], change["old_version"], change["new_version"]
    olds, news = corpus.using(old_path, old_version), corpus.using(new_path, new_version)
    if not olds or not news:
        missing = f"{old_path} in {old_version}" if not olds else f"{new_path} in {new_version}"
        yield Reject(change["id"], RejectReason.NO_PARTNER, f"no example uses {missing}")
        return
    matches = _match(olds, news, rules.min_similarity)
    for old, new, score in matches.matched:
        sides = Side(old, old_version, old_path), Side(new, new_version, new_path)
        yield corpus.pair(f"{change['id']} {old['id']}", *sides, basis, score)
    for old in matches.left:
        detail = f"{new_path} has no example like it in {new_version}"
        yield Reject(f"{change['id']} {old['id']}", RejectReason.NO_PARTNER, detail)


def similarity(old: str, new: str) -> float:
    """Return how alike two programs are as lines of text, from 0 to 1 (difflib's ratio over characters)."""
    return difflib.SequenceMatcher(None, old, new, autojunk=False).ratio()
