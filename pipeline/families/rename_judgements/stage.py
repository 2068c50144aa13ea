"""The stage `judgements`: a model judges renames and moves that are guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.states import describe_state
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Drafter
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.rename_judgements.bodies import Contents, Sources, body_head
from pipeline.families.rename_judgements.llm_judge import ModelJudge
from pipeline.families.rename_judgements.pairs import Pair, pairs
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    DocumentRow,
    JudgementRow,
    SymbolRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.tasks.forms import RenameJudgement
from pipeline.llm.tasks.rounds import Drafted, Subject
from pipeline.llm.tasks.rules import RenameJudgementRules


@dataclass(frozen=True)
class Judging:
    """What the stage needs beside tables: rules, the sources of releases, and the model."""

    rules: RenameJudgementRules
    tagging: LifecycleRules
    sources: Sources
    contents: Contents
    judge: ModelJudge


def judgements_stage(
    tables: Tables,
    judging: Judging,
) -> Output:
    """Make the table `judgements` of a library; the unit is a pair of APIs.

    Rejects: OVER_QUOTA, DRAFT_WAITING, DRAFT_REFUSED.
    """
    rules = judging.rules
    library = str(tables["releases"][0]["library"]) if tables["releases"] else ""
    rested_on = {row["change_id"] for row in (*tables["completions"], *tables["migrations"]) if row["change_id"]}
    candidates = pairs(
        tables["changes"], tables["symbols"], tables["importable_names"], rested_on, judging.tagging, rules
    )
    requested, surplus = candidates[: rules.max_requests], candidates[rules.max_requests :]
    teller = _Teller(library, tables["symbols"], tables["documents"], judging)
    subjects, rejects = parted(guarded(requested, lambda pair: pair.key, lambda pair: [(pair, teller.of(pair))]))
    judged = judging.judge.judge([subject for _, subject in subjects])
    rejects += [
        Reject(pair.key, RejectReason.OVER_QUOTA, f"a model is asked about {rules.max_requests} of a library")
        for pair in surplus
    ]
    judgements: list[JudgementRow] = []
    for (pair, _), drafted in zip(subjects, judged, strict=True):
        if drafted.form is not None:
            judgements.append(_row(library, pair, drafted.form, drafted))
            continue
        refusal = drafted.refusal
        assert refusal is not None
        reason = RejectReason.DRAFT_WAITING if refusal.waiting else RejectReason.DRAFT_REFUSED
        rejects.append(Reject(pair.key, reason, refusal.problem))
    rejects.sort(key=lambda reject: reject.key)
    return Output(
        {"judgements": sorted(judgements, key=lambda row: row["id"])},
        units_in=len(candidates),
        units_out=len(judgements),
        rejects=rejects,
    )


class _Teller:
    """The data on a pair for a model."""

    def __init__(
        self, library: str, symbols: Sequence[SymbolRow], documents: Sequence[DocumentRow], judging: Judging
    ) -> None:
        self._library = library
        self._judging = judging
        self._documents: dict[str, list[DocumentRow]] = {}
        for document in documents:
            self._documents.setdefault(document["path"], []).append(document)
        self._states: dict[str, list[SymbolRow]] = {}
        self._owners: dict[str, list[SymbolRow]] = {}
        for row in symbols:
            self._states.setdefault(row["path"], []).append(row)
            if row["kind"] != SymbolKind.ALIAS:
                self._owners.setdefault(row["canonical_path"], []).append(row)

    def of(self, pair: Pair) -> Subject:
        data = {
            "library": self._library,
            "old_version": pair.old_version,
            "new_version": pair.new_version,
            "old": self._fields(pair.path, pair.old_version),
            "new": self._fields(pair.new_path, pair.new_version),
            "confidence": pair.confidence,
        }
        return Subject(pair.key, data)

    def _fields(self, path: str, version: str) -> dict[str, Any]:
        rules = self._judging.rules
        state = next(iter(holding_at(self._states.get(path, ()), version)), None)
        if state is not None and state["kind"] == SymbolKind.ALIAS:
            state = next(iter(holding_at(self._owners.get(state["canonical_path"], ()), version)), state)
        documents = holding_at(self._documents.get(path, ()), version)
        tree = self._judging.sources(version) if state is not None else None
        return {
            "path": path,
            "signature": describe_state(state) if state is not None else None,
            "docstring": next((row["docstring"] for row in documents), "")[: rules.max_context_characters],
            "body": body_head(state, tree, self._judging.contents, rules.body_lines) if state and tree else "",
        }


def _row(library: str, pair: Pair, form: RenameJudgement, drafted: Drafted[RenameJudgement]) -> JudgementRow:
    return {
        "id": content_id(library, pair.key),
        "library": library,
        "old_version": pair.old_version,
        "new_version": pair.new_version,
        "path": pair.path,
        "new_path": pair.new_path,
        "kind": pair.kind,
        "confidence": pair.confidence,
        "change_id": pair.change_id,
        "same": form.same,
        "reason": " ".join(form.reason.split()),
        "drafter": Drafter.MODEL,
        "model": drafted.model,
        "prompt_sha256": drafted.prompt_sha256,
        "tries": drafted.tries,
        "tokens": drafted.tokens,
        "nano_usd": drafted.nano_usd,
    }
