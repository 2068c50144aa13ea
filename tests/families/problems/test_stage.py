"""Problems of a made-up library of two releases, from its docstrings to the published rows, run in the real sandbox."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import GitChameleonCategory
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.stage import problems_stage
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, as_tables
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.flags import flags_stage
from pipeline.quality.flags.rules import FlagRules
from pipeline.quality.flags.subjects import READS
from tests.families.completions_and_migrations.rows import TAGGING
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS, example
from tests.families.problems.stores import Store, store_of
from tests.families.problems.test_witnessed import witness
from tests.families.problems.world import INTRODUCED, METHODS, MODIFIED, OF_METHODS, READ, READ_IT, TABLES

pytestmark = pytest.mark.slow

QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
FLAGS = load(RULES / "flags.yaml", FlagRules)
USAGE = load(RULES / "usage.yaml", UsageRules)
VALIDATION = load(RULES / "validation.yaml", ValidationRules)

SOURCES = {
    "1.0": """
def shout(text): return text.upper()
def same(items): return list(items)
def read_it(text): return text.split(",")
""",
    "1.1": """
def shout(text): return text.upper() + "!"
def same(items, key=None): return list(items)
def read(text): return text.split(",")
def take(items, n): return items[:n]
def steady(n): return id(object()) if n > 5 else n
""",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(SOURCES, tmp_path_factory.mktemp)


def made_by(store: Store, **changed: Any) -> Output:
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION, workers=1)
    output = problems_stage(
        TABLES | changed,
        rules=RULES_OF_PROBLEMS,
        drafting=DRAFTING,
        tagging=TAGGING,
        usage=USAGE,
        mutation=MUTATION,
        runner=runner,
        fails=QUALITY.fails_in_target,
    )
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    return output


def accepted(output: Output) -> Output:
    problems, runs = output.tables["problems"], output.tables["problem_runs"]
    known = {**TABLES, **output.by_table}
    flags = flags_stage(
        as_tables({name: known.get(name, []) for name in READS}), FLAGS, QUALITY.fails_in_target, DRAFTING
    )
    return problems_acceptance_stage(
        {
            "problems": problems,
            "problem_runs": runs,
            "snippets": TABLES["snippets"],
            "symbols": TABLES["symbols"],
            "releases": TABLES["releases"],
            "published_changes": TABLES["changes"],
            "flags": flags.tables["flags"],
            "reviews": [],
        },
        QUALITY,
        RULES_OF_PROBLEMS,
        MUTATION,
        DRAFTING,
    )


@pytest.fixture(scope="module")
def output(store: Store) -> Output:
    return made_by(store)


@pytest.fixture(scope="module")
def published(output: Output) -> dict[str, Any]:
    rows = accepted(output).tables["published_problems"]
    for row in rows:
        table("published_problems").check(row)
    return {row["path"]: row for row in rows}


def test_an_introduced_function_is_a_problem_that_the_release_before_cannot_solve(published: dict[str, Any]) -> None:
    row = published["lib.take"]
    assert row["starting_code"] + row["solution"] == (
        "def solve(items, number: int):\n    from lib import take\n    return take(items, number)\n"
    )
    assert row["problem"].startswith("Return the first items.\n\nWrite the body of `solve(items, number)` with lib.")
    assert row["test"] == "assert solve([1, 2, 3], 2) == [1, 2]\n"
    assert f"from {row['module']} import solve" in row["hidden_tests"]
    # the first stated case is the visible test; the third is wrong, and no test
    assert (row["stated_tests"], row["recorded_tests"]) == (1, RULES_OF_PROBLEMS.max_recorded)
    assert (row["category"], row["change_id"]) == (GitChameleonCategory.NEW_FEATURE, INTRODUCED["id"])
    assert (row["other_code"], row["other_outcome"]) == (ProblemRun.REFERENCE_ELSEWHERE, Outcome.API_MISSING)
    assert (row["discriminating"], row["evidence"], row["coverage"]) == (True, Evidence.EXECUTED, 1.0)
    assert (row["api_calls"], row["solution_api_call"], row["target_entity"]) == (["lib.take"], True, "take")
    assert (row["functional"], row["webdev"], row["additional_dependencies"]) == (True, False, [])
    assert (row["lock_id"], row["licence"], row["other_version"]) == ("lock-1.1", "MIT", "1.0")
    assert row["versions"] == ["1.1"]


def test_a_reference_runs_with_all_tests_in_every_other_release(output: Output) -> None:
    paths = {row["id"]: (row["path"], row["version"]) for row in output.tables["problems"]}
    ended = {
        (*paths[run["problem_id"]], run["version"]): run["outcome"]
        for run in output.tables["problem_runs"]
        if run["role"] == ProblemRun.OTHER_RELEASE
    }
    assert ended["lib.same", "1.1", "1.0"] == Outcome.PASSED
    assert ended["lib.take", "1.1", "1.0"] == Outcome.API_MISSING
    assert ended["lib.shout", "1.1", "1.0"] == Outcome.FAILED_ASSERTION
    assert all(version != other for _, version, other in ended)


def test_what_a_codemod_writes_for_the_other_version_fails_here(published: dict[str, Any]) -> None:
    row = published["lib.read"]
    assert (row["category"], row["other_code"]) == (GitChameleonCategory.NAME, ProblemRun.OTHER_CODEMOD)
    assert (row["other_outcome"], row["discriminating"]) == (Outcome.API_MISSING, True)
    assert row["other_solution"] == "    import lib\n    return lib.read_it(text)\n"


def test_so_does_the_example_of_the_other_version_and_is_one_more_mutant(store: Store) -> None:
    made = made_by(store, snippets=[READ, READ_IT | {"path": "lib.read"}], changes=[])
    (row,) = made.tables["problems"]
    ended = {run["role"]: run["outcome"] for run in made.tables["problem_runs"]}
    assert (ended[ProblemRun.OTHER_EXAMPLE], ended[ProblemRun.OTHER_THERE]) == (Outcome.API_MISSING, Outcome.PASSED)
    alone = made_by(store, snippets=[READ], changes=[])
    (without,) = alone.tables["problems"]
    assert (row["mutants"], row["mutants_killed"]) == (without["mutants"] + 1, without["mutants_killed"] + 1)


def test_code_for_the_other_version_needs_neither_the_given_imports_nor_the_api_of_this_one(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """As `semver.Version.is_valid` of 3.0.0, which was `semver.VersionInfo.isvalid`: 2.13.0 has no `Version`."""
    docstring = ">>> from lib import Page\n>>> Page.is_valid('<a>')\nTrue\n>>> Page.is_valid('a')\nFalse\n"
    store = store_of(METHODS, tmp_path_factory.mktemp)
    made = made_by(store, snippets=[example(docstring, "lib.Page.is_valid")], **OF_METHODS)
    (row,) = made.tables["problems"]
    assert row["starting_code"].startswith("from lib import Page\n")
    assert "def test_needs_api()" in row["hidden_tests"]
    ended = {run["role"]: (run["version"], run["outcome"]) for run in made.tables["problem_runs"]}
    assert ended[ProblemRun.OTHER_CODEMOD] == ("1.1", Outcome.API_MISSING)
    assert ended[ProblemRun.OTHER_ANY_API] == ("1.1", Outcome.API_MISSING)
    assert ended[ProblemRun.OTHER_THERE] == ("1.0", Outcome.PASSED)
    codes = {run["code"] for run in made.tables["problem_runs"] if run["role"] == ProblemRun.OTHER_CODEMOD}
    assert codes == {"    import lib\n    return lib.Info.isvalid(text)\n"}


def test_what_the_release_before_answers_too_is_no_problem(output: Output, published: dict[str, Any]) -> None:
    """`lib.same` passes in both; of `lib.shout` one and the same code is right in both, each with its own result."""
    assert {"lib.same", "lib.shout"} <= {row["path"] for row in output.tables["problems"]}
    assert published.keys().isdisjoint({"lib.same", "lib.shout"})


def test_what_was_recorded_and_does_not_come_again_is_no_test(output: Output) -> None:
    """`steady(8)`, twice the stated input, gives an address."""
    (row,) = [row for row in output.tables["problems"] if row["path"] == "lib.steady"]
    assert (row["stated_tests"], row["recorded_tests"]) == (1, 3)
    runs = [run for run in output.tables["problem_runs"] if run["problem_id"] == row["id"]]
    assert {run["role"]: run["outcome"] for run in runs} == {
        ProblemRun.VISIBLE: Outcome.PASSED,
        ProblemRun.HIDDEN: Outcome.PASSED,
        ProblemRun.REFERENCE_ELSEWHERE: Outcome.API_MISSING,
        ProblemRun.OTHER_RELEASE: Outcome.API_MISSING,
    }


def test_everything_else_is_refused_with_a_reason(output: Output) -> None:
    reasons = {reject.reason: reject.detail for reject in output.rejects}
    assert set(reasons) == {RejectReason.NOT_PROVEN, RejectReason.UNCHANGED}
    assert "none of the stated values" in reasons[RejectReason.NOT_PROVEN]
    assert output.units_in == output.units_out + 2


def test_a_witness_of_a_change_is_a_problem_of_its_own(store: Store) -> None:
    """Code cut out of a test or written from a change: no docstring has an example of `take`."""
    row, shown = witness(INTRODUCED, "1.1", "lib.take", ("import lib", None), ("print(lib.take([1, 2], 1))", "[1]\n"))
    made = made_by(store, snippets=[row], witnesses=[shown])
    (problem,) = made.tables["problems"]
    assert (problem["change_id"], problem["version"], problem["other_version"]) == (INTRODUCED["id"], "1.1", "1.0")
    assert problem["problem"].startswith(
        "Return the first items.\n\nWrite the body of `solve(items, number)` with lib. "
        "Use the API that lib 1.1 has for just this, not an older one."
    )
    assert problem["solution"] == "    return lib.take(items, number)\n"
    assert problem["test"] == "assert solve([1, 2], 1) == [1]\n"
    assert "test_needs_api" in problem["hidden_tests"]
    assert "solve([1, 2], 1)" not in problem["hidden_tests"]
    ended = {run["role"]: run["outcome"] for run in made.tables["problem_runs"]}
    assert ended[ProblemRun.HIDDEN] == Outcome.PASSED
    assert ended[ProblemRun.REFERENCE_ELSEWHERE] == Outcome.API_MISSING


def test_a_witness_with_a_parameter_that_nothing_varies_is_none(store: Store) -> None:
    row, shown = witness(MODIFIED, "1.1", "lib.same", ("import lib", None), ("print(lib.same([5], key='a'))", "[5]\n"))
    made = made_by(store, snippets=[row], witnesses=[shown])
    assert made.tables["problems"] == []
    assert [reject.reason for reject in made.rejects] == [RejectReason.INPUT_UNUSED]


def test_again_is_the_same_but_for_seconds(store: Store, output: Output) -> None:
    again = made_by(store)
    assert again.tables["problems"] == output.tables["problems"]
    for one, other in zip(again.tables["problem_runs"], output.tables["problem_runs"], strict=True):
        assert one | {"duration_s": 0} == other | {"duration_s": 0}
