"""Message batches, over HTTP: sent once, found again, collected."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.llm.client.ask import AskFailure
from tests.llm.client.asks import ask, texts, worst_of
from tests.model_server import Fault


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


def test_a_batch_without_an_id_is_identified_among_all_and_not_sent_again(drafter, server):
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


def test_a_request_possibly_in_a_running_batch_is_not_sent_again(drafter, server):
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
def test_a_refused_batch_costs_nothing_and_can_be_sent_later(drafter, server, fault):
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


@pytest.mark.parametrize(
    ("kind", "message", "failure", "ends"),
    [
        ("invalid_request_error", "too long", AskFailure.BAD_REQUEST, False),
        ("overloaded_error", "busy", AskFailure.UNREACHABLE, False),
        ("api_error", "oh", AskFailure.UNREACHABLE, False),
        ("authentication_error", "revoked", AskFailure.UNREACHABLE, False),
        ("billing_error", "no credit", AskFailure.UNREACHABLE, True),
        ("invalid_request_error", "You have reached your specified API usage limits.", AskFailure.UNREACHABLE, True),
    ],
)
def test_of_errors_in_a_batch_those_of_the_request_are_final_and_those_of_money_end_the_run(
    drafter, server, kind, message, failure, ends
):
    key = ask("a").key
    server.outcomes, server.errors = {key: "errored"}, {key: (kind, message)}
    one = drafter(batch_from=2)
    results = {result.ask.data: result for result in one.ask([ask("a"), ask("b")])}
    assert results["a"].failure.kind is failure
    assert results["b"].form
    assert (one.ledger.ended() == message) is ends


def test_a_request_without_a_result_is_abandoned_and_can_be_sent_again(drafter, server):
    server.outcomes = {ask("a").key: "omitted"}
    one = drafter(batch_from=2)
    results = {result.ask.data: result for result in one.ask([ask("a"), ask("b")])}
    assert results["a"].failure.kind is AskFailure.EXPIRED
    assert results["b"].form
    assert one.batches.under_way() == []
    assert one.ledger.spent() > worst_of("a") // 2, "it may have been paid"
    server.outcomes = {}
    assert texts(drafter(), "a", "b") == ["a", "b"]


def test_a_batch_of_other_requests_is_not_waited_for(drafter, server):
    server.looks = 10**6
    assert texts(drafter(batch_from=2, poll_s=1, wait_s=3), "a", "b") == [None, None]
    looks = server.batches["msgbatch_0"]["looks"]
    other = drafter(poll_s=1, wait_s=3)
    assert texts(other, "c") == ["c"]
    assert server.batches["msgbatch_0"]["looks"] == looks + 1, "one look whether it has ended"


def test_a_request_resent_by_another_process_is_not_dropped(drafter, server):
    """Both find that a batch never arrived; one of them has sent it again when the other comes to forgetting it."""
    server.faults = [Fault(0, drop=True)]
    assert texts(drafter(batch_from=2), "a", "b") == [None, None]
    one, slow = drafter(batch_from=2), drafter(batch_from=2)
    lost = slow.batches.under_way()
    server.looks = 10**6
    assert texts(one, "a", "b") == [None, None]
    slow.batches.forget(row.reservation for row in lost)
    assert len(slow.batches.under_way()) == 2
    server.looks = 0
    assert texts(slow, "a", "b") == ["a", "b"]
    assert len(server.batches) == 1


def test_an_answer_to_another_process_is_not_paid_again(drafter, server):
    one = drafter()
    assert texts(one, "a", "b") == ["a", "b"]
    late = drafter(batch_from=2)
    asks = {ask(data).key: ask(data) for data in "ab"}
    # `late` had looked before `one` was answered
    late._send_batches(asks)
    late._send_singly(asks)
    assert (len(server.asked), server.batches, late.ledger.spent()) == (2, {}, 0)


def test_results_that_break_off_are_read_again(drafter, server):
    server.cut_results = 2
    one = drafter(batch_from=2)
    assert texts(one, "a", "b", "c") == ["a", "b", "c"]
    assert one.client.retries == 2


def test_results_that_break_off_each_time_are_collected_by_the_next_run(drafter, server):
    server.cut_results = 3
    one = drafter(batch_from=2, tries=3)
    assert texts(one, "a", "b", "c") == [None] * 3
    assert "broke off" in one.stopped
    later = drafter(batch_from=2)
    assert texts(later, "a", "b", "c") == ["a", "b", "c"]
    assert (len(server.batches), later.requests) == (1, 0)


@pytest.mark.parametrize("how", ["archived", "deleted"])
def test_a_batch_with_expired_results_is_abandoned_and_stays_paid(drafter, server, how):
    server.looks = 10**6
    first = drafter(batch_from=2)
    assert texts(first, "a", "b") == [None, None]
    spent = first.ledger.spent()
    server.looks = 0
    if how == "archived":
        server.archived = True
    else:
        server.batches.clear()
    later = drafter()
    assert texts(later, "a", "b") == ["a", "b"]
    assert (later.batches.under_way(), first.ledger.spent()) == ([], spent)


def test_a_batch_of_somebody_else_is_not_waited_for(drafter, server):
    server.lose_next_batch = True
    assert texts(drafter(batch_from=2, tries=1), "a", "b") == [None, None]
    other = [{"custom_id": f"x{number}", "params": ask(str(number)).params} for number in range(3)]
    server.batches["other"] = {"requests": other, "looks": -(10**6)}
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]
    assert server.batches["other"]["looks"] == -(10**6), "nobody looked at it"


def test_a_process_killed_before_sending_a_batch_reserves_nothing(drafter, server):
    class Killed(BaseException):
        pass

    def killed(**_: Any) -> None:
        raise Killed

    one = drafter(batch_from=2)
    one.client.sdk.messages.batches.create = killed
    with pytest.raises(Killed):
        one.ask([ask("a"), ask("b")])
    assert one.ledger.spent() > 0
    assert texts(drafter(batch_from=2), "a", "b") == ["a", "b"]
    assert one.ledger.spent() == 0


def test_a_request_of_another_process_is_not_sent_again(drafter, server):
    server.looks = 10**6
    one, other = drafter(batch_from=2), drafter(batch_from=2)
    assert texts(one, "a", "b") == [None, None]
    # `other` looked before `one` sent
    other._send_batches({ask(data).key: ask(data) for data in "ab"})
    assert (len(server.batches), other.ledger.spent(), len(other.batches.under_way())) == (1, 0, 2)
