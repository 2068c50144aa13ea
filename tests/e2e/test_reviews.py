"""What people decide comes into the next snapshot: flagged by a real refresh, edited in the real sandbox, published."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason, ReviewStatus
from pipeline.lake.tables import read_parquet
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, run_group
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.entries import Entry, Validation
from pipeline.quality.annotation.opening import open_reviews, take_from_lake
from pipeline.quality.annotation.queue import Filter, look, page, progress
from pipeline.quality.annotation.revalidation import Validator, revalidate
from pipeline.quality.annotation.store import Store
from pipeline.snapshots.release_checks.measures import families_of
from pipeline.snapshots.snapshot import Published
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.index_server import Index, serve

pytestmark = pytest.mark.slow(minutes=1)

REJECT = NewDecision(DecisionKind.REJECT, Objection.NOT_VERSION_SENSITIVE)


@dataclass(frozen=True)
class Demo:
    """A lake in which every instance is drawn for review, with its review database."""

    index: Index
    data: Path
    store: Store
    validator: Validator
    first: Published

    def entries(self, family: Family) -> list[Entry]:
        return list(page(self.store, Filter(family=family), limit=1000).entries)

    def edit(self, entry: Entry, **after: str) -> tuple[Validation, QueueStatus]:
        made = decide(self.store, entry.id, "ann", NewDecision(DecisionKind.EDIT, after=after))
        return revalidate(self.store, made.decision_id, self.validator)


def refresh(run: str) -> Published:
    for group in GROUPS:
        run_group(Refresh(run=run, libraries=("demo",)), group, "demo")
    return publish_refresh(Refresh(run=run, libraries=("demo",)))


def rules_in(folder: Path) -> Path:
    """The rules that ship, but every instance is drawn for review, by one person."""
    shutil.copytree(RULES, folder)
    for name, old, new in (("flags", "share: 0.02", "share: 1.0"), ("annotation", "share: 0.1", "share: 0.0")):
        path = folder / f"{name}.yaml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return folder


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    data = tmp_path_factory.mktemp("reviewed")
    with serve(Index()) as index, pytest.MonkeyPatch.context() as monkeypatch:
        publish_demo(index)
        monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
        monkeypatch.setenv("DRIFTLINE_DATA", str(data))
        monkeypatch.setenv("DRIFTLINE_RULES", str(rules_in(data / "rules")))
        first = refresh("first")
        yield Demo(index, data, *open_reviews(), first)


def rows(published: Published, table: str) -> dict[str, Any]:
    return {row["id"]: row for row in read_parquet(published.path / "data" / f"{table}.parquet")}


def test_the_refresh_has_filled_the_queue(demo: Demo) -> None:
    assert {entry.id for entry in demo.entries(Family.COMPLETION)} >= set(rows(demo.first, "completions"))
    assert progress(demo.store)[QueueStatus.PENDING] == sum(progress(demo.store).values()) > 20
    assert take_from_lake(demo.store).added == 0
    counted = families_of(demo.first.path)["completions"]
    assert counted.pending == counted.reviewable == counted.rows > 0


def test_an_edit_that_is_run_reads_no_file_and_reaches_no_host(demo: Demo) -> None:
    entry = next(entry for entry in demo.entries(Family.COMPLETION) if entry.title == "demo.greet")
    masked = look(demo.store, entry.id).view.content["masked_code"]
    port = demo.index.simple.split(":")[2].split("/")[0]
    reaches = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\n"
    for code in (f"open({str(demo.data / 'reviews.sqlite')!r})\n", reaches):
        validation, status = demo.edit(entry, masked_code=f"{masked}\n{code}")
        assert (validation.passed, status) == (False, QueueStatus.DRAFT)
        assert "No such file" in str(validation.problem) or "Connection refused" in str(validation.problem)


def test_an_edit_that_gives_the_name_away_is_not_even_run(demo: Demo) -> None:
    entry = next(entry for entry in demo.entries(Family.COMPLETION) if entry.title == "demo.make_louder")
    validation, status = demo.edit(entry, description="A make-louder of texts.")
    assert (validation.runs, status) == ((), QueueStatus.DRAFT)
    assert "gives the name away" in str(validation.problem)


def test_decisions_come_into_the_next_snapshot_and_change_nothing_after_that(demo: Demo) -> None:
    published = rows(demo.first, "completions")
    edited, rejected = (
        next(row for row in published.values() if (row["granularity"], row["path"]) == ("token", path))
        for path in ("demo.total", "demo.make_loud")
    )
    entry = look(demo.store, edited["id"]).entry
    validation, status = demo.edit(entry, masked_code=f"{edited['masked_code']}\nprint(values)\n")
    assert (validation.problem, status) == (None, QueueStatus.SUBMITTED)
    decide(demo.store, rejected["id"], "ann", REJECT)
    migration = next(iter(rows(demo.first, "migrations")))
    decide(demo.store, migration, "ann", NewDecision(DecisionKind.ACCEPT))

    second = refresh("second")
    assert verify(second.path) == []
    assert second.path != demo.first.path
    found = rows(second, "completions")
    assert found[edited["id"]]["code"] == f"{edited['code']}\nprint(values)\n"
    assert found[edited["id"]]["review_status"] == ReviewStatus.EDITED
    assert rejected["id"] not in found
    refused = {row["key"]: row["reason"] for row in read_parquet(second.path / "data" / "rejects.parquet")}
    assert refused[rejected["id"]] == RejectReason.REVIEWED_OUT
    assert rows(second, "migrations")[migration]["review_status"] == ReviewStatus.ACCEPTED
    assert {row["review_status"] for row in found.values()} == {ReviewStatus.PENDING, ReviewStatus.EDITED}
    assert not refresh("third").written
