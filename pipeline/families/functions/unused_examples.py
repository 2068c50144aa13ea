"""Examples that make no task by themselves, and that somebody may still make a function of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.text import source_of
from pipeline.corpus.usages.uses import Use
from pipeline.families.completions_and_migrations.history import PLAIN, Tagging
from pipeline.families.problems.library import Library
from pipeline.lake.rows import SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.tasks.rules import TaskFunctionRules

# Reasons of good examples without a task: no stated output, or no variable input.
OPEN = (RejectReason.NO_CHECK, RejectReason.NO_INPUT)


@dataclass(frozen=True, slots=True)
class Untaken:
    """An example that passed in a version and makes no task there, as `reject` says; `use` is that of its core API."""

    reject: Reject
    snippet: SnippetRow
    version: str
    use: Use
    tags: Tagging
    hidden: tuple[str, ...]

    @property
    def rank(self) -> tuple[object, ...]:
        """The order of choice: examples with a meaningful version first, then short ones."""
        return self.tags == PLAIN, len(self.snippet["code"]), str(self.snippet["id"])

    def neighbour(self, library: Library) -> str | None:
        """Return the release that the version is set apart from, where anything does."""
        if self.tags == PLAIN:
            return None
        gone = self.tags[1] == LibEvolutionEvalTag.DEPRECATED
        return library.history.next(self.version) if gone else library.history.previous(self.version)


def untaken_examples(
    rejects: Iterable[Reject],
    used: Iterable[SnippetRow],
    snippets: Iterable[SnippetRow],
    library: Library,
    rules: TaskFunctionRules,
    min_name_length: int,
) -> list[Untaken]:
    """Return the examples that were refused for want of a task and passed when they ran, as many as the rules take.

    `used` are the snippets that make a task. The most telling go first.
    """
    by_id = {row["id"]: row for row in snippets}
    first: dict[str, Reject] = {}
    for reject in rejects:
        if reject.reason in OPEN:
            first.setdefault(reject.key.partition(" ")[0], reject)
    for row in used:
        first.pop(row["id"], None)
    candidates = (_untaken(reject, by_id[key], library, min_name_length) for key, reject in sorted(first.items()))
    return list(_within_quota((example for example in candidates if example is not None), rules))


def _untaken(reject: Reject, snippet: SnippetRow, library: Library, min_name_length: int) -> Untaken | None:
    """Return an example in the first meaningful version for its APIs, of those in which it passed."""
    history = library.history
    passed = [
        version
        for version in history.between(snippet["version"], snippet["last_version"])
        if history.previous(version) and library.runs.outcome(snippet["id"], version) == Outcome.PASSED
    ]
    if not passed:
        return None
    program = source_of(snippet)
    paths = {use.path for use in library.uses(program, passed[0])}
    distinct = (v for v in passed if any((history.tags(path, v) or PLAIN) != PLAIN for path in paths))
    version = next(distinct, passed[0])
    uses = [use for use in library.uses(program, version) if is_named(use) and len(use.name) >= min_name_length]
    tagged = [(use, tags) for use in uses if (tags := history.tags(use.path, version))]
    if not tagged:
        return None
    use, tags = min(tagged, key=lambda pair: (pair[1] == PLAIN, pair[0].path != snippet["path"], pair[0].path))
    changed = library.changed_parameters(use.path, version)
    hidden = (use.name, *sorted(set(use.keywords) & changed))
    return Untaken(reject, snippet, version, use, tags, hidden)


def is_named(use: Use) -> bool:
    """Say whether a use names the API by its own name, and not by another that the program gave it."""
    return use.name == use.path.rpartition(".")[2]


def _within_quota(candidates: Iterable[Untaken], rules: TaskFunctionRules) -> Iterator[Untaken]:
    used: Counter[Hashable] = Counter()
    for example in sorted(candidates, key=lambda each: each.rank):
        limits: Mapping[Hashable, int] = {example.use.path: rules.max_per_path, None: rules.max_per_library}
        if all(used[kind] < limit for kind, limit in limits.items()):
            used.update(limits.keys())
            yield example


def versions_of(examples: Sequence[Untaken], library: Library) -> set[str]:
    """Return the versions in which functions of examples are to be run."""
    return {v for example in examples for v in (example.version, example.neighbour(library)) if v is not None}
