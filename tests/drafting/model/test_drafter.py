"""The model as a drafter, over HTTP: memory, money, batches, errors."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from pipeline.drafting.model.ask import Ask
from pipeline.drafting.model.drafter import ModelDrafter
from pipeline.drafting.model.rules import NANO, ModelRules, Tokens
from pipeline.rules import RULES, load
from pipeline.terms import AskFailure
from tests.drafting.conftest import echo
from tests.model_server import Fault

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
    return [one.form.text if one.form else None for one in drafter.ask([ask(text) for text in data])]


def failure(drafter: ModelDrafter, data: str = "a") -> tuple[AskFailure, str]:
    (one,) = drafter.ask([ask(data)])
    assert one.form is None
    assert one.failure is not None
    return one.failure.kind, one.failure.detail


def test_a_few_requests_are_asked_one_by_one_and_never_again(drafter, server):
    first = drafter()
    assert texts(first, "b", "a", "b") == ["b", "a", "b"]
    assert (first.requests, len(server.asked), server.batches) == (2, 2, {})
    again = drafter()
    assert texts(again, "a", "b") == ["a", "b"]
    assert (again.requests, again.ledger.spent()) == (0, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"max_tokens": 101},
        {"model": "claude-sonnet-5-5"},
        {"instructions": "Describe it."},
        {"schema": SCHEMA | {"description": "a sentence"}},
        {"schema": dict(reversed(SCHEMA.items()))},
    ],
)
def test_another_model_prompt_form_or_bound_is_another_request(other):
    assert ask("a", **other).key != ask("a").key
    assert ask("a", subject_id="another").key == ask("a").key


def test_what_goes_out_has_a_cached_prefix_and_a_schema_and_no_temperature(drafter, server):
    texts(drafter(), "a")
    (params,) = server.asked
    assert params["system"] == [{"type": "text", "text": "Describe the code.", "cache_control": {"type": "ephemeral"}}]
    assert params["output_config"]["format"]["schema"] == SCHEMA
    assert "temperature" not in params


@pytest.mark.parametrize(
    ("reply", "kind", "detail"),
    [
        ({"text": '{"text": "whole"}', "stop_reason": "max_tokens"}, AskFailure.CUT_OFF, "max_tokens"),
        ({"text": '{"text": "I will not"}', "stop_reason": "refusal"}, AskFailure.REFUSED, "refusal"),
        ({"text": '{"text": "x"}', "stop_reason": "pause_turn"}, AskFailure.CUT_OFF, "pause_turn"),
        ({"text": "Sure! Here it is"}, AskFailure.NOT_THE_FORM, "Invalid JSON"),
        ({"text": '{"text": 1}'}, AskFailure.NOT_THE_FORM, "text: Input should be a valid string"),
        ({"text": json.dumps({"text": "x" * 41})}, AskFailure.NOT_THE_FORM, "at most 40"),
    ],
)
def test_why_an_answer_ended_and_whether_it_is_the_form_are_looked_at(drafter, server, reply, kind, detail):
    server.reply = lambda _: reply
    found = failure(drafter())
    assert found[0] is kind
    assert detail in found[1]


@pytest.mark.parametrize("fault", [Fault(429, retry_after="0"), Fault(529), Fault(500), Fault(0, drop=True)])
def test_what_passes_is_tried_again(drafter, server, fault):
    server.faults = [fault, fault]
    one = drafter()
    assert texts(one, "a") == ["a"]
    assert one.client.retries == 2


def test_what_does_not_pass_is_named_and_costs_nothing(drafter, server):
    server.faults = [Fault(529, "busy")] * 5
    one = drafter()
    assert failure(one) == (AskFailure.UNREACHABLE, "busy")
    assert one.ledger.spent() == 0


def test_what_the_provider_does_not_take_is_not_tried_again(drafter, server):
    server.faults = [Fault(400, "prompt is too long")]
    one = drafter()
    assert failure(one) == (AskFailure.BAD_REQUEST, "prompt is too long")
    assert one.client.retries == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429, "the tier's limit", "enforced_spend_limit_reached", "0"),
        Fault(429, "the contract's limit", "contract_spend_limit_reached"),
        Fault(400, "You have reached your specified API usage limits. You will regain access on 2026-12-01."),
        Fault(402, "no credit"),
    ],
)
def test_a_spending_limit_ends_the_run_and_is_never_tried_again(drafter, server, fault):
    server.faults = [fault]
    one = drafter()
    results = one.ask([ask("a"), ask("b"), ask("c")])
    assert [result.failure.kind for result in results] == [AskFailure.WAITING] * 3
    assert {result.failure.detail for result in results} == {fault.message}
    assert (server.asked, one.client.retries, one.ledger.spent()) == ([], 0, 0)
    assert one.stopped == fault.message
    assert failure(one) == (AskFailure.WAITING, fault.message)
    other = drafter(run=one.ledger.run)
    assert failure(other) == (AskFailure.WAITING, fault.message), "another process of the same run"
    assert server.asked == []
    assert texts(drafter(), "a") == ["a"], "the next run"


@pytest.mark.parametrize("limit", ["run_usd", "month_usd"])
def test_the_worst_case_is_reserved_and_a_limit_ends_drafting_with_the_rest_waiting(drafter, server, limit):
    def dear(params):
        return echo(params) | {"usage": {"output_tokens": 100}}

    server.reply = dear
    rules = load(RULES / "models.yaml", ModelRules)
    # a single request at worst: its bytes as cached input, and all of its answer
    worst = rules.cost(HAIKU, Tokens(cache_write=ask("a").most_input_tokens, output=100), batch=False)
    one = drafter(**{limit: Decimal(worst) / NANO})
    results = one.ask([ask("a"), ask("b")])
    done = [result for result in results if result.form]
    assert len(done) == 1
    (left,) = [result.failure for result in results if result.failure]
    assert left.kind is AskFailure.WAITING
    assert limit in left.detail
    assert 0 < one.ledger.spent() < worst


def test_the_month_counts_what_other_runs_spent_and_another_month_does_not(drafter, server):
    first = drafter()
    texts(first, "a")
    limit = Decimal(first.ledger.spent() + 10) / NANO
    assert failure(drafter(month_usd=limit), "b")[0] is AskFailure.WAITING
    december = drafter(now=datetime(2026, 12, 1, tzinfo=UTC), month_usd=Decimal("0.01"))
    assert texts(december, "b") == ["b"]


def test_many_go_as_a_batch_at_half_the_price_and_are_joined_by_their_name(drafter, server):
    one = drafter(batch_from=3)
    assert texts(one, "c", "a", "b") == ["c", "a", "b"]
    assert len(server.batches) == 1
    single = drafter(batch_from=100)
    assert texts(single, "d", "e", "f") == ["d", "e", "f"]
    assert one.ledger.spent() * 2 == pytest.approx(single.ledger.spent(), rel=0.01)


def test_a_batch_that_takes_long_is_collected_by_a_later_run_and_not_sent_again(drafter, server):
    server.looks = 10**6
    assert texts(drafter(batch_from=2), "a", "b") == [None, None]
    server.looks = 0
    later = drafter(batch_from=2)
    assert texts(later, "a", "b") == ["a", "b"]
    assert (len(server.batches), later.requests) == (1, 0)
    assert later.ledger.spent() == 0, "the run that sent it pays"


def test_a_batch_whose_id_never_came_is_found_among_all_and_not_sent_again(drafter, server):
    server.batches = {f"other_{n}": {"requests": [], "looks": 9} for n in range(5)}
    server.lose_next_batch = True
    assert texts(drafter(batch_from=2, tries=1), "a", "b") == [None, None]
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]
    assert len(server.batches) == 6


def test_a_batch_may_have_arrived_though_the_line_broke_so_it_is_not_sent_again(drafter, server):
    server.lose_next_batch = True
    one = drafter(batch_from=2, tries=5)
    assert texts(one, "a", "b") == [None, None]
    assert texts(one, "a", "b") == ["a", "b"]
    assert len(server.batches) == 1


def test_what_may_be_in_a_batch_that_has_not_ended_is_not_sent_again(drafter, server):
    server.lose_next_batch = True
    assert texts(drafter(batch_from=2), "a", "b") == [None, None]
    server.looks = 10**6
    assert texts(drafter(batch_from=2), "a", "b") == [None, None]
    server.looks = 0
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]
    assert len(server.batches) == 1


@pytest.mark.parametrize(
    "fault",
    [Fault(400, "too large"), Fault(401, "invalid key"), Fault(429, "the tier", "enforced_spend_limit_reached")],
)
def test_a_batch_that_is_not_taken_costs_nothing_and_can_be_sent_later(drafter, server, fault):
    server.faults = [fault]
    one = drafter(batch_from=2)
    assert [result.failure.kind for result in one.ask([ask("a"), ask("b")])] == [AskFailure.WAITING] * 2
    assert (one.ledger.spent(), one.batches.under_way()) == (0, [])
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]


def test_of_a_batch_that_never_arrived_nothing_stays_reserved(drafter, server):
    server.faults = [Fault(0, drop=True)]
    one = drafter(batch_from=2)
    assert texts(one, "a", "b") == [None, None]
    assert one.ledger.spent() > 0, "it may have arrived"
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]
    assert one.ledger.spent() == 0
    assert len(server.batches) == 1


def test_of_a_batch_each_request_has_its_own_end(drafter, server):
    keys = {data: ask(data).key for data in "abcd"}
    server.outcomes = {keys["a"]: "errored", keys["b"]: "expired", keys["c"]: "canceled"}
    one = drafter(batch_from=2)
    results = {result.ask.data: result for result in one.ask([ask(data) for data in "abcd"])}
    kinds = {data: result.failure and result.failure.kind for data, result in results.items()}
    expired = AskFailure.EXPIRED
    assert kinds == {"a": AskFailure.BAD_REQUEST, "b": expired, "c": expired, "d": None}
    server.outcomes = {}
    assert texts(drafter(), "a", "b", "c", "d") == ["a", "b", "c", "d"]


def test_batches_keep_to_their_size(drafter, server):
    texts(drafter(batch_from=2, batch_requests=2), "a", "b", "c", "d", "e")
    assert sorted(len(batch["requests"]) for batch in server.batches.values()) == [1, 2, 2]


def test_a_wrong_key_is_told(drafter, server):
    one = drafter()
    one.client.sdk.api_key = "sk-wrong"
    assert failure(one) == (AskFailure.WAITING, "invalid key")
    assert one.ledger.spent() == 0
