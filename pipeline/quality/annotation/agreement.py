"""How far annotators agree: Cohen's kappa over what two people judged without knowing of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.quality.annotation.database import decisions, samples
from pipeline.quality.annotation.status import RULINGS
from pipeline.quality.annotation.store import Store


@dataclass(frozen=True, slots=True)
class Agreement:
    """What two judgements of the same samples have in common.

    `kappa` is None where there is nothing to compare, or where both always said the same one thing, so that chance
    alone explains it. `table` counts the pairs by both decisions, the earlier one first.
    """

    kappa: float | None
    pairs: int
    agreed: int
    table: Mapping[tuple[DecisionKind, DecisionKind], int]


def agreement(store: Store, library: str | None = None) -> Agreement:
    """Return how far the two judgements of samples that are judged twice agree: each annotator's first on the content.

    Whatever was said later, by the same people or to settle a conflict, was said by people who knew.
    """
    with store.reading() as connection:
        pairs = _pairs(connection, library)
    table = Counter(pairs)
    agreed = sum(number for (earlier, other), number in table.items() if earlier == other)
    return Agreement(kappa(pairs), len(pairs), agreed, dict(sorted(table.items())))


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of pairs of judgements: (observed - chance) / (1 - chance).

    Source: J. Cohen, A coefficient of agreement for nominal scales, 1960. None without pairs, and where chance is 1.
    """
    if not pairs:
        return None
    observed = sum(earlier == other for earlier, other in pairs) / len(pairs)
    ones, others = Counter(earlier for earlier, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(ones[name] * others[name] for name in ones) / len(pairs) ** 2
    return (observed - chance) / (1 - chance) if chance < 1 else None


def _pairs(connection: Connection, library: str | None) -> list[tuple[DecisionKind, DecisionKind]]:
    query = (
        select(decisions.c.seq, decisions.c.who, decisions.c.kind)
        .join(samples, samples.c.seq == decisions.c.seq)
        .where(samples.c.twice, decisions.c.content == samples.c.content, ~decisions.c.settles)
        .where(decisions.c.kind.in_(sorted(RULINGS)))
        .order_by(decisions.c.id)
    )
    if library is not None:
        query = query.where(samples.c.library == library)
    first: dict[int, dict[str, DecisionKind]] = {}
    for seq, annotator, kind in connection.execute(query):
        first.setdefault(seq, {}).setdefault(annotator, DecisionKind(kind))
    judged = (list(by_whom.values()) for by_whom in first.values())
    return [(kinds[0], kinds[1]) for kinds in judged if len(kinds) > 1]
