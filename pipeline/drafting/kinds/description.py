"""Descriptions by a model, where the offline drafter has none, or had to cut a name out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from pipeline.drafting.model import Ask, Asked, ModelDrafter
from pipeline.drafting.model.fence import fenced
from pipeline.drafting.names import find_names
from pipeline.drafting.rules import DraftingRules
from pipeline.drafting.writers import Request, Text, Writer
from pipeline.lake import Reject
from pipeline.rules import Rule
from pipeline.terms import Drafter, Improves, RejectReason


class DescriptionRules(Rule):
    """How a model is asked for descriptions: `curation_rules/drafts/description.yaml`."""

    model: str
    max_tokens: int = Field(ge=1)
    tries: int = Field(ge=1)
    improves: frozenset[Improves]
    instructions: str = Field(min_length=1)


class Description(BaseModel):
    """The form of the answer."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="one or two plain English sentences")


@dataclass
class DescriptionWriter:
    """Writes offline, and asks a model for what comes out missing or redacted.

    What the model writes is taken if it has a sentence's size and gives no hidden name away; otherwise it is asked again
    with the reason, as often as the rules say. Then the offline text stands. `refused` has a note for each draft that
    was never accepted, and `waiting` counts what a later run will ask for.
    """

    offline: Writer
    drafter: ModelDrafter
    rules: DescriptionRules
    drafting: DraftingRules
    refused: list[Reject] = field(default_factory=list)
    waiting: int = 0

    def write(self, requests: Sequence[Request]) -> list[Text | None]:
        """Write a text for each request, in their order; None where nobody can."""
        texts = self.offline.write(requests)
        open_ = {
            place: self._ask(requests[place], {}) for place, text in enumerate(texts) if self._is_to_improve(text)
        }
        for attempt in range(1, self.rules.tries + 1):
            asked = dict(zip(open_, self.drafter.ask(list(open_.values())), strict=True))
            open_ = {}
            for place, one in asked.items():
                problem = self._problem(one, requests[place])
                if problem is None:
                    texts[place] = _text(one)
                elif one.answer is None:
                    self.waiting += 1
                elif attempt < self.rules.tries:
                    previous = {"refused": {"text": one.answer.text, "reason": problem}}
                    open_[place] = self._ask(requests[place], previous)
                else:
                    self.refused.append(Reject(one.ask.subject_id, RejectReason.DRAFT_REFUSED, problem))
        return texts

    def _is_to_improve(self, text: Text | None) -> bool:
        kind = Improves.MISSING if text is None else Improves.REDACTED if text.redacted else Improves.ALL
        return not self.rules.improves.isdisjoint({kind, Improves.ALL})

    def _ask(self, request: Request, previous: Mapping[str, object]) -> Ask[Description]:
        told = {"code": request.code, "docstrings": list(request.docstrings), "hidden": list(request.hidden)}
        data = fenced(told | dict(previous))
        rules = self.rules
        return Ask(request.subject_id, rules.model, rules.instructions, data, Description, rules.max_tokens)

    def _problem(self, one: Asked[Description], request: Request) -> str | None:
        """Say what is wrong with an answer; None where nothing is."""
        if one.form is None:
            return f"{one.failure.kind}: {one.failure.detail}" if one.failure else "no answer"
        text = one.form.text
        if given := find_names(text, request.hidden, self.drafting):
            return f"it gives a hidden name away: {text[slice(*given[0])]!r}"
        if len(text.split()) < self.drafting.min_words:
            return f"it has fewer than {self.drafting.min_words} words"
        if len(text) > self.drafting.max_chars * self.drafting.max_sentences:
            return f"it is longer than {self.drafting.max_chars * self.drafting.max_sentences} characters"
        return "it has more than one line" if "\n" in text.strip() else None


def _text(one: Asked[Description]) -> Text:
    assert one.form is not None
    return Text(one.form.text.strip(), False, Drafter.MODEL, one.ask.model, one.ask.prompt_sha256)
