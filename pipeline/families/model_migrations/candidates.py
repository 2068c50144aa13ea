"""Which snippets may need other code in a neighbouring release, where neither a codemod nor an example has it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

import pyarrow.compute as pc

from pipeline.core.vocabularies.changes import WITH_MEMBERS, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Direction, Language
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.history import COLUMNS, History
from pipeline.lake.rows import ChangeRow, MigrationRow, SnippetRow, UsageRow
from pipeline.lake.stage import Reject
from pipeline.lake.tables import Lake, one_of
from pipeline.llm.tasks.rules import MigratedCodeRules


@dataclass(frozen=True, slots=True)
class Candidate:
    """A snippet, the release that it is right for, the one that it may not be right for, and the change that says so.

    `path` is the API as the snippet uses it.
    """

    snippet: SnippetRow
    path: str
    change: ChangeRow
    direction: Direction
    source: str
    target: str

    @property
    def key(self) -> str:
        """What rejects and subjects are named by."""
        return f"{self.snippet['id']} {self.source} {self.target}"

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, str]:
        """Order by what a pair of it says: upgrades that must be made, with a stated replacement, of the API's own."""
        down = self.direction == Direction.NEW_TO_OLD
        own = self.snippet["path"] == self.path
        return not self.change["breaking"], down, not self.change["replacement"], not own, self.key


def candidates(
    snippets: Iterable[SnippetRow],
    usages: Iterable[UsageRow],
    changes: Iterable[ChangeRow],
    migrations: Iterable[MigrationRow],
    history: History,
    rules: MigratedCodeRules,
) -> list[Candidate]:
    """Return a candidate for each snippet and pair of releases, the most telling first.

    A snippet goes from the release before a change to the one with it, if the change breaks code or the snippet ends
    there; where documentation dropped it before a change that breaks code, from the last release that has it. One that
    the older release does not have goes back, where that has the API too. Pairs that are instances already are none.
    """
    users = _Users(snippets, usages, history, rules)
    paired = _paired(migrations)
    by_key: dict[str, Candidate] = {}
    for change in changes:
        for one in users.concerned_by(change):
            is_paired = (one.snippet["id"], frozenset((one.source, one.target))) in paired
            if not is_paired and (one.key not in by_key or one.rank < by_key[one.key].rank):
                by_key[one.key] = one
    return sorted(by_key.values(), key=lambda candidate: candidate.rank)


def open_candidates(
    lake: Lake, library: str, rules: MigratedCodeRules, executable_sources: Collection[str]
) -> list[Candidate]:
    """Return the candidates of a library from the lake that are not known to pass in the other release."""
    changes, usages = lake.read("changes", library), lake.read("usages", library)
    alone = one_of("source", executable_sources)
    snippets = lake.read("snippets", library, alone) if changes else []
    if not snippets or not usages:
        return []
    places = sorted({place for usage in usages for place in _parents(usage["path"])})
    symbols = lake.read("symbols", library, one_of("path", places) | one_of("canonical_path", places), COLUMNS)
    history = History(lake.read("releases", library), symbols, changes, lambda path, version: None)
    unproven = candidates(snippets, usages, changes, lake.read("migrations", library), history, rules)
    passed = pc.field("outcome") == Outcome.PASSED
    passes = {
        (row["subject_id"], row["version"])
        for row in lake.read("verdicts", library, passed, ("subject_id", "version", "outcome"))
    }
    remaining = [candidate for candidate in unproven if (candidate.snippet["id"], candidate.target) not in passes]
    return within_quota(remaining, rules)[0]


def _parents(path: str) -> Iterator[str]:
    """Yield a path and what it stands in."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def within_quota(candidates: Iterable[Candidate], rules: MigratedCodeRules) -> tuple[list[Candidate], list[Reject]]:
    """Keep as many candidates as are to be run, some of each API and pair of releases; refuse the others."""
    counts: Counter[tuple[str, str, str]] = Counter()
    accepted: list[Candidate] = []
    rejects: list[Reject] = []
    for candidate in candidates:
        kind = candidate.path, candidate.source, candidate.target
        if counts[kind] >= rules.max_per_path or len(accepted) >= rules.max_run:
            detail = f"the rule takes {rules.max_per_path} of {candidate.path}, {rules.max_run} of a library"
            rejects.append(Reject(candidate.key, RejectReason.OVER_QUOTA, detail))
        else:
            counts[kind] += 1
            accepted.append(candidate)
    return accepted, rejects


def _paired(migrations: Iterable[MigrationRow]) -> Set[tuple[str, Set[str]]]:
    return {
        (row[side], frozenset((row["version"], row["target_version"])))
        for row in migrations
        for side in ("snippet_id", "target_snippet_id")
    }


class _Users:
    """The snippets of a library that may be asked about, by the paths that they use and the parents of those."""

    def __init__(
        self, snippets: Iterable[SnippetRow], usages: Iterable[UsageRow], history: History, rules: MigratedCodeRules
    ) -> None:
        self._history = history
        by_id = {row["id"]: row for row in snippets if _is_eligible(row, rules)}
        self._using: Mapping[str, dict[tuple[str, str], SnippetRow]] = defaultdict(dict)
        for usage in sorted(usages, key=lambda row: str(row["id"])):
            if snippet := by_id.get(usage["snippet_id"]):
                for place in self._places(usage["path"], snippet["version"]):
                    self._using[place][snippet["id"], usage["path"]] = snippet

    def _places(self, path: str, version: str) -> Iterator[str]:
        """Yield what changes may be told under: the path, where its definition stands, and its parents."""
        state = self._history.definition(path, version)
        if state is not None:
            yield state["canonical_path"]
        yield from _parents(path)

    def concerned_by(self, change: ChangeRow) -> Iterator[Candidate]:
        """Yield the snippets that a change concerns, each with the releases between which that is so."""
        if change["kind"] == ChangeKind.INTRODUCED:
            return
        old, new = change["old_version"], change["new_version"]
        for place in dict.fromkeys((change["path"], change["canonical_path"])):
            for (_, path), snippet in sorted(self._using.get(place, {}).items()):
                if path.startswith(f"{place}.") and change["kind"] not in WITH_MEMBERS:
                    continue
                if source := self._upgraded_from(snippet, path, change):
                    yield Candidate(snippet, path, change, Direction.OLD_TO_NEW, source, new)
                if self._can_go_back(snippet, path, old, new):
                    yield Candidate(snippet, path, change, Direction.NEW_TO_OLD, new, old)

    def _upgraded_from(self, snippet: SnippetRow, path: str, change: ChangeRow) -> str | None:
        history, old = self._history, change["old_version"]
        first, last = snippet["version"], str(snippet["last_version"])
        if history.within(old, first, last):
            dropped = not history.within(change["new_version"], first, last)
            return old if change["breaking"] or dropped else None
        early = change["breaking"] and history.rank(last) < history.rank(old)
        return last if early and history.is_public(path, last) else None

    def _can_go_back(self, snippet: SnippetRow, path: str, old: str, new: str) -> bool:
        first, last = snippet["version"], snippet["last_version"]
        alone = self._history.within(new, first, last) and not self._history.within(old, first, last)
        return alone and self._history.definition(path, old) is not None


def _is_eligible(snippet: SnippetRow, rules: MigratedCodeRules) -> bool:
    source = source_of(snippet)
    outputs = [check["expected"] for check in snippet["checks"] if check["expected"] is not None]
    sized = (
        source.count("\n") < rules.max_lines and len(source) + sum(map(len, outputs)) <= rules.max_context_characters
    )
    return sized and snippet["language"] == Language.PYTHON and len(outputs) >= rules.min_outputs
