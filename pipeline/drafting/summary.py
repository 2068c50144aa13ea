"""What a refresh says of its drafts: what a model was asked for and what it cost, or what one would improve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow.compute as pc

from pipeline.drafting.model.ledger import Ledger
from pipeline.drafting.model.rules import ModelRules
from pipeline.drafting.model.store import Store
from pipeline.drafting.model.tally import Tally, added
from pipeline.lake import Lake, write_json
from pipeline.terms import Improves, RejectReason

_FOLDER = "drafted"
_STAGES = ("drafting", "controlled", "contexts")
_REDACTED = {"drafts": "redacted", "controlled_completions": "redacted", "published_contexts": "query_redacted"}


def keep_tally(folder: Path, library: str, group: str, tally: Tally) -> None:
    """Leave in the folder of a run what a group of stages asked of a model for a library, if anything."""
    if tally != Tally():
        write_json(folder / _FOLDER / f"{library}.{group}.json", asdict(tally))


def tally_of(folder: Path) -> Tally | None:
    """Return what a run asked of a model; None where it asked nothing."""
    kept = [Tally(**json.loads(path.read_text())) for path in sorted((folder / _FOLDER).glob("*.json"))]
    return added(kept) if kept else None


def spent_by(answers: Path, rules: ModelRules, run: str) -> int:
    """Return what a run has cost, in nano-dollars, with what is reserved for requests that were never answered."""
    return Ledger(Store(answers), rules, run).spent() if answers.is_file() else 0


def improvable(lake: Lake, libraries: Sequence[str]) -> dict[Improves, int]:
    """Count the descriptions and queries of libraries that a model would improve: missing ones, and those cut short."""
    without = pc.field("stage").isin(_STAGES) & (pc.field("reason") == RejectReason.NO_TEXT)
    missing = sum(len(lake.read("rejects", library, without)) for library in libraries)
    redacted = sum(
        len(lake.read(table, library, pc.field(column), (column,)))
        for library in libraries
        for table, column in _REDACTED.items()
    )
    return {Improves.MISSING: missing, Improves.REDACTED: redacted}
