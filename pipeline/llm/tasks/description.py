"""Descriptions by a model, where the offline drafter has none, or had to cut a name out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Drafter, Improves
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import Description
from pipeline.llm.tasks.prose import text_problem
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import DescriptionRules
from pipeline.llm.writers import Request, Text, Writer, WriterResult


@dataclass(frozen=True)
class DescriptionWriter:
    """Writes offline, and asks a model for what comes out missing or redacted.

    What the model writes is taken if it has a sentence's size and gives no hidden name away; else the offline text
    stands.
    """

    offline: Writer
    drafter: ModelDrafter
    rules: DescriptionRules
    drafting: DraftingRules

    def write(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write a text for each request, in their order; none where nobody can."""
        return self.improve(requests, self.write_offline(requests))

    def write_offline(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write what needs no model."""
        return self.offline.write(requests)

    def improve(self, requests: Sequence[Request], written: Sequence[WriterResult]) -> list[WriterResult]:
        """Ask the model for what is missing or redacted; where it writes nothing better the offline text stays."""
        improved = list(written)
        places = [
            place
            for place, (request, text) in enumerate(zip(requests, written, strict=True))
            if self._is_to_improve(request, text.text)
        ]
        hidden = {requests[place].subject_id: requests[place].hidden for place in places}

        def judge(drafts: Sequence[tuple[Subject, Description]]) -> list[str | None]:
            return [text_problem(draft.text, hidden[subject.id], self.drafting) for subject, draft in drafts]

        subjects = [_subject(requests[place]) for place in places]
        drafted = draft(subjects, Description, self.rules, self.drafter, judge)
        for place, result in zip(places, drafted, strict=True):
            improved[place] = _written(result, written[place].text)
        return improved

    def _is_to_improve(self, request: Request, text: Text | None) -> bool:
        if text is None or text.text == request.fallback:
            kind = Improves.MISSING
        else:
            kind = Improves.REDACTED if text.redacted else Improves.ALL
        return not self.rules.improves.isdisjoint({kind, Improves.ALL})


def _written(drafted: Drafted[Description], offline: Text | None) -> WriterResult:
    if drafted.form is None:
        return WriterResult(offline, drafted.refusal)
    text = " ".join(drafted.form.text.split())
    return WriterResult(
        Text(text, False, Drafter.MODEL, drafted.model, drafted.prompt_sha256, drafted.tokens, drafted.nano_usd)
    )


def _subject(request: Request) -> Subject:
    data = {"code": request.code, "docstrings": list(request.docstrings), "hidden": list(request.hidden)}
    return Subject(request.subject_id, data)
