"""The review database: its migrations, who may write when, and what cannot be opened."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.quality.annotation.database import metadata
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.queue import next_sample, progress
from pipeline.quality.annotation.store import StoreError, open_store
from tests.errors import raises
from tests.quality.annotation.rows import ONCE, filled, sample, store_in


def test_migrations_make_the_declared_tables(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_is_opened_again_as_it_was(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])
    assert progress(store_in(tmp_path)[0])[QueueStatus.PENDING] == 1


def test_a_database_of_a_newer_driftline_is_refused(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with raises(StoreError, code="reviews_newer"):
        store_in(tmp_path)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("reviews.sqlite", "reviews_address_invalid"),
        ("mysql://host/name", "reviews_address_invalid"),
        ("sqlite:////proc/none/reviews.sqlite", "reviews_unreachable"),
    ],
)
def test_an_unreadable_database_is_an_error(url: str, code: str) -> None:
    with raises(StoreError, code=code):
        open_store(url, ONCE)


def test_an_address_with_a_password_is_not_logged(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql+psycopg://ann:secret@127.0.0.1:1/reviews", ONCE)
    assert "secret" not in str(caught.value)


def test_a_failing_transaction_writes_nothing(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])

    def broken() -> None:
        with store.writing() as connection:
            connection.execute(text("DELETE FROM queue"))
            connection.execute(text("DELETE FROM no_such_table"))

    with pytest.raises(DBAPIError):
        broken()
    assert next_sample(store, "ann") is not None


def test_many_annotators_at_once_decide_each_sample_once(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, (sample(n) for n in range(40)))
    decided: list[str] = []

    def work(who: str) -> None:
        own, _ = store_in(tmp_path)
        while (found := next_sample(own, who)) is not None:
            decide(own, found.entry.id, who, NewDecision(DecisionKind.ACCEPT, content=found.entry.content))
            decided.append(found.entry.id)

    threads = [threading.Thread(target=work, args=(f"annotator {n}",)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(decided) == sorted(f"id{n}" for n in range(40))
    assert progress(store)[QueueStatus.SUBMITTED] == 40


def test_a_writer_waits_until_another_one_is_done(tmp_path: Path) -> None:
    store, other = store_in(tmp_path)[0], store_in(tmp_path)[0]
    came = threading.Event()

    def work() -> None:
        with other.writing(safe=False):
            came.set()

    thread = threading.Thread(target=work)
    with store.writing():
        thread.start()
        early = came.wait(0.3)
    thread.join()
    assert (early, came.is_set()) == (False, True)
