"""What is sent as the form of an answer, against what reads it."""

from __future__ import annotations

import json
from copy import deepcopy
from enum import StrEnum
from typing import Any, Literal

import pytest
from anthropic import transform_schema
from pydantic import Field

from pipeline.core.rules.load import RULES, load
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.forms import Form
from pipeline.llm.tasks.rules import draft_rules
from pipeline.llm.tasks.schema import difference

DRAFTS = draft_rules(RULES, load(RULES / "models.yaml", ModelRules))


class Kind(StrEnum):
    A = "a"
    B = "b"


class Item(Form):
    kind: Kind
    size: int = Field(ge=1, description="how many")


class Answer(Form):
    """An answer with everything that a form may have."""

    text: str = Field(max_length=10)
    items: list[Item] = Field(min_length=2)
    mode: Literal["fast"]
    note: str | None


READ = Answer.model_json_schema()
SENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "description": "two or more",
            "items": {
                "type": "object",
                "properties": {"kind": {"enum": ["b", "a"]}, "size": {"type": "integer"}},
                "required": ["kind", "size"],
                "additionalProperties": False,
            },
        },
        "text": {"type": "string", "description": "a word"},
        "mode": {"enum": ["fast"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["text", "items", "mode", "note"],
    "additionalProperties": False,
}
ITEM = ("properties", "items", "items")


def changed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    schema: Any = deepcopy(SENT)
    at = schema
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return dict(schema)


def test_the_words_the_order_and_the_limits_may_differ() -> None:
    assert difference(SENT, READ) is None


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            ("properties", "text", "type"),
            "integer",
            "answer.text: type is 'integer', and answers are read with 'string'",
        ),
        (("properties", "text", "maxLength"), 10, "answer.text: maxLength: not taken by the API"),
        (("properties", "text"), "string", "answer.text: a schema is a mapping"),
        (("properties", "more"), {"type": "string"}, "answer: the properties are items, mode, more, note, text"),
        (("properties",), None, "answer: the properties are , and"),
        (("required",), ["text"], "answer: required is ['text']"),
        (("additionalProperties",), True, "answer: additionalProperties is True"),
        (("properties", "mode", "enum"), ["slow"], "answer.mode: enum is ['slow']"),
        (("properties", "mode"), {"type": "string"}, "answer.mode: type is 'string', and answers are read with None"),
        ((*ITEM, "properties", "kind", "enum"), ["a"], "answer.items[].kind: enum is ['a']"),
        ((*ITEM, "properties", "size"), {"type": "string"}, "answer.items[].size: type"),
        ((*ITEM, "additionalProperties"), True, "answer.items[]: additionalProperties"),
        (("properties", "items"), {"type": "array"}, "answer.items: its items"),
        (("properties", "note"), {"type": "string"}, "answer.note: type"),
        (("properties", "note", "anyOf"), [{"type": "string"}], "answer.note: its items or alternatives"),
        (("properties", "note", "anyOf"), [{"type": "string"}, {"type": "integer"}], "answer.note|1: type"),
    ],
)
def test_another_structure_is_told_with_its_place(path: tuple[str, ...], value: Any, told: str) -> None:
    found = difference(changed(path, value), READ)
    assert found is not None
    assert told in found


@pytest.mark.parametrize("kind", [name for name, _ in DRAFTS])
def test_what_is_sent_is_what_the_sdk_would_send_but_for_the_words(kind: str) -> None:
    rules = getattr(DRAFTS, kind)
    form = dict(rules.form)
    assert transform_schema(form) == form, "nothing of it has to be rewritten for the API"
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
def test_characters_that_no_reader_sees_are_refused_wherever_they_stand(text: str) -> None:
    item = {"kind": "a", "size": 1}
    good = {"text": "a\n\tß 数²½…é", "items": [item, item], "mode": "fast", "note": None}
    assert Answer.model_validate_json(json.dumps(good)).text == good["text"]
    for changed in ({"text": text}, {"note": text}):
        with pytest.raises(ValueError, match=r"holds U\+[0-9A-F]{4,5}, which no reader sees"):
            Answer.model_validate_json(json.dumps(good | changed))
