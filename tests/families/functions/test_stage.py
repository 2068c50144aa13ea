"""Task functions of a made-up library of two releases, from its docstrings to the published rows, run in the sandbox."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.functions import FunctionRun, TestKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence, Granularity
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.functions.stage import functions_stage
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import TAGGING
from tests.families.problems.examples import DRAFTING, MUTATION, RULES_OF_PROBLEMS, example
from tests.families.problems.stores import store_of
from tests.families.problems.test_stage import SOURCES
from tests.families.problems.test_witnessed import witness
from tests.families.problems.world import INTRODUCED, METHODS, OF_METHODS, SHOUT, TABLES

pytestmark = pytest.mark.slow

LIMITS = load(RULES / "functions.yaml", FunctionRules)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> EnvironmentStore:
    return cast(EnvironmentStore, store_of(SOURCES, tmp_path_factory.mktemp))


@pytest.fixture(scope="module")
def output(store: EnvironmentStore) -> Output:
    return made_by(store)


def made_by(store: EnvironmentStore, **changed: Any) -> Output:
    made = functions_stage(
        TABLES | changed,
        rules=LIMITS,
        of_problems=RULES_OF_PROBLEMS,
        drafting=load(RULES / "drafting.yaml", DraftingRules),
        tagging=TAGGING,
        usage=load(RULES / "usage.yaml", UsageRules),
        mutation=MUTATION,
        min_name_length=2,
        writer=OfflineWriter(load(RULES / "drafting.yaml", DraftingRules)),
        runner=Runner(store, find_sandbox(), load(RULES / "validation.yaml", ValidationRules), workers=1),
        fails=load(RULES / "quality.yaml", QualityRules).fails_in_target,
        writers=None,
    )
    for name, rows in made.by_table.items():
        for row in rows:
            table(name).check(row)
    return made


@pytest.fixture(scope="module")
def published(output: Output) -> dict[tuple[str, str], Any]:
    accepted = functions_acceptance_stage(
        {
            "functions": output.tables["functions"],
            "function_runs": output.tables["function_runs"],
            "snippets": TABLES["snippets"],
            "published_changes": TABLES["changes"],
            "symbols": TABLES["symbols"],
            "releases": TABLES["releases"],
            "flags": [],
            "reviews": [],
        },
        rules=load(RULES / "quality.yaml", QualityRules),
        mutation=MUTATION,
        least=LIMITS,
        masking=load(RULES / "masking.yaml", MaskingRules),
        drafting=DRAFTING,
    )
    return {(row["path"], row["granularity"]): row for row in accepted.tables["published_functions"]}


def test_an_introduced_function_has_tests_of_each_kind_that_its_reference_passes(
    published: dict[tuple[str, str], Any],
) -> None:
    assert ("lib.take", Granularity.LINE) not in published, "a problem asks for a whole body"
    row = published["lib.take", Granularity.TOKEN]
    head = "from lib import [token-mask]\n\n\ndef solve(items, number: int)"
    assert row["masked_code"] == f"{head}:\n    return [token-mask](items, number)\n"
    assert row["answer"] == "take"
    assert row["description"] == (
        "Return the first items. Use the API that lib 1.1 has for just this, not an older one."
    )
    assert "def test_boundary_values_1():\n    assert solve([], 2) == []\n" in row["tests"]
    assert "99" not in row["tests"], "a stated case that does not hold is no test"
    assert (row["missing_test_kinds"], row["coverage"]) == ([], 1.0)
    assert row["functionality"] == LIMITS.tests[TestKind.FUNCTIONALITY]
    assert (row["reference_outcome"], row["emptied_outcome"]) == (Outcome.PASSED, Outcome.FAILED_ASSERTION)
    assert (row["other_code"], row["other_outcome"]) == (FunctionRun.REFERENCE_ELSEWHERE, Outcome.API_MISSING)
    assert (row["evidence"], row["discriminating"], row["change_id"]) == (Evidence.EXECUTED, True, INTRODUCED["id"])
    assert (row["code_drafter"], row["tests_drafter"], row["drafter"]) == (Drafter.OFFLINE,) * 3
    assert row["versions"] == ["1.1"]


def test_a_reference_runs_with_its_tests_in_every_other_release(output: Output) -> None:
    paths = {row["id"]: row["path"] for row in output.tables["functions"]}
    ended = {
        (paths[run["function_id"]], run["version"]): run["outcome"]
        for run in output.tables["function_runs"]
        if run["role"] == FunctionRun.OTHER_RELEASE
    }
    assert ended["lib.take", "1.0"] == Outcome.API_MISSING
    assert ended["lib.shout", "1.0"] == Outcome.FAILED_ASSERTION


def test_what_a_codemod_writes_for_the_other_version_fails_its_tests(published: dict[tuple[str, str], Any]) -> None:
    row = published["lib.read", Granularity.TOKEN]
    assert (row["other_code"], row["other_outcome"]) == (FunctionRun.OTHER_CODEMOD, Outcome.API_MISSING)
    assert row["discriminating"]
    assert "lib.read_it(text)" in row["other_program"]


def test_code_for_the_other_version_runs_there_with_its_own_imports(tmp_path_factory: pytest.TempPathFactory) -> None:
    docstring = ">>> from lib import Page\n>>> Page.is_valid('<a>')\nTrue\n>>> Page.is_valid('a')\nFalse\n"
    store = cast(EnvironmentStore, store_of(METHODS, tmp_path_factory.mktemp))
    made = made_by(store, snippets=[example(docstring, "lib.Page.is_valid")], **OF_METHODS)
    (row,) = made.tables["functions"]
    assert "def test_needs_api()" in row["tests"]
    ended = {run["role"]: (run["version"], run["outcome"]) for run in made.tables["function_runs"]}
    assert ended[FunctionRun.OTHER_CODEMOD] == ("1.1", Outcome.API_MISSING)
    assert ended[FunctionRun.OTHER_ANY_API] == ("1.1", Outcome.API_MISSING)
    assert ended[FunctionRun.OTHER_THERE] == ("1.0", Outcome.PASSED)
    (program,) = {run["program"] for run in made.tables["function_runs"] if run["role"] == FunctionRun.OTHER_THERE}
    assert program == "import lib\n\n\ndef solve(text: str) -> bool:\n    return lib.Info.isvalid(text)\n"


def test_what_was_recorded_and_does_not_come_again_is_no_test(output: Output) -> None:
    """`steady(8)`, twice the stated input, gives an address."""
    (row,) = [row for row in output.tables["functions"] if row["path"] == "lib.steady"]
    assert row["recorded_tests"] == 0
    assert TestKind.RETURN_TYPE in row["missing_test_kinds"]
    runs = [run for run in output.tables["function_runs"] if run["function_id"] == row["id"]]
    assert [run["outcome"] for run in runs if run["role"] == FunctionRun.TESTS] == [Outcome.PASSED]


def test_a_reference_that_gives_nothing_stated_is_refused(output: Output) -> None:
    (reject,) = [reject for reject in output.rejects if reject.reason is RejectReason.NOT_PROVEN]
    assert reject.detail == "1.1: passed: the reference gives none of the stated values where it is called alone"


def test_a_witness_of_a_change_is_a_function(store: EnvironmentStore) -> None:
    checks: list[tuple[str, str | None]] = [
        ("import lib", None),
        ("def first(items):\n    return lib.take(items, 1)", None),
    ]
    checks += [("print(first([1, 2]))", "[1]\n")]
    row, shown = witness(INTRODUCED, "1.1", "lib.take", *checks)
    made = made_by(store, snippets=[row], witnesses=[shown])
    (function,) = made.tables["functions"]
    assert (function["path"], function["version"], function["snippet_id"]) == ("lib.take", "1.1", row["id"])
    assert "def first(items):\n    return lib.take(items, 1)" in function["code"]
    ended = {run["role"]: run["outcome"] for run in made.tables["function_runs"]}
    assert ended[FunctionRun.TESTS] == Outcome.PASSED
    assert ended[FunctionRun.REFERENCE_ELSEWHERE] == Outcome.API_MISSING


def test_hidden_tests_require_the_core_api_of_changed_functions_alone(store: EnvironmentStore, output: Output) -> None:
    (apart,) = [row for row in output.tables["functions"] if row["path"] == "lib.shout"]
    assert "def test_needs_api()" in apart["tests"]
    assert apart["description"] == "Make a text loud. Use the API that lib 1.1 has for just this."
    made = made_by(store, snippets=[SHOUT], changes=[], verdicts=[])
    (unchanged,) = made.tables["functions"]
    assert "def test_needs_api()" not in unchanged["tests"]
    assert "def test_needs_library()" in unchanged["tests"]
    assert unchanged["description"] == "Make a text loud."
