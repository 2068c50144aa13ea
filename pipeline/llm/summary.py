"""What a run asked of a model and what that cost, by kind of draft, as its folder and the ledger tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.lake.damage import read_state
from pipeline.lake.runner import write_json
from pipeline.llm.client.ledger import Ledger
from pipeline.llm.client.rules import NANO, ModelRules
from pipeline.llm.client.store import Store
from pipeline.llm.client.tally import Tally

_FOLDER = "drafted"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run and the month of now have cost, in nano-dollars, with what is reserved; and what they may cost."""

    run: int
    run_limit: int
    month: int
    month_limit: int


def keep_tallies(folder: Path, library: str, stage: str, tallies: Mapping[DraftKind, Tally]) -> None:
    """Leave in the folder of a run what a stage asked of a model for a library, if anything.

    A stage that broke off and is tried again judges all drafts again, but sends only what was not answered yet: of
    the first try what was sent still counts.
    """
    path = folder / _FOLDER / f"{library}.{stage}.json"
    before = _read(path)
    counted = {kind: tally for kind, tally in tallies.items() if tally != Tally()}
    sent = {kind: Tally(tally.requests, tally.retries) for kind, tally in before.items() if counted}
    merged = {
        kind: sent.get(kind, Tally()) + counted.get(kind, Tally()) for kind in DraftKind if kind in {*sent, *counted}
    }
    if merged:
        write_json(path, {kind: asdict(tally) for kind, tally in merged.items()})


def _read(path: Path) -> dict[DraftKind, Tally]:
    stored = read_state(path) or {}
    return {kind: Tally(**stored[kind]) for kind in DraftKind if kind in stored}


def tallies_of(folder: Path) -> dict[DraftKind, Tally]:
    """Return what a run asked of a model, by kind in the order of the vocabulary; empty where it asked nothing."""
    tallies: dict[DraftKind, Tally] = {}
    for path in sorted((folder / _FOLDER).glob("*.json")):
        for kind, tally in _read(path).items():
            tallies[kind] = tallies.get(kind, Tally()) + tally
    return {kind: tallies[kind] for kind in DraftKind if kind in tallies}


def spent_by(answers: Path, rules: ModelRules, run: str) -> Spent:
    """Return what a run has cost, beside the limits; requests that were never answered count what is reserved."""
    limits = (_nano(rules.run_usd), _nano(rules.month_usd))
    if not answers.is_file():
        return Spent(0, limits[0], 0, limits[1])
    ledger = Ledger(Store(answers), rules.limits, run)
    return Spent(ledger.spent(), limits[0], ledger.spent_this_month(), limits[1])


def _nano(usd: Decimal) -> int:
    return int(usd * NANO)
