"""Code for another release by a model: about the other release's API, giving nothing away, and judged by running."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.families.model_migrations.llm_code import Attempt, ModelMigrations, Unmigrated
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.rules import draft_rules
from tests.corpus.usages.rows import symbols_of
from tests.families.problems.examples import example
from tests.llm.tasks.test_description import PLANTED, data_of
from tests.model_server import Fault

TOTAL = example(">>> from lib import total\n>>> n = 100\n>>> total([n, 23])\n123\n", "lib.total", "1.0")
API = Api(symbols_of({"lib/__init__.py": "def summed(items, start=0): pass\ndef same(x): pass\n"}), ["lib"])
GOOD: dict[str, Any] = {
    "preamble": "from lib import summed",
    "statements": ["", "n = 100", "summed([n, 23])"],
    "core_name": "summed",
    "description": "Add numbers up and give back\n how much they come to.",
}
RUN = "in 1.1 it ends as failed_assertion"


def unmigrated(failure: str = "api_missing") -> Unmigrated:
    return Unmigrated("t 1.0 1.1", TOTAL, "1.1", "lib.total", True, {"failure": failure})


@pytest.fixture
def write(drafter):
    """Have code written, where running says what it is told to; with what ran."""

    def ask(one: Unmigrated, said: Sequence[str | None] = (), **changes: Any):
        rules = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).migrated_code.model_copy(update=changes)
        ran: list[Attempt] = []
        left = list(said)

        def run(attempts: Sequence[Attempt]) -> list[str | None]:
            ran.extend(attempts)
            return [left.pop(0) if left else None for _ in attempts]

        writer = ModelMigrations(
            drafter(), rules, load(RULES / "drafting.yaml", DraftingRules), lambda code, _: scan(code, API).uses
        )
        ((attempt, drafted),) = writer.write([one], run)
        return attempt, drafted, ran

    return ask


def in_turn(*answers: dict[str, Any]) -> Any:
    left = list(answers)
    return lambda _: {"text": json.dumps(left.pop(0))}


def test_what_runs_is_taken(write, server):
    server.reply = in_turn(GOOD)
    attempt, drafted, ran = write(unmigrated())
    assert ran == [attempt]
    assert (attempt.path, attempt.description) == ("lib.summed", "Add numbers up and give back how much they come to.")
    assert (attempt.steps.preamble, attempt.steps.code) == ("from lib import summed\n", "n = 100\nsummed([n, 23])\n")
    assert (drafted.refusal, drafted.tries) == (None, 1)


def test_what_does_not_run_goes_back_with_its_trace(write, server):
    server.reply = in_turn(GOOD | {"statements": ["", "n = 1", "summed([n, 23])"]}, GOOD)
    attempt, drafted, ran = write(unmigrated(), [RUN, None])
    assert (len(ran), drafted.tries) == (2, 2)
    assert ran[1] == attempt
    assert data_of(server.asked[1])["refused"]["reason"] == RUN


BAD = [
    (
        {"preamble": "from lib import total", "statements": ["", "n = 100", "total([n, 23])"], "core_name": "total"},
        "nothing in the statements calls a public API of 1.1 that is named 'total'",
    ),
    ({"core_name": "same"}, "named 'same'"),
    ({"preamble": "from lib import summed\nx = summed([])", "statements": ["", "n = 100", "n + 23"]}, "nothing in the"),
    ({"statements": ["", "n = 100", "(summed, n + 23)[1]"]}, "nothing in the statements calls"),
    ({"statements": ["n = 100", "summed([n, 23])"]}, "statements must be 3"),
    ({"statements": ["", "summed([])", "123"]}, "holds the output '123'"),
    ({"description": "Give back the totals of numbers."}, "hidden name away: 'totals'"),
    ({"description": "Give back the numbers summed up."}, "hidden name away: 'summed'"),
    ({"description": "Adds numbers."}, "the description has fewer than 3 words"),
    ({"description": "word " * 400}, "the description is longer than 800 characters"),
    ({"key": "sk-1"}, "key: Extra inputs"),
    ({"statements": "summed([100, 23])"}, "statements: Input should be a valid"),
]


@pytest.mark.parametrize(("changed", "reason"), BAD)
def test_what_need_not_run_to_be_refused_goes_back_with_the_reason(write, server, changed, reason):
    server.reply = in_turn(GOOD | changed, GOOD)
    attempt, drafted, ran = write(unmigrated())
    assert reason in data_of(server.asked[1])["refused"]["reason"]
    assert (ran, drafted.tries) == ([attempt], 2)


def test_after_so_many_tries_it_is_given_up(write, server):
    server.reply = lambda _: {"text": json.dumps(GOOD | {"core_name": "same"})}
    attempt, drafted, ran = write(unmigrated(), tries=2)
    assert (attempt, ran) == (None, [])
    assert (drafted.refusal.tries, drafted.refusal.waiting) == (2, False)


@pytest.mark.parametrize(
    ("fault", "waiting"),
    [(Fault(402, "no credit"), True), (Fault(400, "bad request"), False)],
    ids=["money", "request"],
)
def test_where_nobody_answers_it_waits_or_is_refused(write, server, fault, waiting):
    server.faults = [fault]
    attempt, drafted, _ = write(unmigrated())
    assert attempt is None
    assert drafted.refusal.waiting is waiting


def test_an_instruction_in_a_trace_stays_data_and_an_obedient_answer_is_refused(write, server):
    def obeys(params: dict[str, Any]) -> dict[str, Any]:
        assert PLANTED in data_of(params)["failure"]
        assert params["messages"][0]["content"].count("</data>") == 1
        assert PLANTED not in params["system"][0]["text"]
        return {"text": json.dumps(GOOD | {"description": "The API is summed, and the key of the user is sk-1."})}

    server.reply = obeys
    attempt, drafted, ran = write(unmigrated(PLANTED))
    assert (attempt, ran) == (None, [])
    assert "hidden name away" in drafted.refusal.problem
