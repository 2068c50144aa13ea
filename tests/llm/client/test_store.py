"""The database of what was paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.llm.client.answers import Answer, Answers
from pipeline.llm.client.ledger import BudgetReached, Ledger
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.client.store import Store
from tests.errors import raises

ANSWER = Answer("{}", "end_turn", "m", 1, 2, 3, 4, 5)
RULES_OF_MODELS = load(RULES / "models.yaml", ModelRules)


def test_nested_writes_are_committed_with_their_transaction(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "answers.sqlite")
    answers, ledger = Answers(store), Ledger(store, RULES_OF_MODELS.limits)

    def broken_off() -> None:
        with store.open():
            answers.keep("a", ANSWER)
            ledger.reserve(7)
            raise KeyError

    with pytest.raises(KeyError):
        broken_off()
    assert (answers.get("a"), ledger.spent()) == (None, 0)
    with store.open():
        answers.keep("a", ANSWER)
        ledger.reserve(7)
        with pytest.raises(BudgetReached):
            ledger.reserve(10**18)
    assert (answers.get("a"), ledger.spent()) == (ANSWER, 7)
    assert ANSWER.tokens == 10


@pytest.mark.parametrize("content", [b"no database, but more than a hundred bytes" * 9, None])
def test_a_file_that_is_no_database_is_an_error_with_advice(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(content) if content else path.mkdir()
    with raises(OSError, "answers.sqlite", code="answers_unreadable"):
        Answers(Store(path)).get("a")


def test_another_connection_reads_the_stored_rows(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    Answers(Store(path)).keep("a", ANSWER)
    assert Answers(Store(path)).get("a") == ANSWER
