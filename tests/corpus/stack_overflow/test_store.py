"""The store of posts: what is added is there, all or nothing, and a damaged file says what to do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.corpus.stack_overflow.store import ListingPosition, open_store
from pipeline.lake.stage import Reject
from tests.corpus.stack_overflow.builders import day


def post(number: int, question: int, body: str = "text", **more: object) -> Post:
    return Post(id=number, question=question, body=body, score=0, created=day(2021), **more)  # type: ignore[arg-type]


def test_posts_come_back_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    question, answers = (
        post(1, 1, tags=("a",), title="T"),
        [post(3, 1, author_id=8), post(2, 1, author="Bo", author_id=9)],
    )
    with open_store(tmp_path / "store.sqlite") as store, store.transaction():
        for each in (*answers, question, post(5, 4)):
            store.add(each)
        store.assign("b", 1)
        store.assign("a", 1)
        store.assign("a", 1)
        store.name_author(8, "Ada")
        store.name_author(9, "Bob")
    with open_store(tmp_path / "store.sqlite") as store:
        assert store.post(1) == question
        assert store.post(7) is None
        assert [(each.id, each.author) for each in store.answers(1)] == [(2, "Bo"), (3, "Ada")]
        assert store.libraries_of(1) == ["a", "b"]
        assert (store.questions("a"), store.questions("c")) == ([1], [])
        assert list(store.unnamed_authors()) == [8]


def test_heads_without_answers_are_forgotten(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store, store.transaction():
        for each in (post(1, 1, ""), post(2, 2, ""), post(3, 2), post(4, 4)):
            store.add(each)
            store.assign("a", each.question)
        store.forget_heads()
        assert store.questions("a") == [2, 4]
        assert store.post(1) is None


def test_a_failed_transaction_writes_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        with suppress(ZeroDivisionError), store.transaction():
            store.add(post(1, 1))
            raise ZeroDivisionError
        assert store.post(1) is None


def test_rejects_and_places_are_stored(tmp_path: Path) -> None:
    reject = Reject("Posts.xml:7", RejectReason.UNREADABLE, "why")
    with open_store(tmp_path / "store.sqlite") as store:
        store.refuse("a", reject)
        store.note_listing("q", ListingPosition(5, 2))
        store.note_listing("q", ListingPosition(6, 1, ended=True))
    with open_store(tmp_path / "store.sqlite") as store:
        assert (list(store.refused("a")), list(store.refused("b"))) == ([reject], [])
        assert (store.listing("q"), store.listing("r")) == (ListingPosition(6, 1, ended=True), None)


@pytest.mark.parametrize("damage", [b"no database" * 1000, bytes(9000)])
def test_a_damaged_store_begins_anew(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(damage)
    with open_store(path) as store:
        assert store.listing("q") is None
    assert f"{path} was damaged" in caplog.text
