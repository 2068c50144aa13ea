"""Acceptance of task functions: proof, kinds of tests, coverage, and a row for each level of masking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun, TestKind
from pipeline.core.vocabularies.review import FlagKind, RejectReason, ReviewStatus
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence, Granularity
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.functions.rules import FunctionRules
from pipeline.lake.rows import PublishedChangeRow, SnippetRow, SymbolRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.reviews import reviewed_content
from tests.families.completions_and_migrations.rows import releases, symbol
from tests.families.functions.rows import CODE, SNIPPET, function, run
from tests.families.problems.examples import DRAFTING, MUTATION

QUALITY = load(RULES / "quality.yaml", QualityRules)
LEAST = load(RULES / "functions.yaml", FunctionRules)
MASKING = load(RULES / "masking.yaml", MaskingRules)

ELSEWHERE = (FunctionRun.REFERENCE_ELSEWHERE, FunctionRun.OTHER_THERE)
OF_TWO_STATEMENTS = f"{CODE.replace('return lib', 'data = lib')}    return data\n"
PROVEN = {FunctionRun.TESTS: Outcome.PASSED, FunctionRun.EMPTIED: Outcome.FAILED_ASSERTION}


def accept(
    outcomes: dict[FunctionRun, Outcome],
    executed: int | None = 3,
    snippet: SnippetRow | None = None,
    flags: Sequence[Any] = (),
    reviews: Sequence[Any] = (),
    published_changes: Sequence[PublishedChangeRow] = (),
    symbols: Sequence[SymbolRow] = (),
    others: Sequence[Any] = (),
    **columns: Any,
) -> Output:
    """Run acceptance; the other version is 1.2, which has the `symbols`."""
    runs = [run(role, outcome, executed) for role, outcome in outcomes.items()]
    runs = [row | {"version": "1.2"} if row["role"] in ELSEWHERE else row for row in runs] + [*others]
    snippets = [SNIPPET | (snippet or {})]
    decided = {"flags": flags, "reviews": reviews}
    return functions_acceptance_stage(
        {
            **decided,
            "functions": [function(**columns)],
            "function_runs": runs,
            "snippets": snippets,
            "published_changes": published_changes,
            "symbols": symbols,
            "releases": releases("1.1", "1.2"),
        },
        QUALITY,
        LEAST,
        MASKING,
        MUTATION,
        DRAFTING,
    )


def test_a_function_becomes_a_row_for_each_level_whose_masking_can_be_undone() -> None:
    code = OF_TWO_STATEMENTS
    rows = accept(PROVEN, code=code).tables["published_functions"]
    assert {row["granularity"]: row["answer"] for row in rows} == {
        Granularity.TOKEN: "take",
        Granularity.LINE: "data = lib.take(items, number)",
        Granularity.BLOCK: "data = lib.take(items, number)\n    return data",
    }
    assert len({row["id"] for row in rows}) == 3
    for row in rows:
        table("published_functions").check(row)
        assert unmask(row["masked_code"], Granularity(row["granularity"]), row["answer"], row["core_token"]) == code
        assert (row["function_id"], row["coverage"], row["emptied_outcome"]) == ("f", 1.0, Outcome.FAILED_ASSERTION)


def test_runs_in_other_releases_say_where_it_is_right_and_decide_nothing() -> None:
    others = [run(FunctionRun.OTHER_RELEASE, Outcome.PASSED) | {"version": "1.2"}]
    rows = accept(PROVEN, others=others, symbols=[symbol("lib.take", "1.2")]).tables["published_functions"]
    assert [row["versions"] for row in rows] == [["1.1", "1.2"]] * len(rows)
    assert {row["other_code"] for row in rows} == {None}


def test_other_words_and_parameters_ask_for_the_same_name() -> None:
    other = function(id="g", mutants_killed=3, description="Return the first items.\n\n- `n`: How many.")
    functions = [other, function()]
    runs = [run(role, outcome) | {"function_id": row["id"]} for row in functions for role, outcome in PROVEN.items()]
    tables: Any = {"functions": functions, "function_runs": runs, "snippets": [SNIPPET]}
    tables |= {"published_changes": [], "flags": [], "reviews": [], "symbols": [], "releases": []}
    output = functions_acceptance_stage(tables, QUALITY, LEAST, MASKING, MUTATION, DRAFTING)
    assert {row["function_id"] for row in output.tables["published_functions"]} == {"f"}
    reasons = [reject.reason for reject in output.rejects]
    assert reasons.count(RejectReason.NEAR_DUPLICATE) == len(output.tables["published_functions"]) > 0


@pytest.mark.parametrize("published", [["a"], []])
def test_a_row_refers_to_its_change_only_where_that_is_published(published: list[str]) -> None:
    rows = accept(PROVEN, published_changes=[{"id": each} for each in published], change_id="a")
    assert {row["change_id"] for row in rows.tables["published_functions"]} == {"a" if published else None}


REFUSED: dict[str, tuple[dict[str, Any], RejectReason, str]] = {
    "no licence": ({"outcomes": PROVEN, "snippet": {"licence": None}}, RejectReason.LICENCE, "no licence"),
    "another licence": ({"outcomes": PROVEN, "snippet": {"licence": "GPL-3.0-only"}}, RejectReason.LICENCE, "GPL"),
    "not run": ({"outcomes": {}}, RejectReason.NOT_PROVEN, "not run"),
    "a reference that fails": (
        {"outcomes": PROVEN | {FunctionRun.TESTS: Outcome.FLAKY}}, RejectReason.NOT_PROVEN, "flaky",
    ),
    "tests that pass with nothing": (
        {"outcomes": PROVEN | {FunctionRun.EMPTIED: Outcome.PASSED}}, RejectReason.NO_CHECK, "ends as passed",
    ),
    "time, which may be the machine's": (
        {"outcomes": PROVEN | {FunctionRun.EMPTIED: Outcome.TIMED_OUT}}, RejectReason.NO_CHECK, "timed_out",
    ),
    "too few tests": ({"outcomes": PROVEN, "functionality": 0}, RejectReason.NO_CHECK, "2 tests of 2 kinds"),
    "too few kinds": (
        {"outcomes": PROVEN, "normal_input": 0, "return_type": 0, "functionality": 3}, RejectReason.NO_CHECK, "1 kinds",
    ),
    "one result for every input": (
        {"outcomes": PROVEN, "tests": function()["tests"].replace("== [3, 1]", "== [1]")},
        RejectReason.NO_CHECK, "for all tests a body could return [1] whatever it gets",
    ),
    "a name that the description spells": (
        {"outcomes": PROVEN, "core_token": "take_first", "description": "Take the first items."},
        RejectReason.LEAKS_ANSWER, "the description spells take_first: Take, first",
    ),
    "too few lines": ({"outcomes": PROVEN, "executed": 2}, RejectReason.NOT_COVERED, "66.7% of the program"),
    "lines not measured": ({"outcomes": PROVEN, "executed": None}, RejectReason.NOT_COVERED, "0.0% of the program"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_an_insufficient_function_is_refused_once(case: str) -> None:
    given, reason, detail = REFUSED[case]
    output = accept(**given)
    (reject,) = output.rejects
    assert (reject.key, reject.reason, output.units_out) == ("f", reason, 0)
    assert detail in reject.detail


DECIDED = {
    "code for the other version that fails here": (
        {FunctionRun.OTHER_THERE: Outcome.PASSED, FunctionRun.OTHER_CODEMOD: Outcome.SIGNATURE_MISMATCH},
        (FunctionRun.OTHER_CODEMOD, Evidence.EXECUTED, True),
    ),
    "code for the other version that passes here": (
        {FunctionRun.OTHER_THERE: Outcome.PASSED, FunctionRun.OTHER_EXAMPLE: Outcome.PASSED},
        (FunctionRun.OTHER_EXAMPLE, Evidence.STATIC, False),
    ),
    "code that is wrong there too": (
        {FunctionRun.OTHER_THERE: Outcome.FAILED_ASSERTION, FunctionRun.OTHER_EXAMPLE: Outcome.FAILED_ASSERTION,
         FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING},
        (FunctionRun.REFERENCE_ELSEWHERE, Evidence.EXECUTED, True),
    ),
    "code for the other version that only lacks the API which is wanted here": (
        {FunctionRun.OTHER_THERE: Outcome.PASSED, FunctionRun.OTHER_CODEMOD: Outcome.FAILED_ASSERTION,
         FunctionRun.OTHER_ANY_API: Outcome.PASSED, FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING},
        (FunctionRun.REFERENCE_ELSEWHERE, Evidence.EXECUTED, True),
    ),
    "the same answer with other results there": (
        {FunctionRun.REFERENCE_ELSEWHERE: Outcome.FAILED_ASSERTION},
        (FunctionRun.REFERENCE_ELSEWHERE, Evidence.STATIC, False),
    ),
    "the same answer with another exception there": (
        {FunctionRun.REFERENCE_ELSEWHERE: Outcome.WRONG_EXCEPTION},
        (FunctionRun.REFERENCE_ELSEWHERE, Evidence.STATIC, False),
    ),
    "code for the other version with other results here": (
        {FunctionRun.OTHER_THERE: Outcome.PASSED, FunctionRun.OTHER_EXAMPLE: Outcome.FAILED_ASSERTION},
        (FunctionRun.OTHER_EXAMPLE, Evidence.EXECUTED, True),
    ),
    "nothing known": ({}, (None, Evidence.STATIC, False)),
}  # fmt: skip


@pytest.mark.parametrize("case", DECIDED)
def test_whether_the_version_decides(case: str) -> None:
    others, expected = DECIDED[case]
    row = accept(PROVEN | others).tables["published_functions"][0]
    assert (row["other_code"], row["evidence"], row["discriminating"]) == expected


OF_THE_OTHER = {"its place": "lib.take", "another module": "lib.sub.take", "a class": "lib.Page.take"}


@pytest.mark.parametrize("place", OF_THE_OTHER)
def test_a_name_that_the_other_release_has_too_does_not_discriminate(place: str) -> None:
    """Its line may: that has the arguments."""
    modules = [symbol(path, "1.2", kind=SymbolKind.MODULE) for path in ("lib", "lib.sub")]
    there = [*modules, symbol(OF_THE_OTHER[place], "1.2")]
    runs = PROVEN | {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}
    rows = accept(runs, symbols=there, code=OF_TWO_STATEMENTS).tables
    assert {row["granularity"]: row["discriminating"] for row in rows["published_functions"]} == {
        Granularity.TOKEN: place == "a class",
        Granularity.LINE: True,
        Granularity.BLOCK: True,
    }


def test_a_new_function_of_a_name_that_a_method_of_the_other_release_has_does_not_discriminate() -> None:
    symbols = [symbol("lib.take", "1.1"), symbol("lib.Page.take", "1.2", kind=SymbolKind.METHOD)]
    runs = PROVEN | {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}
    rows = accept(runs, symbols=symbols, code=OF_TWO_STATEMENTS).tables
    assert {row["granularity"]: row["discriminating"] for row in rows["published_functions"]} == {
        Granularity.TOKEN: False,
        Granularity.LINE: True,
        Granularity.BLOCK: True,
    }


@pytest.mark.parametrize(
    ("name", "kind", "others", "expected"),
    [
        ("strip", SymbolKind.FUNCTION, {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}, False),
        ("chunked", SymbolKind.FUNCTION, {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}, True),
        ("strip", SymbolKind.METHOD, {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}, True),
        (
            "strip",
            SymbolKind.FUNCTION,
            {FunctionRun.OTHER_THERE: Outcome.PASSED, FunctionRun.OTHER_EXAMPLE: Outcome.API_MISSING},
            True,
        ),
    ],
)
def test_a_new_function_of_a_name_that_anybody_would_write_does_not_discriminate(
    name: str, kind: SymbolKind, others: dict[FunctionRun, Outcome], expected: bool
) -> None:
    """A renamed one has another name in the other release."""
    of_name: dict[str, Any] = {
        "code": CODE.replace("take", name),
        "path": f"lib.{name}",
        "core_token": name,
        "core_end_byte": CODE.index("take") + len(name),
        "description": "Shorten a list.",
    }
    rows = accept(PROVEN | others, symbols=[symbol(f"lib.{name}", "1.1", kind=kind)], **of_name).tables
    assert {row["discriminating"] for row in rows["published_functions"]} == {expected}


def test_a_function_whose_tests_accept_an_api_that_anybody_would_write_does_not_discriminate() -> None:
    runs = PROVEN | {FunctionRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING}
    symbols = [symbol(f"lib.{name}", "1.1") for name in ("take", "strip")]
    rows = accept(runs, symbols=symbols, accepted_paths=["lib.strip", "lib.take"]).tables["published_functions"]
    assert {row["discriminating"] for row in rows} == {False}


def test_where_nothing_was_measured_nothing_is_covered() -> None:
    """A program that removes its own file leaves no coverage behind."""
    runs = [run(role, outcome) | {"statements": None, "executed": None} for role, outcome in PROVEN.items()]
    (reject,) = functions_acceptance_stage(
        {
            "functions": [function()],
            "function_runs": runs,
            "snippets": [SNIPPET],
            "published_changes": [],
            "symbols": [],
            "releases": [],
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        LEAST,
        MASKING,
        MUTATION,
        DRAFTING,
    ).rejects
    assert (reject.reason, reject.detail) == (RejectReason.NOT_COVERED, "0.0% of the program, 96.5% wanted")


def test_a_function_has_the_kinds_of_its_flags() -> None:
    flags = [{"instance_id": of, "kind": kind} for of, kind in (("f", FlagKind.FLAKY), ("g", FlagKind.TOO_LONG))]
    rows = accept(PROVEN, flags=flags).tables["published_functions"]
    assert {tuple(row["flags"]) for row in rows} == {(FlagKind.FLAKY,)}
    assert accept(PROVEN, redacted=True).tables["published_functions"][0]["flags"] == []


def test_a_body_of_one_statement_is_no_line_and_no_block() -> None:
    """Problems ask for a whole body."""
    output = accept(PROVEN)
    assert {row["granularity"] for row in output.tables["published_functions"]} == {Granularity.TOKEN}
    assert {reject.key: reject.reason for reject in output.rejects} == dict.fromkeys(
        ("f line", "f block"), RejectReason.NO_BLOCK
    )


def test_a_program_that_looks_masked_is_refused_at_each_level() -> None:
    output = accept(PROVEN, code=f"{OF_TWO_STATEMENTS}# [line-mask]\n")
    assert {reject.key: reject.reason for reject in output.rejects} == dict.fromkeys(
        ("f token", "f line", "f block"), RejectReason.LEAKS_ANSWER
    )


def test_a_decision_on_a_function_holds_at_every_level() -> None:
    made = function()
    row = {
        "instance_id": made["id"],
        "library": made["library"],
        "family": Family.FUNCTION,
        "flags": [],
        "runs": [],
        "content": reviewed_content(Family.FUNCTION, made, made["description"]),
        "edits": [],
        "objection": None,
        "annotators": 1,
    }
    reject = row | {"kind": DecisionKind.REJECT, "objection": Objection.BAD_TESTS}
    assert accept(PROVEN, reviews=[reject]).reasons == {RejectReason.REVIEWED_OUT: 1}
    edit = row | {"kind": DecisionKind.EDIT, "edits": [{"name": "description", "value": "Do it well."}]}
    rows = accept(PROVEN, reviews=[edit]).tables["published_functions"]
    assert {(item["description"], item["drafter"], item["review_status"]) for item in rows} == {
        ("Do it well.", Drafter.ANNOTATOR, ReviewStatus.EDITED)
    }


@pytest.mark.parametrize(
    ("rule", "limit", "reason"),
    [
        ("min_coverage", 0.6667, None),
        ("min_coverage", 0.6668, RejectReason.NOT_COVERED),
        ("min_tests", 5, None),
        ("min_tests", 6, RejectReason.NO_CHECK),
        ("min_kinds", 2, None),
        ("min_kinds", 3, RejectReason.NO_CHECK),
    ],
)
def test_what_just_suffices_is_published(
    rule: str, limit: float, reason: RejectReason | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = {"min_coverage": 0.0, "min_tests": 1, "min_kinds": 1}
    monkeypatch.setitem(globals(), "LEAST", LEAST.model_copy(update=low | {rule: limit}))
    kinds: Any = dict.fromkeys(TestKind, 0) | dict(zip(TestKind, (3, 2), strict=False))
    output = accept(PROVEN, executed=2, **{str(kind): number for kind, number in kinds.items()})
    # this function has no block to be masked, whatever its tests are
    reasons = {reject.reason for reject in output.rejects} - {RejectReason.NO_BLOCK}
    assert reasons == ({reason} if reason else set())
    assert {row["coverage"] for row in output.tables["published_functions"]} == (set() if reason else {0.6667})
