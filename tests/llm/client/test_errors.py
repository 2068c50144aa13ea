"""Every error of the API, over HTTP: what is tried again, what ends asking, and what it may have cost."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from pipeline.core.credentials import CUT
from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import SettingsError
from pipeline.llm.client.ask import AskFailure
from pipeline.llm.client.client import Client
from pipeline.llm.client.rules import NANO, ModelRules
from tests.errors import raises
from tests.llm.client.asks import ask, failure, texts, worst_of
from tests.model_server import KEY, Fault

OF_THE_MOMENT = {
    "rate limit": Fault(429, retry_after="0"),
    "rate limit that says no time": Fault(429),
    "rate limit that says a date": Fault(429, retry_after="Sun, 22 Nov 2026 12:00:00 GMT"),
    "ramp": Fault(429, "too steep", "ramp_limit_exceeded"),
    "overloaded": Fault(529),
    "internal": Fault(500),
    "timeout of the server": Fault(504),
    "conflict": Fault(409),
    "connection lost": Fault(0, drop=True),
    "answer broken off": Fault(0, cut=True),
    "no answer in time": Fault(500, hang=1.5),
}


def _patience(fault: str) -> float:
    return 1 if fault == "no answer in time" else 20


@pytest.mark.parametrize("fault", OF_THE_MOMENT)
def test_a_transient_failure_is_tried_again(drafter, server, fault):
    server.faults = [OF_THE_MOMENT[fault]] * 2
    one = drafter(timeout=_patience(fault))
    assert texts(one, "a") == ["a"]
    assert one.client.retries == 2


@pytest.mark.parametrize("fault", OF_THE_MOMENT)
def test_a_persistent_failure_waits_and_costs_only_possible_answers(drafter, server, fault):
    server.faults = [OF_THE_MOMENT[fault]] * 4
    one = drafter(tries=2, timeout=_patience(fault))
    kinds = [result.failure and result.failure.kind for result in one.ask([ask("a"), ask("b"), ask("c")])]
    assert sorted(map(str, kinds)) == ["unreachable", "unreachable", "waiting"], "nobody waits for the third"
    assert one.requests == 2
    may_be_charged = fault in {"connection lost", "answer broken off", "no answer in time"}
    assert one.ledger.spent() == (4 * worst_of("a") if may_be_charged else 0)
    assert texts(drafter(), "a", "b", "c") == ["a", "b", "c"]


@pytest.mark.parametrize("batch_from", [9, 1])
@pytest.mark.parametrize(
    "message",
    [
        [],
        3,
        None,
        {"content": None},
        {"content": "hi"},
        {"content": [1]},
        {"model": None},
        {"usage": None},
        {"usage": {}},
        {"usage": {"input_tokens": "many", "output_tokens": 1}},
        {"usage": {"input_tokens": -5, "output_tokens": 1}},
        {"usage": {"input_tokens": 10**30, "output_tokens": 1}},
    ],
)
def test_an_answer_that_is_no_message_is_neither_stored_nor_paid(drafter, server, message, batch_from):
    right = server.message
    server.message = lambda params: right(params) | message if isinstance(message, dict) else message
    one = drafter(batch_from=batch_from)
    kind, detail = failure(one)
    told = (
        (AskFailure.WAITING, "ANTHROPIC_BASE_URL") if batch_from == 9 else (AskFailure.EXPIRED, "has no answer to it")
    )
    assert (kind, told[1] in detail) == (told[0], True)
    assert one.batches.under_way() == []
    assert one.ledger.spent() == (0 if batch_from == 9 else -(-worst_of("a") // 2)), "the provider has counted it"
    server.message = right
    assert texts(drafter(batch_from=batch_from), "a") == ["a"]


@pytest.mark.parametrize("key", ["sk-secret\n", " sk-secret "])
def test_a_key_that_is_no_header_is_an_error_without_the_key(drafter, server, key):
    one = drafter()
    one.client.sdk.api_key = key
    kind, detail = failure(one)
    assert kind is AskFailure.WAITING
    assert "ANTHROPIC_API_KEY" in detail
    assert "secret" not in detail
    assert (one.ledger.spent(), one.client.retries) == (0, 0)


def test_an_invalid_address_is_an_error(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://host:port/")
    with raises(SettingsError, "ANTHROPIC_BASE_URL", code="model_address_invalid"):
        Client(load(RULES / "models.yaml", ModelRules))


def test_a_process_that_nobody_answered_asks_no_more(drafter, server):
    server.faults = [Fault(529)] * 4
    one = drafter(tries=2)
    assert texts(one, "a", "b") == [None, None]
    assert failure(one, "c") == (AskFailure.WAITING, "no")
    assert (one.requests, server.faults, server.asked) == (2, [], [])


def test_where_nobody_listens_nothing_was_sent_and_nothing_is_charged(drafter, server):
    one = drafter(tries=2)
    one.client.sdk.base_url = "http://127.0.0.1:1"
    assert failure(one)[0] is AskFailure.UNREACHABLE
    assert one.ledger.spent() == 0


def test_every_chargeable_try_has_its_reservation_or_is_not_sent(drafter, server):
    server.faults = [Fault(0, drop=True)] * 5
    one = drafter(run_usd=Decimal(worst_of("a") * 5 // 2) / NANO)
    assert failure(one)[0] is AskFailure.WAITING
    assert (len(server.faults), one.ledger.spent()) == (3, 2 * worst_of("a"))
    assert "run_usd" in one.stopped


@pytest.mark.parametrize("fault", [Fault(400, "prompt is too long"), Fault(413, "more than 32 MB")])
def test_a_request_refused_by_the_provider_is_not_tried_again(drafter, server, fault):
    server.faults = [fault]
    one = drafter()
    results = one.ask([ask("a"), ask("b")])
    assert sorted((result.failure.kind, result.failure.detail) for result in results if result.failure) == [
        (AskFailure.BAD_REQUEST, fault.message)
    ]
    assert (one.client.retries, one.stopped, len(server.asked)) == (0, None, 1)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(401, "invalid key"),
        Fault(403, "not this model"),
        Fault(404, "no such model"),
        Fault(400, "disabled", "organization_on_hold"),
        Fault(400, "the key is disabled", "cmek_key_disabled"),
        Fault(405, "not here"),
        Fault(0, page="<h1>Sign in</h1>"),
    ],
)
@pytest.mark.parametrize("batch_from", [9, 2])
def test_an_unattributable_failure_ends_the_requests_and_waits(drafter, server, fault, batch_from):
    server.faults = [fault]
    one = drafter(batch_from=batch_from)
    results = one.ask([ask("a"), ask("b")])
    assert {result.failure.kind for result in results} == {AskFailure.WAITING}
    assert (one.client.retries, server.asked, one.batches.under_way()) == (0, [], [])
    assert (fault.message if not fault.page else "ANTHROPIC_BASE_URL") in one.stopped
    assert one.ledger.spent() == 0
    assert texts(drafter(), "a", "b") == ["a", "b"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429, "the tier's limit", "enforced_spend_limit_reached", "0"),
        Fault(429, "the contract's limit", "contract_spend_limit_reached"),
        Fault(400, "You have reached your specified API usage limits. You will regain access on 2026-12-01."),
        Fault(400, "Your credit balance is too low to access the API."),
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


def test_a_process_killed_during_a_request_may_have_to_pay_for_it(drafter, server):
    class Killed(BaseException):
        pass

    def killed(**_: Any) -> None:
        raise Killed

    one = drafter()
    one.client.sdk.messages.create = killed
    with pytest.raises(Killed):
        one.ask([ask("a")])
    assert one.ledger.spent() == worst_of("a")
    assert texts(drafter(), "a") == ["a"]
    assert one.ledger.spent() == worst_of("a")


def test_it_waits_for_the_requested_time(drafter, server):
    server.faults = [Fault(429, retry_after="0.4")]
    start = time.monotonic()
    assert texts(drafter(longest_pause_s=60), "a") == ["a"]
    assert time.monotonic() - start >= 0.4


def test_descriptions_have_at_most_the_length_of_the_rules(drafter, server):
    server.faults = [Fault(429, retry_after="3600")]
    assert texts(drafter(longest_pause_s=0.1), "a") == ["a"]


@pytest.mark.parametrize("batch_from", [9, 1])
def test_a_server_error_has_no_key(drafter, server, batch_from, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.reply = lambda _: {"text": f'{{"text": "{KEY}"}}', "stop_reason": "end_turn"}
    assert texts(drafter(batch_from=batch_from), "a") == [CUT]
    server.reply = lambda _: {"text": f'{{"{KEY}": 1}}', "stop_reason": f"stopped {KEY}"}
    assert KEY not in failure(drafter(batch_from=batch_from), "b")[1]
    server.faults = [Fault(400, f"no {KEY}")] if batch_from == 9 else []
    server.errors = {ask("c").key: ("invalid_request_error", f"no {KEY}")}
    server.outcomes = {ask("c").key: "errored"}
    assert f"no {CUT}" in failure(drafter(batch_from=batch_from), "c")[1]
    server.faults = [Fault(400, f"Your credit balance is too low, {KEY}")]
    assert KEY not in failure(drafter(batch_from=batch_from), "d")[1]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
