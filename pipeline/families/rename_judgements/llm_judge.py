"""Judgements by a model on whether an API lives on under another path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.tasks.forms import RenameJudgement
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import RenameJudgementRules


@dataclass(frozen=True)
class ModelJudge:
    """Asks a model about pairs of APIs; only the form of its answers can be checked."""

    drafter: ModelDrafter
    rules: RenameJudgementRules

    def judge(self, subjects: Sequence[Subject]) -> list[Drafted[RenameJudgement]]:
        """Return the result for each pair, in their order."""

        def problems(drafts: Sequence[tuple[Subject, RenameJudgement]]) -> list[str | None]:
            return [self._problem(form.reason) for _, form in drafts]

        return draft(subjects, RenameJudgement, self.rules, self.drafter, problems)

    def _problem(self, reason: str) -> str | None:
        if not reason.strip():
            return "reason is empty"
        most = self.rules.max_reason
        return f"reason has {len(reason)} characters, at most {most} are taken" if len(reason) > most else None
