"""Renames and moves: which removed API continues as which introduced one.

Certain pairs come first: another path of the same definition that remains, and the replacement in the library's mark of
deprecation. Of the others the surest pairs are taken, if they are sure enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.api.history.index import Index
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.similarity import confidence, likeness
from pipeline.api.surface.extract.stubs import STUB_ONLY
from pipeline.api.surface.resolve.labels import OPAQUE
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import PublicBecause, SymbolKind

_NOT_DEFINED_HERE = frozenset({SymbolKind.MODULE, SymbolKind.EXTERNAL, SymbolKind.LAZY})


@dataclass(frozen=True, slots=True)
class Match:
    """A removed API, the path that continues it, and the evidence."""

    old: str
    new: str
    kind: ChangeKind
    confidence: float
    evidence: Evidence


def match(gone: Sequence[str], come: Sequence[str], old: Index, new: Index, rules: LifecycleRules) -> dict[str, Match]:
    """Pair removed paths with introduced or remaining ones, each at most once, the surest pairs first."""
    certain = [pair for path in gone if (pair := _still_there(path, old, new))]
    matches = {pair.old: pair for pair in certain}
    new_paths = {pair.new for pair in certain}
    candidates = [*_documented(gone, come, old, new), *_candidates(gone, come, old, new, rules)]
    for pair in sorted(candidates, key=lambda pair: (-pair.confidence, pair.old, pair.new)):
        if pair.old not in matches and pair.new not in new_paths:
            matches[pair.old] = pair
            new_paths.add(pair.new)
    return matches


def near_misses(
    gone: Sequence[str], come: Sequence[str], old: Index, new: Index, rules: LifecycleRules, least: float
) -> list[Match]:
    """Pair removed paths with introduced ones, each at most once, with a confidence from `least` to `sure_enough`."""
    looser = rules.model_copy(update={"likeness": rules.likeness.model_copy(update={"sure_enough": least})})
    pairs: dict[str, Match] = {}
    new_paths: set[str] = set()
    candidates = _candidates(gone, come, old, new, looser)
    for pair in sorted(candidates, key=lambda pair: (-pair.confidence, pair.old, pair.new)):
        if pair.confidence < rules.likeness.sure_enough and pair.old not in pairs and pair.new not in new_paths:
            pairs[pair.old] = pair
            new_paths.add(pair.new)
    return list(pairs.values())


def _still_there(path: str, old: Index, new: Index) -> Match | None:
    """Return where the very same definition can still be had: in its place, or under another name that it had."""
    before = old.find(path)
    if before is None or before["kind"] in _NOT_DEFINED_HERE or _inherited(path, old):
        # of a class that lost a base, that the base still has the member is no place to find the class's in
        return None
    owner = new.owners.get(before["canonical_path"])
    others = {owner["path"]} if owner is not None else set()
    others |= {
        name for name in old.named(before["canonical_path"]) if _is_defined(name, new) and not _inherited(name, old)
    }
    if not others - {path}:
        return None
    mark = old.rows[path]["deprecation"] or before["deprecation"]
    advised = _name((mark["replacement"] if mark else None) or new.advice(path) or "")
    other = min(others - {path}, key=lambda name: (_name(name) != advised, *_distance(path, name)))
    return Match(path, other, _kind(path, other), 1.0, Evidence.STATIC)


def _is_defined(path: str, index: Index) -> bool:
    """Return whether a path is there and its definition seen: nobody goes to what a star import may bring."""
    row = index.find(path)
    return row is not None and not {OPAQUE, STUB_ONLY} & {*row["labels"]}


def _distance(path: str, other: str) -> tuple[bool, bool, int, str]:
    """Order the names of one definition: of the same last name first, then in the same place, then the shortest."""
    return _name(other) != _name(path), _parent(other) != _parent(path), other.count("."), other


def _documented(gone: Iterable[str], come: Sequence[str], old: Index, new: Index) -> Iterator[Match]:
    """Yield what the library itself says: the mark of deprecation names an API that came."""
    arrived = set(come)
    for path in gone:
        before = old.find(path)
        mark = old.rows[path]["deprecation"] or (before["deprecation"] if before else None)
        if mark is None or not mark["replacement"]:
            continue
        for other in _places(path, mark["replacement"]):
            if other in arrived or (_parent(other) == _parent(path) and other in _new_members(path, old, new)):
                yield Match(path, other, _kind(path, other), 1.0, Evidence.DOCUMENTED)
                break


def _places(path: str, name: str) -> list[str]:
    """Return the paths that a stated name can mean: beside the API, in each package around it, or as it stands."""
    around = []
    place = _parent(path)
    while place:
        around.append(f"{place}.{name}")
        place = _parent(place)
    return [*around, name, f"{_parent(path)}.{_name(name)}"]


def _candidates(
    gone: Iterable[str], come: Sequence[str], old: Index, new: Index, rules: LifecycleRules
) -> Iterator[Match]:
    """Yield the pairs in one place, and those of one name, that are sure enough to be one API."""
    beside: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    for path in come:
        beside.setdefault(_parent(path), []).append(path)
        named.setdefault(_name(path), []).append(path)
    for path in gone:
        for other in {*beside.get(_parent(path), ()), *_new_members(path, old, new)}:
            yield from _likely(path, other, ChangeKind.RENAMED, old, new, rules)
        for other in named.get(_name(path), ()):
            yield from _likely(path, other, ChangeKind.MOVED, old, new, rules)


def _likely(path: str, other: str, kind: ChangeKind, old: Index, new: Index, rules: LifecycleRules) -> Iterator[Match]:
    before, after = old.find(path), new.find(other)
    if before is None or after is None or before["kind"] != after["kind"]:
        return
    if _inherited(path, old) or _inherited(other, new):
        # what a class has from its bases came or went with them
        return
    weights = rules.likeness
    prior = weights.prior_renamed if kind == ChangeKind.RENAMED else weights.prior_moved
    sure = round(confidence(likeness(before, after, old, new, weights), prior, weights), 2)
    if sure >= weights.sure_enough:
        yield Match(path, other, kind, sure, Evidence.STATIC)


def _new_members(path: str, old: Index, new: Index) -> list[str]:
    """Return the members that a class came to have, also where the class itself stands under a new name."""
    parent = _parent(path)
    owner = new.find(parent)
    if owner is None or owner["path"] == parent:
        return []
    paths = [f"{parent}.{_name(row['path'])}" for row in new.below(owner["path"])]
    return [path for path in paths if not old.alive(path)]


def _kind(path: str, other: str) -> ChangeKind:
    return ChangeKind.MOVED if _name(other) == _name(path) else ChangeKind.RENAMED


def _inherited(path: str, index: Index) -> bool:
    return path in index.rows and index.rows[path]["public_because"] == PublicBecause.INHERITED


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    return path.rpartition(".")[2]
