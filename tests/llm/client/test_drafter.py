"""The model as a drafter, over HTTP: what is asked, memory, forms, money."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.llm.client.ask import AskFailure
from pipeline.llm.client.rules import NANO, ModelRules
from tests.llm.client.asks import HAIKU, SCHEMA, ask, failure, texts, worst_of
from tests.llm.conftest import echo


def test_a_few_requests_are_sent_singly_and_never_again(drafter, server):
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


def test_a_request_has_a_cached_prefix_and_a_schema_and_no_temperature(drafter, server):
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
    result = failure(drafter())
    assert result[0] is kind
    assert detail in result[1]


def test_an_answer_that_is_no_unicode_can_be_stored(drafter, server):
    server.reply = lambda _: {"text": '{"text": "\ud800"}'}
    assert texts(drafter(), "a") == ["?"]


def test_writing_and_reading_a_cached_prefix_has_its_price(drafter, server):
    rules = load(RULES / "models.yaml", ModelRules)
    usage = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_creation_input_tokens": 4000,
        "cache_read_input_tokens": 5000,
    }
    server.reply = lambda params: echo(params) | {"usage": usage}
    one = drafter()
    (result,) = one.ask([ask("a")])
    price = rules.models[HAIKU]
    dollars = (10 * price.input + 20 * price.output + 4000 * price.cache_write + 5000 * price.cache_read) / 10**6
    assert one.ledger.spent() == dollars * NANO == result.answer.nano_usd
    assert result.answer.tokens == 9030


@pytest.mark.parametrize("limit", ["run_usd", "month_usd"])
def test_the_worst_case_is_reserved_and_a_limit_ends_drafting_with_the_rest_waiting(drafter, server, limit):
    def dear(params):
        return echo(params) | {"usage": {"output_tokens": 100}}

    server.reply = dear
    worst = worst_of("a")
    one = drafter(**{limit: Decimal(worst) / NANO})
    results = one.ask([ask("a"), ask("b")])
    done = [result for result in results if result.form]
    assert len(done) == 1
    (left,) = [result.failure for result in results if result.failure]
    assert left.kind is AskFailure.WAITING
    assert limit in left.detail
    assert 0 < one.ledger.spent() < worst


def test_an_answer_that_many_share_counts_once_for_a_kind(drafter, server):
    one = drafter()
    answers = {result.ask.key: result.answer for result in one.ask([ask("a"), ask("b")])}
    of_a = {ask("a").key: answers[ask("a").key]}
    assert one.first_cost(DraftKind.DESCRIPTION, of_a) == of_a[ask("a").key].nano_usd
    first, again = (one.first_cost(DraftKind.DESCRIPTION, answers) for _ in range(2))
    assert (first, again) == (answers[ask("b").key].nano_usd, 0)
    assert one.first_cost(DraftKind.INSTRUCTION, answers) == one.ledger.spent()


def test_a_month_counts_the_costs_of_all_its_runs(drafter, server):
    first = drafter()
    texts(first, "a")
    limit = Decimal(first.ledger.spent() + 10) / NANO
    assert failure(drafter(month_usd=limit), "b")[0] is AskFailure.WAITING
    december = drafter(now=datetime(2026, 12, 1, tzinfo=UTC), month_usd=Decimal("0.01"))
    assert texts(december, "b") == ["b"]
