"""How alike two states of an API are, and how sure that makes it that they are one API under two paths.

Each thing that can be compared speaks for it or against it, by the share that both have in common and by how much
there is to compare; what they say is added up as log odds. What is not known on both sides says nothing.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, fields

from pipeline.api.history.index import Index
from pipeline.api.history.rules import LikenessRules
from pipeline.api.surface.sketches import SIZE, similarity
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, PublicBecause, SymbolKind
from pipeline.lake.rows import SymbolState

_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS})
_CONTAINERS = frozenset({SymbolKind.CLASS, SymbolKind.MODULE})
_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})


@dataclass(frozen=True, slots=True)
class Common:
    """What two states have in common of something: the share (0 to 1), and how much there is to compare."""

    share: float
    amount: float


@dataclass(frozen=True, slots=True)
class Likeness:
    """What two states have in common; None where one of them does not have it, or too little to tell."""

    name: Common | None
    signature: Common | None
    members: Common | None
    body: Common | None
    docstring: Common | None


def likeness(before: SymbolState, after: SymbolState, old: Index, new: Index, rules: LikenessRules) -> Likeness:
    """Compare a state of the old release with one of the new."""
    names = (before["path"].rpartition(".")[2], after["path"].rpartition(".")[2])
    bodies = _sketches(before["body_sketch"], after["body_sketch"], rules.fewest_body_lines)
    members = None
    if before["kind"] in _CONTAINERS:
        left, right = _members(before["path"], old), _members(after["path"], new)
        members = _sets(left.keys(), right.keys())
        bodies = _bodies([(left[name], right[name]) for name in left.keys() & right.keys()], rules.fewest_body_lines)
    signature = _signature(before, after) if before["kind"] in _CALLABLE else None
    docstring = _sketches(before["docstring_sketch"], after["docstring_sketch"], 1)
    return Likeness(_names(*names), signature, members, bodies, docstring)


def confidence(likeness: Likeness, prior: float, rules: LikenessRules) -> float:
    """Return how sure it is that the two are one, from 0 to 1.

    `prior` are the log odds before anything is compared; each thing adds between `unlike` and `alike`, in proportion
    to its share, and in full from an amount of `full` on.
    """
    odds = prior
    for field in fields(likeness):
        common: Common | None = getattr(likeness, field.name)
        if common is not None:
            weight = getattr(rules, field.name)
            evidence = weight.unlike + (weight.alike - weight.unlike) * common.share
            odds += evidence * min(1.0, common.amount / weight.full)
    return 1 / (1 + math.exp(-odds))


def _names(old: str, new: str) -> Common | None:
    return None if old == new else Common(difflib.SequenceMatcher(None, old, new).ratio(), 1)


def _signature(before: SymbolState, after: SymbolState) -> Common | None:
    """Compare the names of parameters with their kinds; of `*args` and `**kwargs` the kind alone.

    Those of a base are left out: all that derives from it has them.
    """
    return _sets(_parameters(before), _parameters(after))


def _parameters(row: SymbolState) -> Set[Hashable]:
    own = (p for p in row["parameters"] if p["known_from"] != ParameterSource.PASSED_ON)
    return {(None if p["kind"] in _VARIADIC else p["name"], p["kind"]) for p in own}


def _sets(left: Set[Hashable], right: Set[Hashable]) -> Common | None:
    either = len(left | right)
    return Common(len(left & right) / either, either) if either else None


def _sketches(left: Sequence[int], right: Sequence[int], fewest: int) -> Common | None:
    """Compare two sketches; too few lines prove nothing."""
    if min(len(left), len(right)) < fewest:
        return None
    return Common(similarity(left, right), min(len({*left, *right}), SIZE))


def _bodies(pairs: Sequence[tuple[SymbolState, SymbolState]], fewest: int) -> Common | None:
    """Compare the bodies of the members that two classes or modules have in common."""
    compared = [_sketches(before["body_sketch"], after["body_sketch"], fewest) for before, after in pairs]
    shared = [common for common in compared if common is not None]
    amount = sum(common.amount for common in shared)
    return Common(sum(common.share * common.amount for common in shared) / amount, amount) if shared else None


def _members(path: str, index: Index) -> dict[str, SymbolState]:
    """Return the public members of a class or module, by name; what a base gives says nothing of the class."""
    rows = [row for row in index.below(path) if row["public_because"] != PublicBecause.INHERITED]
    return {row["path"].rpartition(".")[2]: index.owners.get(row["canonical_path"], row) for row in rows}
