"""The review database on a real PostgreSQL server does what it does on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.quality.annotation import rows, test_agreement, test_decisions, test_filling, test_queue, test_store
from tests.servers import postgresql

pytestmark = pytest.mark.slow

SAME = (
    test_store.test_migrations_make_the_declared_tables,
    test_store.test_a_database_is_opened_again_as_it_was,
    test_store.test_a_failing_transaction_writes_nothing,
    test_store.test_many_annotators_at_once_decide_each_sample_once,
    test_store.test_a_writer_waits_until_another_one_is_done,
    test_queue.test_two_judge_without_seeing_each_other,
    test_decisions.test_a_conflict_is_settled_by_a_decision_that_knows_of_it,
    test_filling.test_the_same_again_changes_nothing,
    test_filling.test_an_unflagged_sample_is_removed_and_returns_with_its_decision,
    test_filling.test_changed_content_asks_again_and_shows_the_old_decision,
    test_agreement.test_agreement_counts_independent_decisions,
)
"""Tests of the store that are run over here again."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on loopback that ends with the tests, without the name of a database."""
    with postgresql() as address:
        yield address.replace("postgresql://", "postgresql+psycopg://")


@pytest.mark.parametrize("same", SAME, ids=lambda test: test.__name__.removeprefix("test_"))
def test_it_is_the_same_as_on_sqlite(
    server: str, same: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    name = f"reviews_{SAME.index(same)}"
    with psycopg.connect(f"{server.replace('+psycopg', '')}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    monkeypatch.setattr(rows, "address_in", lambda folder: f"{server}/{name}")
    same(tmp_path)
