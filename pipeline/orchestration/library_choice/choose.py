"""The choice: down the ranking, until enough libraries suit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.libraries import Unsuited
from pipeline.index.library_facts import Fact, Ranked
from pipeline.index.licences import is_allowed
from pipeline.orchestration.library_choice.rules import ChoosingRules


@dataclass(frozen=True, slots=True)
class Considered:
    """What came of a library; no reason means that it was chosen, no fact that the index was not asked."""

    ranked: Ranked
    reason: Unsuited | None
    detail: str
    fact: Fact | None


def choose(
    ranking: Iterable[Ranked], facts: Mapping[str, Fact], rules: ChoosingRules, licences: Collection[str]
) -> list[Considered]:
    """Return every library that was considered, most downloaded first; the last one is the last that was chosen.

    What is not known refuses nobody: the crawl finds it out, and says so.
    """
    considered: list[Considered] = []
    chosen = 0
    for ranked in ranking:
        if chosen == rules.wanted:
            break
        fact = facts.get(ranked.library)
        unsuited = _unsuited(ranked, fact, rules, licences)
        reason, detail = unsuited or (None, "")
        considered.append(Considered(ranked, reason, detail, fact))
        chosen += reason is None
    return considered


def _unsuited(
    ranked: Ranked, fact: Fact | None, rules: ChoosingRules, licences: Collection[str]
) -> tuple[Unsuited, str] | None:
    """Return why a library does not suit: a curator's word first, then its name and summary, then the index."""
    if ranked.library in rules.refused_by_hand:
        return rules.refused_by_hand[ranked.library]
    for pattern in rules.patterns:
        if pattern.hits(ranked.library, ranked.summary):
            return pattern.reason, ranked.library if pattern.name else ranked.summary
    if fact is None:
        return _unasked(ranked, rules)
    if fact.releases < rules.min_releases:
        return Unsuited.FEW_RELEASES, f"{fact.releases} since {rules.since}, {rules.min_releases} are wanted"
    if fact.licence is not None and not is_allowed(fact.licence, licences):
        return Unsuited.LICENCE, f"{fact.licence_of}: {fact.licence}"
    return None


def _unasked(ranked: Ranked, rules: ChoosingRules) -> tuple[Unsuited, str] | None:
    """Judge by the month of the newest release, which the ranking tells."""
    if ranked.month and ranked.month < rules.since.isoformat()[:7]:
        return Unsuited.FEW_RELEASES, f"the newest, {ranked.version}, is of {ranked.month}"
    return None
