"""The queue follows the lake, and no decision is lost on the way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.review import FlagKind, RejectReason
from pipeline.lake.schema import table
from pipeline.quality.annotation.database import queue, samples, tallies
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.filling import Filled, drawn, fill
from pipeline.quality.annotation.queue import Filter, look, page, progress
from pipeline.quality.annotation.review_rows import settled
from pipeline.quality.annotation.status import counting
from pipeline.quality.annotation.store import Store
from tests.quality.annotation.rows import ANNOTATION, sample, store_in

ACCEPT = NewDecision(DecisionKind.ACCEPT)
FIRST = [sample(n) for n in range(4)]


def consistent(store: Store) -> None:
    """The queue and the counts are those that the samples ask for."""
    with store.reading() as connection:
        rows = connection.execute(select(samples)).mappings().all()
        entries = {(row.flag, row.seq, row.status) for row in connection.execute(select(queue))}
        kept = {(row.flag, row.library, row.status): row.samples for row in connection.execute(select(tallies))}
    there = [(flag, row) for row in rows if not row["gone"] for flag in {"", *(kind for kind, _ in row["flags"])}]
    assert entries == {(flag, row["seq"], row["status"]) for flag, row in there}
    counted = Counter((flag, row["library"], row["status"]) for flag, row in there)
    assert {key: number for key, number in kept.items() if number} == dict(counted)


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    assert fill(store, "lib", FIRST) == Filled(added=4)
    assert fill(store, "lib", FIRST) == Filled()
    consistent(store)


def test_an_unflagged_sample_is_removed_and_returns_with_its_decision(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", FIRST)
    decide(store, "id0", "ann", ACCEPT)
    assert fill(store, "lib", FIRST[2:]) == Filled(gone=2)
    assert [entry.id for entry in page(store, Filter()).entries] == ["id2", "id3"]
    assert [row["instance_id"] for row in settled(store, "lib")[0]] == ["id0"]
    consistent(store)
    assert fill(store, "lib", FIRST) == Filled(updated=2)
    assert look(store, "id0").entry.status == QueueStatus.SUBMITTED
    consistent(store)


def test_changed_content_asks_again_and_shows_the_old_decision(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", FIRST)
    decide(store, "id0", "ann", ACCEPT)
    assert fill(store, "lib", [sample(0, content="second"), *FIRST[1:]]) == Filled(again=1, updated=1)
    (old,) = look(store, "id0").history
    assert (old.of_this, old.counts, look(store, "id0").entry.status) == (False, False, QueueStatus.PENDING)
    assert settled(store, "lib") == ([], [])
    consistent(store)
    # what was decided counts again once the content is what it was
    assert fill(store, "lib", FIRST) == Filled(updated=1)
    assert progress(store)[QueueStatus.SUBMITTED] == 1


def test_another_flag_reopens_a_sample_and_a_removed_one_does_not(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", [sample(0, FlagKind.AUDIT, FlagKind.TOO_LONG), *FIRST[1:]])
    decide(store, "id0", "ann", ACCEPT)
    assert fill(store, "lib", FIRST).again == 0
    assert look(store, "id0").entry.status == QueueStatus.SUBMITTED
    assert fill(store, "lib", [sample(0, FlagKind.AUDIT, FlagKind.FLAKY), *FIRST[1:]]).again == 1
    consistent(store)


def test_other_libraries_do_not_change(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", FIRST)
    assert fill(store, "other", [sample(9, library="other")]) == Filled(added=1)
    assert progress(store)[QueueStatus.PENDING] == 5


def test_the_share_that_two_judge_is_drawn_by_id(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path, ANNOTATION)
    twice = sum(drawn(store, f"id{n}") for n in range(2000))
    assert 0.7 * ANNOTATION.twice.share < twice / 2000 < 1.3 * ANNOTATION.twice.share


def test_a_settled_decision_is_a_row_of_reviews(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", FIRST)
    decide(store, "id1", "ann", NewDecision(DecisionKind.REJECT, Objection.LICENCE, "GPL in the header"))
    ((row,), _) = settled(store, "lib")
    table("reviews").check(row)
    assert (row["kind"], row["objection"], row["flags"]) == (DecisionKind.REJECT, Objection.LICENCE, ["audit"])
    assert "ann" not in row.values()


def test_a_sample_that_raises_is_a_reject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = store_in(tmp_path)
    fill(store, "lib", FIRST)
    for name in ("id0", "id1"):
        decide(store, name, "ann", ACCEPT)

    def planted(*args: Any) -> Any:
        monkeypatch.setattr("pipeline.quality.annotation.review_rows.counting", counting)
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("pipeline.quality.annotation.review_rows.counting", planted)
    made, rejects = settled(store, "lib")
    assert [row["instance_id"] for row in made] == ["id1"]
    assert [(reject.key, reject.reason) for reject in rejects] == [("id0", RejectReason.INTERNAL_ERROR)]
