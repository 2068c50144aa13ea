"""No row of a snapshot is silently away: each that went is named with why, and stands in the split `deprecated`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.lake.rows import ReviewRow
from pipeline.lake.tables import read_parquet, write_parquet
from pipeline.snapshots.comparison.errata import CONCERNED, Errata, errata_of
from pipeline.snapshots.format.rows import TABLES
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_snapshot, stamp

Tables = dict[str, list[Any]]


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("last")
    return demo_snapshot(folder)


def published(last: Path) -> Tables:
    return {config: read_parquet(last / "data" / f"{config}.parquet") for config in TABLES if config != "errata"}


def without(found: Tables, config: str, place: int = 0) -> tuple[Tables, Any]:
    """The tables without a row, and that row."""
    rows = found[config]
    return found | {config: rows[:place] + rows[place + 1 :]}, rows[place]


def rejected(stage: str, key: str, reason: RejectReason, detail: str = "seen") -> Any:
    return {"stage": stage, "library": LIBRARY, "key": key, "reason": reason, "detail": detail}


def only(errata: Errata) -> Any:
    assert len(errata.rows) == 1
    return errata.rows[0]


def place(last: Path, errata: Errata, folder: Path, new: Tables) -> Path:
    """A snapshot with these tables and errata, as far as errata are concerned."""
    for config in CONCERNED:
        write_parquet(folder / "data" / f"{config}.parquet", TABLES[config], new[config], volatile=False)
    write_parquet(folder / "data" / "errata.parquet", "errata", errata.rows)
    for config, rows in errata.deprecated.items():
        write_parquet(folder / "deprecated" / f"{config}.parquet", TABLES[config], rows, volatile=False)
    return stamp(folder)


def test_without_a_last_snapshot_and_without_a_difference_there_are_none(last: Path) -> None:
    assert errata_of(None, published(last), []) == Errata()
    assert errata_of(last, published(last), []) == Errata()


@pytest.mark.parametrize("config", CONCERNED)
def test_a_row_that_is_made_no_more_is_named_and_kept(last: Path, config: str) -> None:
    new, row = without(published(last), config)
    errata = errata_of(last, new, [])
    found = only(errata)
    assert (found["config"], found["row_id"], found["last_snapshot"]) == (config, row["id"], last.name)
    assert (found["reason"], found["kept"], found["restored"]) == (ErratumReason.NOT_MADE, True, False)
    assert errata.deprecated == {config: [row]}


@pytest.mark.parametrize(
    ("config", "stage", "key", "reason", "expected"),
    [
        ("completions", "acceptance", "{id}", RejectReason.NOT_PROVEN, ErratumReason.REFUSED),
        ("completions", "acceptance", "{id}", RejectReason.REVIEWED_OUT, ErratumReason.REVIEWED_OUT),
        ("completions", "instances", "{id} {usage_id}", RejectReason.OVER_QUOTA, ErratumReason.REFUSED),
        ("completions", "instances", "x {usage_id}", RejectReason.OVER_QUOTA, ErratumReason.NOT_MADE),
        ("completions", "contexts", "{id}", RejectReason.OVER_QUOTA, ErratumReason.NOT_MADE),
        ("completions", "drafting", "{id}", RejectReason.NO_TEXT, ErratumReason.NOT_MADE),
        (
            *("completions", "instances", "{snippet_id} {path} {version} {granularity}"),
            *(RejectReason.LEAKS_ANSWER, ErratumReason.REFUSED),
        ),
        ("migrations", "instances", "{snippet_id} {target_snippet_id}", RejectReason.SAME_CODE, ErratumReason.NOT_MADE),
        (
            *("migrations", "instances", "{snippet_id} {target_snippet_id} {path} old_to_new renamed"),
            *(RejectReason.DUPLICATE, ErratumReason.REFUSED),
        ),
        ("controlled_completions", "controlled", "{path} {version}", RejectReason.OVER_QUOTA, ErratumReason.REFUSED),
        ("problems", "problems", "{snippet_id} 1 {version}", RejectReason.NOT_PROVEN, ErratumReason.REFUSED),
        ("problems", "problems", "{snippet_id} 1 0.9", RejectReason.NOT_PROVEN, ErratumReason.NOT_MADE),
        (
            "functions",
            "functions_acceptance",
            "{function_id} {granularity}",
            RejectReason.NO_BLOCK,
            ErratumReason.REFUSED,
        ),
        ("functions", "functions_acceptance", "{function_id} other", RejectReason.NO_BLOCK, ErratumReason.NOT_MADE),
        ("repository_tasks", "repository_tasks", "{function_id}", RejectReason.NO_TEXT, ErratumReason.REFUSED),
        ("compatibilities", "compatibilities", "{snippet_id} x", RejectReason.NOT_PROVEN, ErratumReason.REFUSED),
        ("compatibilities", "compatibilities", "y x", RejectReason.NOT_PROVEN, ErratumReason.NOT_MADE),
        ("changes", "acceptance", "{id}", RejectReason.LABEL_REFUTED, ErratumReason.REFUSED),
    ],
)
def test_what_refuses_it_now_is_the_reason(
    last: Path, config: str, stage: str, key: str, reason: RejectReason, expected: ErratumReason
) -> None:
    new, row = without(published(last), config)
    found = only(errata_of(last, new, [rejected(stage, key.format(**row), reason)]))
    assert found["reason"] == expected
    assert (found["stage"], found["reject_reason"]) == (
        (None, None) if expected is ErratumReason.NOT_MADE else (stage, reason)
    )


def test_what_a_person_rejected_says_so_in_their_words(last: Path) -> None:
    new, row = without(published(last), "problems")
    objection = next(iter(Objection))
    review: ReviewRow = {"instance_id": row["id"], "kind": DecisionKind.REJECT, "objection": objection}
    found = only(errata_of(last, new, [], [review]))
    assert (found["reason"], found["detail"]) == (ErratumReason.REVIEWED_OUT, f"{objection}: {objection.meaning}")


@pytest.mark.parametrize(("later", "expected"), [(False, ErratumReason.NO_LONGER_RUNS), (True, ErratumReason.NOT_MADE)])
def test_what_ran_no_more_when_it_was_last_looked_at_says_so(last: Path, later: bool, expected: ErratumReason) -> None:
    new, row = without(published(last), "problems")
    lost: Any = {"instance_id": row["id"], "period": "2026-01", "survives": False, "reason": "gone", "detail": "a pin"}
    again = lost | {"period": "2026-02", "survives": later}
    assert only(errata_of(last, new, [], [], [again, lost]))["reason"] == expected


def test_what_stands_at_the_same_place_is_its_successor(last: Path) -> None:
    new = published(last)
    row = new["completions"][0]
    other = row | {"id": "f" * 32, "code": row["code"] + "# more\n"}
    found = only(errata_of(last, new | {"completions": [other, *new["completions"][1:]]}, []))
    assert (found["row_id"], found["reason"], found["successor_id"]) == (row["id"], ErratumReason.REPLACED, "f" * 32)


def test_a_row_that_says_something_else_is_named_with_both(last: Path) -> None:
    new = published(last)
    row = new["changes"][0]
    errata = errata_of(last, new | {"changes": [row | {"breaking": not row["breaking"]}, *new["changes"][1:]]}, [])
    found = only(errata)
    assert (found["reason"], found["kept"]) == (ErratumReason.CORRECTED, False)
    assert found["detail"] == f"breaking: {row['breaking']} -> {not row['breaking']}"
    assert errata.deprecated == {}
    status = new["completions"][0] | {"review_status": "accepted"}
    assert errata_of(last, new | {"completions": [status, *new["completions"][1:]]}, []) == Errata()


@pytest.mark.parametrize(
    ("releases", "compatible", "is_corrected"),
    [
        (["1.0", "1.1", "2.0"], ["1.1", "2.0"], False),
        (["1.0", "1.1", "2.0"], ["1.1"], False),
        (["1.0", "1.1"], ["1.0"], True),
        (["1.0", "1.1", "2.0"], ["2.0"], True),
    ],
    ids=["a release came", "a release came in which it fails", "another answer", "another answer beside a new release"],
)
def test_a_release_that_came_is_no_other_answer(
    last: Path, releases: list[str], compatible: list[str], is_corrected: bool
) -> None:
    new = published(last)
    row = new["compatibilities"][0] | {"releases": releases, "compatible": compatible}
    errata = errata_of(last, new | {"compatibilities": [row]}, [])
    assert [each["reason"] for each in errata.rows] == [ErratumReason.CORRECTED] * is_corrected


def test_a_snippet_that_is_refused_now_is_where_its_instances_went(last: Path) -> None:
    new, row = without(published(last), "completions")
    snippet = next(one for one in new["snippets"] if one["id"] == row["snippet_id"])
    new["snippets"] = [one for one in new["snippets"] if one is not snippet]
    key = f"{snippet['path']} {snippet['version']} #1"
    found = only(errata_of(last, new, [rejected("snippets", key, RejectReason.DUPLICATE, "the same stands elsewhere")]))
    assert (found["reason"], found["stage"]) == (ErratumReason.SOURCE_GONE, "snippets")
    assert found["detail"].endswith("the same stands elsewhere")


def test_a_release_that_is_gone_takes_its_rows_along(last: Path) -> None:
    new, row = without(published(last), "problems")
    new["releases"] = [one for one in new["releases"] if one["version"] != row["version"]]
    found = only(errata_of(last, new, [rejected("crawl", row["version"], RejectReason.YANKED, "withdrawn")]))
    assert (found["reason"], found["reject_reason"]) == (ErratumReason.SOURCE_GONE, RejectReason.YANKED)


def test_a_library_that_is_no_longer_covered_is_not_said_to_be_wrong(last: Path) -> None:
    assert errata_of(last, {config: [] for config in TABLES}, []) == Errata()


def test_errata_are_carried_on_and_come_out_the_same_again(last: Path, tmp_path: Path) -> None:
    new, row = without(published(last), "completions")
    first = errata_of(last, new, [])
    second = place(last, first, tmp_path / "second", new)
    assert errata_of(second, new, []) == first
    newer, problem = without(new, "problems")
    third = errata_of(second, newer, [])
    assert [(found["row_id"], found["last_snapshot"]) for found in third.rows] == [
        (row["id"], last.name),
        (problem["id"], "second"),
    ]
    assert set(third.deprecated) == {"completions", "problems"}


def test_a_row_that_comes_back_leaves_the_split_and_its_erratum_says_so(last: Path, tmp_path: Path) -> None:
    whole = published(last)
    new, _ = without(whole, "completions")
    second = place(last, errata_of(last, new, []), tmp_path / "second", new)
    back = errata_of(second, whole, [])
    assert [(found["restored"], found["kept"]) for found in back.rows] == [(True, False)]
    assert back.deprecated == {}
    third = place(last, back, tmp_path / "third", whole)
    again = errata_of(third, new, [])
    assert sorted((found["last_snapshot"], found["restored"]) for found in again.rows) == [
        (last.name, True),
        ("third", False),
    ]


def test_rows_from_before_there_was_a_column_are_carried_on_without_a_value(last: Path, tmp_path: Path) -> None:
    old = published(last)
    new, _ = without(old, "completions")
    first = place(last, errata_of(last, new, []), tmp_path / "old", new)
    newer, row = without(new, "completions")
    for split in ("data", "deprecated"):
        path = first / split / "completions.parquet"
        older = pq.read_table(path, partitioning=None).drop_columns(["neighbour_version"])
        pq.write_table(older.append_column("of_another_time", pa.array([1] * older.num_rows)), path)
    stamp(first)
    errata = errata_of(first, newer, [])
    assert [one["kept"] for one in errata.rows] == [True, True]
    assert {one["id"]: one["neighbour_version"] for one in errata.deprecated["completions"]} == {
        old["completions"][0]["id"]: None,
        row["id"]: None,
    }
    assert all("of_another_time" not in one for one in errata.deprecated["completions"])


def test_a_row_with_columns_of_another_time_is_named_but_not_kept(last: Path, tmp_path: Path) -> None:
    old = published(last)
    folder = place(last, Errata(), tmp_path / "old", old)
    path = folder / "data" / "changes.parquet"
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["breaking"]), path)
    stamp(folder)
    new, _ = without(old, "changes")
    errata = errata_of(folder, new, [])
    assert (only(errata)["kept"], errata.deprecated) == (False, {})
