"""Rows that ask the same: one task is one row, and a prompt has one answer."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason, ReviewStatus
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence, Granularity
from pipeline.families.proof import Runs
from pipeline.lake.rows import VerdictRow
from pipeline.quality.acceptance.same_prompts import (
    few_of_each_move,
    migration_task,
    one_answer,
    one_of_alike,
    one_of_each,
    one_row,
    passing_versions,
    replaced_names,
    surest_first,
    versions_of_reference,
)


def row(id_: str, version: str = "1.0", answer: str = "take", **columns: Any) -> Any:
    return {
        "id": id_,
        "version": version,
        "prompt": "[token-mask](x)",
        "granularity": Granularity.TOKEN,
        "answer": answer,
        "evidence": Evidence.EXECUTED,
        "libevolutioneval_tag": LibEvolutionEvalTag.UNCHANGED,
        "neighbour_outcome": Outcome.PASSED,
    } | columns


def test_a_prompt_with_two_answers_has_none() -> None:
    rows = [row("a"), row("b", answer="take_all"), row("c", "1.1"), row("d", "1.1")]
    kept, rejects = one_answer(rows, ("version", "prompt"), itemgetter("answer"))
    assert [each["id"] for each in kept] == ["c", "d"]
    assert [(reject.key, reject.reason) for reject in rejects] == [
        ("a", RejectReason.SEVERAL_ANSWERS),
        ("b", RejectReason.SEVERAL_ANSWERS),
    ]


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ({}, "first"),
        ({"libevolutioneval_tag": LibEvolutionEvalTag.MODIFIED}, "later"),
        ({"neighbour_outcome": Outcome.API_MISSING}, "later"),
        ({"neighbour_outcome": Outcome.API_MISSING, "evidence": Evidence.STATIC}, "first"),
    ],
    ids=["the first release", "the release that changed it", "the release that a run tells apart", "no proof"],
)
def test_a_task_keeps_its_most_informative_row(later: Any, expected: str) -> None:
    kept, rejects = one_row([row("later", "1.10", **later), row("first", "1.9")], ("prompt", "answer"))
    assert [each["id"] for each in kept] == [expected]
    assert [reject.reason for reject in rejects] == [RejectReason.DUPLICATE]


def test_versions_in_which_the_answer_is_right() -> None:
    outcomes = {"1.10": Outcome.PASSED, "1.9": Outcome.PASSED, "2.0": Outcome.API_MISSING}
    verdicts: list[VerdictRow] = [
        {"id": version, "subject_id": "s", "version": version, "outcome": outcome}
        for version, outcome in outcomes.items()
    ]
    assert passing_versions(Runs(verdicts), "s", ["1.10", "1.11", "1.9", "2.0"]) == ["1.9", "1.10"]


def test_a_reference_is_right_in_its_version_and_where_it_passes_in_another() -> None:
    others: list[Any] = [
        {"version": "1.10", "outcome": Outcome.PASSED},
        {"version": "1.11", "outcome": Outcome.API_MISSING},
    ]
    assert versions_of_reference("1.9", others) == ["1.9", "1.10"]
    assert versions_of_reference("1.9", ()) == ["1.9"]


def test_of_rows_that_differ_in_the_code_around_the_first_by_the_order_remains() -> None:
    rows = [row("a", code="long()"), row("b", code="s()"), row("c", code="s()"), row("d", answer="take_all", code="")]
    kept, rejects = one_of_alike(rows, itemgetter("prompt", "answer"), lambda each: (len(each["code"]),))
    assert [each["id"] for each in kept] == ["b", "d"]
    assert [(reject.key, reject.reason) for reject in rejects] == [
        ("c", RejectReason.NEAR_DUPLICATE),
        ("a", RejectReason.NEAR_DUPLICATE),
    ]


def test_a_row_that_is_refused_for_one_task_refuses_none_for_another() -> None:
    rows = [row("a", prompt="1", answer="x"), row("b", prompt="1", answer="y"), row("c", prompt="2", answer="y")]
    kept, rejects = one_of_each(rows, (itemgetter("prompt"), itemgetter("answer")), lambda each: (each["id"],))
    assert [each["id"] for each in kept] == ["a", "c"]
    assert [(reject.key, reject.reason) for reject in rejects] == [("b", RejectReason.NEAR_DUPLICATE)]


def migration(path: str, target_path: str) -> Any:
    names: Any = {"source_name": path.rpartition(".")[2], "target_name": target_path.rpartition(".")[2]}
    releases: Any = {"version": "1.0", "target_version": "2.0", "basis": "example_changed", "change_id": None}
    return row(path, path=path, target_path=target_path, **names, **releases)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (("lib.Old.to_tuple", "lib.New.to_tuple"), ("lib.Old.to_dict", "lib.New.to_dict"), True),
        (("lib.Old.to_tuple", "lib.New.to_tuple"), ("lib.Old.to_dict", "lib.New.as_dict"), False),
        (("lib.Frame.append", "lib.Frame.concat"), ("lib.Series.append", "lib.Series.concat"), False),
        # Other functions of the module may have stayed where they were.
        (("lib.old.merge", "lib.new.merge"), ("lib.old.join", "lib.new.join"), False),
        (("lib.merge", "lib.Tools.merge"), ("lib.join", "lib.Tools.join"), False),
    ],
)
def test_methods_of_a_class_that_got_another_name_ask_for_the_same(
    first: tuple[str, str], second: tuple[str, str], alike: bool
) -> None:
    assert (migration_task(migration(*first)) == migration_task(migration(*second))) == alike


def test_of_completions_that_are_alike_a_run_counts_more_than_a_review_and_that_more_than_long_code() -> None:
    pending, unflagged = ReviewStatus.PENDING, ReviewStatus.UNFLAGGED
    shown = {
        "granularity": Granularity.LINE,
        "masked_code": "[token-mask](1)\n[line-mask]\n",
        "answer": "fetch(2)",
        "core_token": "fetch",
    }
    rows = [
        row("static", code="s()", evidence=Evidence.STATIC, review_status=unflagged),
        row("pending", code="s()", evidence=Evidence.EXECUTED, review_status=pending),
        row("later", version="1.10", code="long()", evidence=Evidence.EXECUTED, review_status=unflagged),
        row("first", version="1.9", code="long()", evidence=Evidence.EXECUTED, review_status=ReviewStatus.ACCEPTED),
        row("longest", code="longest()", evidence=Evidence.EXECUTED, review_status=unflagged),
        row("shown", code="the longest()", evidence=Evidence.EXECUTED, review_status=unflagged, **shown),
    ]
    order = ["longest", "first", "later", "shown", "pending", "static"]
    assert [each["id"] for each in sorted(rows, key=surest_first)] == order


@pytest.mark.parametrize(("basis", "alike"), [("dependent_changed", True), ("test_changed", False)])
def test_dependents_that_moved_by_one_change_ask_for_the_same(basis: str, alike: bool) -> None:
    one = migration("lib.old", "lib.new") | {"basis": basis, "change_id": "a"}
    other = one | {"version": "1.1", "target_version": "2.1"}
    assert (migration_task(one) == migration_task(other)) == alike
    assert migration_task(one) != migration_task(one | {"change_id": "b"})


RENAMED = {
    "source_code": "@demo.after(many=True)\ndef f(): ...",
    "target_code": "@demo.after(group=True)\ndef f(): ...",
}


@pytest.mark.parametrize(
    ("basis", "other", "alike"),
    [
        ("parameters", {"source_code": "demo.before(many=1)", "target_code": "demo.before(group=1)"}, True),
        ("parameters", {"source_code": "demo.before(many=1)", "target_code": "demo.before(one=1)"}, False),
        ("parameters", RENAMED | {"target_version": "3.0"}, False),
        ("parameters", {"source_code": "demo.before(1, 2)", "target_code": "demo.before(1)"}, False),
        # The same name may stand for two APIs that went.
        ("renamed", RENAMED, False),
    ],
)
def test_calls_that_give_the_same_new_parameter_ask_for_the_same(basis: str, other: Any, alike: bool) -> None:
    one = migration("demo.after", "demo.after") | RENAMED | {"basis": basis}
    another = migration("demo.before", "demo.before") | {"basis": basis} | other
    assert (replaced_names(one) == replaced_names(another)) == alike


def test_of_what_moved_together_a_few_migrations_remain() -> None:
    moves = [
        ("lib.errors.A", "lib.v1.errors.A"),
        ("lib.errors.A.code", "lib.v1.errors.A.code"),
        ("lib.errors.B", "lib.v1.errors.B"),
        # another name, another place, the same path, and the way back
        ("lib.errors.C", "lib.v1.errors.D"),
        ("lib.errors.E", "lib.faults.E"),
        ("lib.call", "lib.call"),
        ("lib.v1.errors.B", "lib.errors.B"),
    ]
    rows = [migration(*move) for move in moves]
    kept, rejects = few_of_each_move(rows, 2)
    assert [each["path"] for each in kept] == [old for number, (old, _) in enumerate(moves) if number != 2]
    assert [(reject.key, reject.reason) for reject in rejects] == [("lib.errors.B", RejectReason.NEAR_DUPLICATE)]
    assert few_of_each_move([*rows[:2], rows[2] | {"target_version": "3.0"}], 2)[1] == []


def test_calls_in_which_no_name_gives_way_ask_for_different_things() -> None:
    calls = [("demo.sort([2, 1], 7)", "demo.sort([2, 1])"), ("demo.read('x', 3)", "demo.read('x', n=3)")]
    rows = [
        migration(f"demo.{old[5:9]}", f"demo.{old[5:9]}") | {"source_code": old, "target_code": new}
        for old, new in calls
    ]
    assert len({replaced_names(row | {"basis": "parameters"}) for row in [*rows, rows[0] | {"id": "other"}]}) == 3
