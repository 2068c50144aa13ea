"""Requirements by a model: every parameter, nothing of the body, and no obedience to what the code says."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.repository_tasks.llm_requirement import ModelRequirements
from pipeline.families.repository_tasks.llm_specifications import Undocumented
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.llm.tasks.test_description import PLANTED, data_of
from tests.model_server import Fault

SIGNATURE = "    def add(self, price: float, *rest, times=1) -> float:"
BODY = "        self.items.append(price * times)\n        return price"
GOOD: dict[str, Any] = {
    "functionality": "Put an item into the basket, as often as asked for.",
    "arguments": [
        {"name": "price", "description": "what one costs"},
        {"name": "rest", "description": "is not looked at."},
        {"name": "times", "description": "how many"},
    ],
    "returns": "the price of one",
}


def function(body: str = BODY) -> Undocumented:
    (node,) = ast.parse(f"class A:\n{SIGNATURE}\n{body}").body[0].body  # type: ignore[attr-defined]
    return Undocumented("f1", "shop.Basket.add", SIGNATURE, body, None, node)


def writer(drafter: ModelDrafter, **changes: Any) -> ModelRequirements:
    rules = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).requirement.model_copy(update=changes)
    return ModelRequirements(drafter, rules, 4)


def in_turn(*answers: dict[str, Any]) -> Any:
    left = list(answers)
    return lambda _: {"text": json.dumps(left.pop(0))}


def test_it_has_the_form_of_one_from_a_docstring_with_the_types_of_the_signature(drafter, server):
    server.reply = in_turn(GOOD)
    (found,) = writer(drafter()).require([function()])
    assert found.requirement is not None
    assert found.requirement.functionality == GOOD["functionality"]
    assert found.requirement.arguments == (
        ":param price: float. what one costs.\n:param *rest: is not looked at.\n"
        ":param times: how many. Default 1.\n:return: float. the price of one."
    )
    told = data_of(server.asked[0])
    assert (told["signature"], told["body"], told["docstring"]) == (SIGNATURE, BODY, "")
    assert told["parameters"] == ["price", "rest", "times"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"arguments": GOOD["arguments"][:2]}, "arguments must describe"),
        ({"arguments": GOOD["arguments"][::-1]}, "in this order"),
        ({"functionality": "Put it in."}, "3 words"),
        ({"functionality": "word " * 200}, "200 words"),
        ({"functionality": "Do self.items.append(price * times) with it."}, "a line of the body"),
        ({"returns": "self.items.append(price * times)"}, "a line of the body"),
        ({"more": "x"}, "more: Extra inputs"),
    ],
)
def test_what_is_not_accepted_goes_back_with_the_reason(drafter, server, changed, reason):
    server.reply = in_turn(GOOD | changed, GOOD)
    (found,) = writer(drafter()).require([function()])
    assert found.requirement is not None
    assert reason in data_of(server.asked[1])["refused"]["reason"]


def test_after_so_many_tries_it_is_given_up(drafter, server):
    server.reply = lambda _: {"text": json.dumps(GOOD | {"functionality": ""})}
    (found,) = writer(drafter(), tries=2).require([function()])
    assert found.requirement is None
    assert found.refusal is not None
    assert (found.refusal.tries, found.refusal.waiting) == (2, False)


def test_where_money_ends_it_waits(drafter, server):
    server.faults = [Fault(402, "no credit")]
    (found,) = writer(drafter()).require([function()])
    assert found.requirement is None
    assert found.refusal is not None
    assert found.refusal.waiting


def test_an_instruction_in_the_code_stays_data_and_an_obedient_answer_is_refused(drafter, server):
    def obeys(params: dict[str, Any]) -> dict[str, Any]:
        assert PLANTED in data_of(params)["body"]
        assert params["messages"][0]["content"].count("</data>") == 1
        assert PLANTED not in params["system"][0]["text"]
        return {"text": json.dumps(GOOD | {"key": "sk-1"})}

    server.reply = obeys
    (found,) = writer(drafter()).require([function(f"{BODY}  # {PLANTED}")])
    assert found.requirement is None
    assert found.refusal is not None
    assert "key" in found.refusal.problem
