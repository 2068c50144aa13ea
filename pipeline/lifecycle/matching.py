"""Renames and moves: which of the APIs that went lives on as which of those that came."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.lake import Row
from pipeline.lifecycle.index import Index
from pipeline.lifecycle.rules import LifecycleRules
from pipeline.terms import ChangeKind, Evidence, PublicBecause, SymbolKind

_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_CONTAINERS = frozenset({SymbolKind.CLASS, SymbolKind.MODULE})


@dataclass(frozen=True, slots=True)
class Match:
    """An API that went, what it lives on as, and how that is known."""

    old: str
    new: str
    kind: ChangeKind
    confidence: float
    evidence: Evidence


def match(gone: Sequence[str], come: Sequence[str], old: Index, new: Index, rules: LifecycleRules) -> dict[str, Match]:
    """Pair paths that went with paths that came or remained, each at most once, the surest pairs first."""
    pairs = [pair for path in gone if (pair := _still_there(path, old, new))]
    found = {pair.old: pair for pair in pairs}
    taken = {pair.new for pair in pairs}
    candidates = sorted(
        _candidates([p for p in gone if p not in found], come, old, new, rules),
        key=lambda pair: (-pair.confidence, -_similarity(pair), pair.old, pair.new),
    )
    for pair in candidates:
        if pair.old not in found and pair.new not in taken:
            found[pair.old] = pair
            taken.add(pair.new)
    return found


def _similarity(pair: Match) -> float:
    return difflib.SequenceMatcher(None, pair.old, pair.new).ratio()


def _still_there(path: str, old: Index, new: Index) -> Match | None:
    """Return the move to where the very same definition can still be had."""
    before = old.find(path)
    if before is None or before["kind"] == SymbolKind.MODULE:
        return None
    if old.rows[path]["public_because"] == PublicBecause.INHERITED:
        # the class lost a base; that the base still has the member is no place to find the class's in
        return None
    after = new.owners.get(before["canonical_path"]) or _shortened(before, old, new)
    same_name = after is not None and after["path"].rpartition(".")[2] == path.rpartition(".")[2]
    if after is None or not same_name or after["path"] == path:
        return None
    return Match(path, after["path"], ChangeKind.MOVED, 1.0, Evidence.STATIC)


def _shortened(before: Row, old: Index, new: Index) -> Row | None:
    """Return the row under the definition's own public path, if that remains while another name of it went."""
    owner = old.owners.get(before["canonical_path"])
    return new.find(owner["path"]) if owner is not None else None


def _candidates(
    gone: Iterable[str], come: Sequence[str], old: Index, new: Index, rules: LifecycleRules
) -> Iterator[Match]:
    by_parent: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for path in come:
        parent, _, name = path.rpartition(".")
        by_parent.setdefault(parent, []).append(path)
        by_name.setdefault(name, []).append(path)
    for path in gone:
        parent, _, name = path.rpartition(".")
        for other in {*by_parent.get(parent, ()), *_new_members(parent, old, new)}:
            if pair := _renamed(path, other, old, new, rules):
                yield pair
        for other in by_name.get(name, ()):
            if pair := _moved(path, other, old, new, rules):
                yield pair


def _new_members(parent: str, old: Index, new: Index) -> list[str]:
    """Return the members that a class came to have, also where the class itself stands under a new name."""
    owner = new.find(parent)
    if owner is None or owner["path"] == parent:
        return []
    paths = [f"{parent}.{row['path'].rpartition('.')[2]}" for row in new.below(owner["path"])]
    return [path for path in paths if not old.alive(path)]


def _renamed(path: str, other: str, old: Index, new: Index, rules: LifecycleRules) -> Match | None:
    before, after = old.find(path), new.find(other)
    if before is None or after is None or before["kind"] != after["kind"]:
        return None
    mark = before["deprecation"]
    name = other.rpartition(".")[2]
    if mark and (mark["replacement"] or "").rpartition(".")[2] == name:
        return Match(path, other, ChangeKind.RENAMED, 1.0, Evidence.DOCUMENTED)
    confidence = _sameness(before, after, old, new, rules)
    ratio = difflib.SequenceMatcher(None, path.rpartition(".")[2], name).ratio()
    if confidence is None and ratio >= rules.similar_names and _parameters_agree(before, after):
        confidence = rules.confidence_similar_name
    return Match(path, other, ChangeKind.RENAMED, confidence, Evidence.STATIC) if confidence else None


def _moved(path: str, other: str, old: Index, new: Index, rules: LifecycleRules) -> Match | None:
    before, after = old.find(path), new.find(other)
    if before is None or after is None or before["kind"] != after["kind"]:
        return None
    confidence = _sameness(before, after, old, new, rules)
    return Match(path, other, ChangeKind.MOVED, confidence, Evidence.STATIC) if confidence else None


def _sameness(before: Row, after: Row, old: Index, new: Index, rules: LifecycleRules) -> float | None:
    """Return how sure it is that two states are of the same definition, or None."""
    names = [p["name"] for p in before["parameters"]], [p["name"] for p in after["parameters"]]
    documented = before["docstring_sha256"] is not None and before["docstring_sha256"] == after["docstring_sha256"]
    if names[0] == names[1] and documented and before["kind"] != SymbolKind.MODULE:
        return rules.confidence_same_docstring
    if before["kind"] in _CONTAINERS:
        left, right = _members(before["path"], old), _members(after["path"], new)
        if len(left | right) > 1 and len(left & right) / len(left | right) >= rules.similar_members:
            return rules.confidence_same_members
    return None


def _parameters_agree(before: Row, after: Row) -> bool:
    """Return whether two callables have the same parameters, and at least one to tell them by."""
    left, right = before["parameters"], after["parameters"]
    callable_ = before["kind"] in _CALLABLE
    return (
        callable_ and bool(left) and [(p["name"], p["kind"]) for p in left] == [(p["name"], p["kind"]) for p in right]
    )


def _members(path: str, index: Index) -> frozenset[str]:
    return frozenset(row["path"].rpartition(".")[2] for row in index.below(path))
