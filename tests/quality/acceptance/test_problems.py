"""Acceptance of problems: licence, proof and coverage, and what shows that the version decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason, ReviewStatus
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.problems.rules import ProblemRules
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.reviews import reviewed_content
from tests.families.completions_and_migrations.rows import LIBRARY, releases, symbol
from tests.families.problems.examples import DRAFTING, MUTATION
from tests.families.problems.rows import SNIPPET, problem, run

QUALITY = load(RULES / "quality.yaml", QualityRules)
RELEASES = releases("1.0", "1.1")
RELEASES_OF = {row["version"]: {name: row[name] for name in ("version", "release_time")} for row in RELEASES}
SYMBOLS = [symbol(f"lib.{name}", "1.1") for name in ("take", "strip", "strip_iter", "chunked")]
LEAST = load(RULES / "problems.yaml", ProblemRules)
PASSED, MISSING, FAILED = Outcome.PASSED, Outcome.API_MISSING, Outcome.FAILED_ASSERTION
V, H, E, C, M, T, A, R = (
    ProblemRun.VISIBLE, ProblemRun.HIDDEN, ProblemRun.OTHER_EXAMPLE, ProblemRun.OTHER_CODEMOD, ProblemRun.OTHER_MODEL,
    ProblemRun.OTHER_THERE,
    ProblemRun.OTHER_ANY_API,
    ProblemRun.REFERENCE_ELSEWHERE,
)  # fmt: skip

_OF_EDIT = ("version", "outcome", "python", "lock_id", "detail", "code", "statements", "executed")
"""What a run of edited code has of a run."""


def accept(
    runs: Mapping[ProblemRun, Outcome],
    licence: str | None = "MIT",
    executed: int | None = 4,
    statements: int | None = 4,
    others: Sequence[Any] = (),
    **columns: Any,
) -> Output:
    rows = [*(run(role, outcome, executed, statements) for role, outcome in runs.items()), *others]
    return accept_all([problem(**columns)], rows, licence=licence)


def accept_all(
    problems: Sequence[Any], runs: Sequence[Any], reviews: Sequence[Any] = (), licence: str | None = "MIT"
) -> Output:
    """Run acceptance and check that what it publishes fits the declared table."""
    output = problems_acceptance_stage(
        {
            "problems": list(problems),
            "problem_runs": list(runs),
            "snippets": [SNIPPET | {"licence": licence}],
            "symbols": SYMBOLS,
            "releases": RELEASES,
            "published_changes": [],
            "flags": [],
            "reviews": list(reviews),
        },
        QUALITY,
        LEAST,
        MUTATION,
        DRAFTING,
    )
    for row in output.tables["published_problems"]:
        table("published_problems").check(row)
    return output


SHOWN = {
    "the other version's example": ({E: MISSING, T: PASSED, R: PASSED}, E, MISSING),
    "a codemod": ({C: Outcome.SIGNATURE_MISMATCH, T: PASSED, R: MISSING}, C, Outcome.SIGNATURE_MISMATCH),
    "a model's code for the other version": ({M: FAILED, T: PASSED, R: MISSING}, M, FAILED),
    "the reference there": ({R: MISSING}, R, MISSING),
    "code of the other version that is wrong there": ({C: MISSING, T: FAILED, R: MISSING}, R, MISSING),
}  # fmt: skip


@pytest.mark.parametrize("case", SHOWN)
def test_the_run_that_discriminates_between_versions(case: str) -> None:
    runs, other, outcome = SHOWN[case]
    (row,) = accept({V: PASSED, H: PASSED} | runs).tables["published_problems"]
    assert (row["other_code"], row["other_outcome"]) == (other, outcome)
    assert row["discriminating"]
    assert row["evidence"] == Evidence.EXECUTED
    assert row["review_status"] == ReviewStatus.UNFLAGGED
    assert row["other_solution"] == ("    return 1\n" if other in (E, C, M) else None)


@pytest.mark.parametrize(
    ("here", "any_api", "expected"),
    [
        (PASSED, PASSED, []),
        (FAILED, PASSED, [(R, MISSING, None)]),
        (MISSING, MISSING, [(C, MISSING, "    return 1\n")]),
    ],
    ids=["all hidden tests pass", "only an API is wanted", "the release cannot run it"],
)
def test_code_that_is_right_in_both_versions_decides_nothing(
    here: Outcome, any_api: Outcome, expected: list[tuple[ProblemRun, Outcome, str | None]]
) -> None:
    """Where tests fail it for the API that they want alone, the reference that fails in the other version decides."""
    output = accept({V: PASSED, H: PASSED, C: here, A: any_api, T: PASSED, R: MISSING})
    rows = output.tables["published_problems"]
    assert [(row["other_code"], row["other_outcome"], row["other_solution"]) for row in rows] == expected


def test_runs_in_other_releases_say_where_it_is_right_and_decide_nothing() -> None:
    others = [run(ProblemRun.OTHER_RELEASE, PASSED) | {"version": "1.2"}]
    others += [run(ProblemRun.OTHER_RELEASE, MISSING) | {"version": "1.0"}]
    (row,) = accept({V: PASSED, H: PASSED, R: MISSING}, others=others).tables["published_problems"]
    assert (row["versions"], row["other_code"]) == (["1.1", "1.2"], R)


def test_a_problem_that_a_person_edited_is_right_where_its_own_runs_are() -> None:
    """What came out in other releases, came out of the code before the edit."""
    known = [run(role, outcome) for role, outcome in {V: PASSED, H: PASSED, R: MISSING}.items()]
    known += [run(ProblemRun.OTHER_RELEASE, PASSED) | {"version": "1.2"}]
    own = [
        {"subject": str(each["role"]), **{name: each[name] for name in _OF_EDIT}}
        for each in known
        if each["role"] != ProblemRun.OTHER_RELEASE
    ]
    edit: Any = {
        "instance_id": "p",
        "library": LIBRARY,
        "family": Family.PROBLEM,
        "content": reviewed_content(Family.PROBLEM, problem(), None),
        "flags": [],
        "kind": DecisionKind.EDIT,
        "objection": None,
        "edits": [{"name": "solution", "value": "    return list(items)\n"}],
        "runs": own,
        "annotators": 1,
    }
    table("reviews").check(edit)
    (before,) = accept_all([problem()], known).tables["published_problems"]
    (row,) = accept_all([problem()], known, [edit]).tables["published_problems"]
    assert (row["review_status"], row["solution"]) == (ReviewStatus.EDITED, "    return list(items)\n")
    assert (before["versions"], row["versions"]) == (["1.1", "1.2"], ["1.1"])


REFUSED: dict[str, tuple[dict[str, Any], RejectReason, str]] = {
    "no licence": ({"licence": None}, RejectReason.LICENCE, "no licence that can be read"),
    "another licence": ({"licence": "GPL-3.0-only"}, RejectReason.LICENCE, "GPL-3.0-only"),
    "the visible test fails": ({"runs": {V: FAILED}}, RejectReason.NOT_PROVEN, "visible tests: failed_assertion"),
    "a hidden test fails": ({"runs": {H: Outcome.FLAKY}}, RejectReason.NOT_PROVEN, "hidden tests: flaky"),
    "half is covered": ({"executed": 2}, RejectReason.NOT_COVERED, "50% of the program"),
    "coverage not measured": ({"executed": None}, RejectReason.NOT_COVERED, "0% of the program"),
    "one test": ({"recorded_tests": 0}, RejectReason.NO_CHECK, "1 hidden tests, 2 wanted"),
    "tests that a constant passes": (
        {"hidden_tests": "def test_a():\n    assert solve(1) is True\ndef test_b():\n    assert solve(2) is True\n"},
        RejectReason.NO_CHECK, "return True",
    ),
    "a name that the statement spells": (
        {"target_entity": "take_first", "problem": "Take the first items.\n\nWrite it."},
        RejectReason.LEAKS_ANSWER, "the statement spells take_first: Take, first",
    ),
    "a text that names another type": (
        {"starting_code": "def solve(items) -> bytes:\n", "problem": "Always returns a str.\n\nWrite it."},
        RejectReason.NO_TEXT, "the text says that it returns a str, and it returns bytes",
    ),
    "no change, and none in behaviour": ({"runs": {R: PASSED}}, RejectReason.UNCHANGED, "in 1.0 as it does in 1.1"),
    "other code that is right here too": (
        {"runs": {E: PASSED, T: PASSED, R: MISSING}}, RejectReason.UNCHANGED, "in 1.0 as it does in 1.1",
    ),
    "other code that is wrong there": (
        {"runs": {E: MISSING, T: FAILED, R: PASSED}}, RejectReason.UNCHANGED, "in 1.0 as it does in 1.1",
    ),
    "a machine that was too slow shows nothing": (
        {"runs": {R: Outcome.TIMED_OUT}}, RejectReason.UNCHANGED, "in 1.0 as it does in 1.1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_have_their_reason(case: str) -> None:
    given, reason, detail = REFUSED[case]
    changed = dict(given)
    (reject,) = accept({V: PASSED, H: PASSED, R: MISSING} | changed.pop("runs", {}), **changed).rejects
    assert reject.reason == reason
    assert detail in reject.detail


@pytest.mark.parametrize(
    ("column", "value", "is_refused"),
    [("path", "lib.first", True), ("problem", "Take them.", False), ("version", "1.0", False), ("id", "p2", False)],
)
def test_a_statement_that_two_apis_answer_has_no_answer(column: str, value: str, is_refused: bool) -> None:
    """Their references differ, and nothing in the prompt tells which one the tests want."""
    other = {
        "solution": "    return list(items)\n",
        "id": "q",
        "path": "lib.first",
        "problem": "Take some.",
        column: value,
    }
    has_same_api = column == "id"
    if column == "id":
        other |= {"path": "lib.take", "problem": problem()["problem"]}
    elif column != "problem":
        other |= {"path": "lib.first", "problem": problem()["problem"]}
    runs = [run(role, outcome) for role, outcome in {V: PASSED, H: PASSED, R: MISSING}.items()]
    runs += [row | {"problem_id": other["id"]} for row in runs]
    output = problems_acceptance_stage(
        {
            "problems": [problem(), problem(**other)],
            "problem_runs": runs,
            "snippets": [SNIPPET | {"licence": "MIT"}],
            "symbols": SYMBOLS,
            "releases": RELEASES,
            "published_changes": [],
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        LEAST,
        MUTATION,
        DRAFTING,
    )
    refused = [(each.key, each.reason) for each in output.rejects]
    if has_same_api:
        assert refused == [("p2", RejectReason.NEAR_DUPLICATE)]
    else:
        several = RejectReason.SEVERAL_ANSWERS
        assert refused == ([("p", several), ("q", several)] if is_refused else [])
    assert len(output.tables["published_problems"]) == 2 - len(refused)


NAMES: dict[str, tuple[str, list[str], ProblemRun, Outcome, bool]] = {
    "a name that anybody would write": ("strip", [], R, MISSING, False),
    "a name of its own": ("chunked", [], R, MISSING, True),
    "another that the tests accept, and anybody would write": (
        "strip_iter",
        ["lib.strip", "lib.strip_iter"],
        R,
        MISSING,
        False,
    ),
    "a new name for an old API": ("strip", [], E, MISSING, True),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_new_function_of_a_name_that_anybody_would_write_does_not_discriminate(case: str) -> None:
    name, accepted, role, outcome, expected = NAMES[case]
    runs = {V: PASSED, H: PASSED, role: outcome} | ({T: PASSED} if role != R else {})
    columns: dict[str, Any] = {"path": f"lib.{name}", "target_entity": name, "accepted_paths": accepted}
    (row,) = accept(runs, problem="Cut both ends.\n\nWrite it.", **columns).tables["published_problems"]
    assert row["discriminating"] == expected


OF_ONE_API: dict[str, tuple[dict[str, Any], str | None]] = {
    "another argument": ({"solution": "    return lib.take(items, 2)\n"}, "q"),
    "an argument by its name": ({"solution": "    return lib.take(items, n=2)\n"}, "q"),
    "as many arguments": ({"solution": "    return list(lib.take(items))\n"}, "p"),
    "arguments of other calls": ({"solution": "    return lib.take(sorted(items, key=len))\n"}, "p"),
    "another version": ({"version": "1.0", "solution": "    return lib.take(items, 2)\n"}, None),
    "another API": ({"path": "lib.first", "solution": "    return lib.take(items, 2)\n"}, None),
    "another API, where both accept either": (
        {"path": "lib.first", "solution": "    return lib.take(items, 2)\n", "accepted_paths": ["lib.first", "lib.take"]}, "q",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OF_ONE_API)
def test_of_problems_about_one_api_the_one_with_most_arguments_is_published(case: str) -> None:
    columns, kept = OF_ONE_API[case]
    first = problem(solution="    return lib.take(items)\n", accepted_paths=columns.get("accepted_paths", []))
    second = problem(**{"id": "q", "problem": "Take some."} | columns)
    runs = [run(role, outcome) for role, outcome in {V: PASSED, H: PASSED, R: MISSING}.items()]
    tables: Any = {"problems": [first, second], "problem_runs": [*runs, *({**row, "problem_id": "q"} for row in runs)]}
    tables |= {"snippets": [SNIPPET | {"licence": "MIT"}], "symbols": SYMBOLS, "releases": RELEASES}
    tables |= {"published_changes": [], "flags": [], "reviews": []}
    output = problems_acceptance_stage(tables, QUALITY, LEAST, MUTATION, DRAFTING)
    rows = [row["id"] for row in output.tables["published_problems"]]
    assert rows == (["p", "q"] if kept is None else [kept])
    assert [each.reason for each in output.rejects] == [RejectReason.NEAR_DUPLICATE] * (2 - len(rows))


@pytest.mark.parametrize(("name", "kept"), [("chunked", "later"), ("strip", "earlier")])
def test_one_task_in_two_releases_is_published_once(name: str, kept: str) -> None:
    """In the last one, unless it tells releases apart in the other only: here a name that anybody would write."""
    columns = {"path": f"lib.{name}", "target_entity": name, "problem": "Cut both ends.\n\nWrite it."}
    earlier = problem(id="earlier", **columns) | RELEASES_OF["1.0"]
    later = problem(id="later", **columns) | RELEASES_OF["1.1"]
    runs = [run(role, outcome) for role, outcome in {V: PASSED, H: PASSED, R: MISSING}.items()]
    output = accept_all([earlier, later], [row | {"problem_id": key} for row in runs for key in ("earlier", "later")])
    assert [row["id"] for row in output.tables["published_problems"]] == [kept]
    assert [(each.key != kept, each.reason) for each in output.rejects] == [(True, RejectReason.NEAR_DUPLICATE)]


def test_a_published_row_has_its_source() -> None:
    (row,) = accept({V: PASSED, H: PASSED, R: MISSING}, change_id="refuted").tables["published_problems"]
    assert (row["licence"], row["attribution"], row["origin"]) == ("MIT", "Ada", f"pypi:{LIBRARY}")
    assert (row["change_id"], row["canary"]) == (None, QUALITY.canary)
    assert (row["description"], row["coverage"]) == ("Take the first items.", 1.0)


@pytest.mark.parametrize(("executed", "statements", "coverage"), [(0, 0, 1.0), (None, None, 1.0), (13, 14, 0.9286)])
def test_coverage_is_the_share_of_statements_and_whole_without_any(
    executed: int | None, statements: int | None, coverage: float
) -> None:
    runs = {V: PASSED, H: PASSED, R: MISSING}
    (row,) = accept(runs, executed=executed, statements=statements).tables["published_problems"]
    assert row["coverage"] == coverage


def test_a_drafted_problem_of_a_change_has_the_licence_and_origin_of_its_release() -> None:
    runs = {V: PASSED, H: PASSED, R: MISSING}
    written: dict[str, Any] = {
        "snippet_id": None,
        "stated_tests": 0,
        "recorded_tests": 0,
        "drafted_tests": 3,
        "drafter": "model",
    }
    (row,) = accept(runs, **written).tables["published_problems"]
    assert (row["source"], row["origin"], row["licence"], row["url"]) == ("change", "pypi:lib", "MIT", None)
    assert (row["drafter"], row["purl"], row["created_time"]) == (
        "model",
        "pkg:pypi/lib@1.1",
        RELEASES[1]["release_time"],
    )
    (reject,) = accept(runs, **written | {"drafted_tests": 1}).rejects
    assert reject.reason == RejectReason.NO_CHECK


@pytest.mark.parametrize(
    ("rule", "limit", "reason"),
    [
        ("min_coverage", 0.75, None),
        ("min_coverage", 0.7501, RejectReason.NOT_COVERED),
        ("min_tests", 2, None),
        ("min_tests", 3, RejectReason.NO_CHECK),
    ],
)
def test_what_just_suffices_is_published(
    rule: str, limit: float, reason: RejectReason | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "LEAST", LEAST.model_copy(update={"min_coverage": 0.0, "min_tests": 1, rule: limit}))
    two: Any = {"stated_tests": 1, "recorded_tests": 1, "drafted_tests": 0}
    output = accept({V: PASSED, H: PASSED, R: MISSING}, executed=3, **two)
    assert [reject.reason for reject in output.rejects] == ([reason] if reason else [])
    assert [row["coverage"] for row in output.tables["published_problems"]] == ([] if reason else [0.75])
