"""Requests for the tests of the model: a sentence about some data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from pipeline.core.rules.load import RULES, load
from pipeline.llm.client.ask import Ask, AskFailure
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.client.rules import ModelRules, Tokens

HAIKU = "claude-haiku-5-5"


class Sentence(BaseModel):
    text: str = Field(max_length=40)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


def ask(data: str, **changes: Any) -> Ask[Sentence]:
    asked = Ask(f"subject {data}", HAIKU, "Describe the code.", data, Sentence, SCHEMA, 100)
    return replace(asked, **changes)


def texts(drafter: ModelDrafter, *data: str) -> list[str | None]:
    return [item.form.text if item.form else None for item in drafter.ask([ask(text) for text in data])]


def failure(drafter: ModelDrafter, data: str = "a") -> tuple[AskFailure, str]:
    (one,) = drafter.ask([ask(data)])
    assert one.form is None
    assert one.failure is not None
    return one.failure.kind, one.failure.detail


def worst_of(data: str) -> int:
    """What a single request costs at worst: its bytes as cached input, and all of its answer."""
    rules = load(RULES / "models.yaml", ModelRules)
    return rules.cost(HAIKU, Tokens(cache_write=ask(data).most_input_tokens, output=100), batch=False)
