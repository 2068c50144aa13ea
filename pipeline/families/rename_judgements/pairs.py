"""The pairs of APIs for a model: guessed renames and moves, and pairs close to one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from pipeline.api.history.index import Index
from pipeline.api.history.matching import near_misses
from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import RELOCATED, ChangeKind
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import ChangeRow, SymbolRow
from pipeline.llm.tasks.rules import RenameJudgementRules


@dataclass(frozen=True, slots=True)
class Pair:
    """An API that a release removed and one that it added, and the confidence that they are one (0 to 1)."""

    path: str
    new_path: str
    old_version: str
    new_version: str
    kind: str
    confidence: float
    change_id: str | None

    @property
    def key(self) -> str:
        """What rejects and subjects are named by."""
        return f"{self.path} {self.old_version} {self.new_path} {self.new_version}"


def pairs(
    changes: Sequence[ChangeRow],
    symbols: Sequence[SymbolRow],
    importable_names: Sequence[SymbolRow],
    rested_on: Set[str],
    tagging: LifecycleRules,
    rules: RenameJudgementRules,
) -> list[Pair]:
    """Return the pairs of a library in the order of requests.

    Guesses that instances rest on (`rested_on` are ids of changes) come first, then the others, then pairs that the
    comparison took for two; of each the least sure first, of the last the surest.
    """
    guessed = guesses(changes, rules.below_confidence)
    guessed.sort(key=lambda pair: (pair.change_id not in rested_on, pair.confidence, pair.key))
    nearly = _nearly(changes, symbols, importable_names, tagging, rules)
    return [*guessed, *sorted(nearly, key=lambda pair: (-pair.confidence, pair.key))]


def guesses(changes: Iterable[ChangeRow], below: float) -> list[Pair]:
    """Return the renames and moves of which the comparison is less sure than a confidence."""
    return [_of_change(row) for row in changes if row["kind"] in RELOCATED and row["confidence"] < below]


def _of_change(change: ChangeRow) -> Pair:
    paths, versions = (change["path"], str(change["new"])), (change["old_version"], change["new_version"])
    return Pair(*paths, *versions, change["kind"], change["confidence"], change["id"])


def _nearly(
    changes: Iterable[ChangeRow],
    symbols: Sequence[SymbolRow],
    importable_names: Sequence[SymbolRow],
    tagging: LifecycleRules,
    rules: RenameJudgementRules,
) -> Iterator[Pair]:
    """Yield the pairs of each release that are nearly sure enough to be one."""
    for (old_version, new_version), group in sorted(_by_release(changes).items()):
        gone = [row["path"] for row in group if row["kind"] == ChangeKind.REMOVED]
        come = [row["path"] for row in group if row["kind"] == ChangeKind.INTRODUCED]
        if not gone or not come:
            continue
        old, new = (
            Index(holding_at(symbols, version), holding_at(importable_names, version))
            for version in (old_version, new_version)
        )
        for match in near_misses(gone, come, old, new, tagging, rules.from_confidence):
            yield Pair(match.old, match.new, old_version, new_version, match.kind, match.confidence, None)


def _by_release(changes: Iterable[ChangeRow]) -> Mapping[tuple[str, str], list[ChangeRow]]:
    grouped: dict[tuple[str, str], list[ChangeRow]] = defaultdict(list)
    for row in changes:
        grouped[row["old_version"], row["new_version"]].append(row)
    return grouped
