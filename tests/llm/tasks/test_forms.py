"""The forms of answers: the schema that is sent, and the characters that are refused."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Literal

import pytest
from anthropic import transform_schema
from pydantic import Field

from pipeline.core.rules.load import RULES, load
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.forms import Form, schema_of
from pipeline.llm.tasks.rules import draft_rules
from tests.errors import raises

DRAFTS = draft_rules(RULES, load(RULES / "models.yaml", ModelRules))


class Kind(StrEnum):
    A = "a"
    B = "b"


class Item(Form):
    kind: Kind
    size: int = Field(ge=1, description="a limit and a description of pydantic")


class Answer(Form):
    """An answer with everything that a form may have."""

    text: str = Field(max_length=10)
    items: list[Item] = Field(min_length=2)
    mode: Literal["fast", "slow"]
    notes: list[str]


def test_the_schema_has_the_fields_of_the_form_and_the_descriptions_of_the_curator() -> None:
    described = {"mode": "how", "items": "two or more", "items.kind": "which", "text": "a word"}
    assert json.dumps(schema_of(Answer, described)) == json.dumps(
        {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "a word"},
                "items": {
                    "type": "array",
                    "description": "two or more",
                    "items": {
                        "type": "object",
                        "properties": {
                            "kind": {"enum": ["a", "b"], "description": "which"},
                            "size": {"type": "integer"},
                        },
                        "required": ["kind", "size"],
                        "additionalProperties": False,
                    },
                },
                "mode": {"enum": ["fast", "slow"], "description": "how"},
                "notes": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["text", "items", "mode", "notes"],
            "additionalProperties": False,
        }
    )


@pytest.mark.parametrize("field", ["size", "items.sizes", "items.kind.a", "", "text.more"])
def test_a_description_of_no_field_is_an_error(field: str) -> None:
    with raises(ValueError, code="rule_reference_unknown"):
        schema_of(Answer, {field: "more"})


@pytest.mark.parametrize("kind", [name for name, _ in DRAFTS])
def test_the_sdk_would_send_the_same_schema(kind: str) -> None:
    rules = getattr(DRAFTS, kind)
    assert transform_schema(rules.form) == rules.form, "nothing of it has to be rewritten for the API"
    assert rules.answer.model_config["extra"] == "forbid"


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "a\x1b[2J",
        "a\u202eb",
        "a\u2066b",
        "a\u2028b",
        "\ufeffa",
        "a\rb",
        "a\u200bb",
        "a\xadb",
        "\uff41b",
        "\ufb01le",
        "\U000e0041",
    ],
    ids=lambda text: ascii(text),
)
def test_invisible_characters_are_refused_in_every_field(text: str) -> None:
    item = {"kind": "a", "size": 1}
    good = {"text": "a\n\tß 数²½…é", "items": [item, item], "mode": "fast", "notes": []}
    assert Answer.model_validate_json(json.dumps(good)).text == good["text"]
    for changed in ({"text": text}, {"notes": ["a", text]}):
        with pytest.raises(ValueError, match=r"U\+[0-9A-F]{4,5}"):
            Answer.model_validate_json(json.dumps(good | changed))
