"""Task functions and tests that a model writes, from the request to the published row, run in the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.functions.llm_function import ModelFunctions
from pipeline.families.functions.llm_tests import ModelTests
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.functions.stage import functions_stage
from pipeline.families.functions.writers import Example, Untested, WrittenFunction, WrittenTests
from pipeline.families.functions.writing import Writers as FunctionWriters
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.judging import RunJudge
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.rules import draft_rules
from pipeline.llm.writers import OfflineWriter, Refusal
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import TAGGING, document, life, releases, symbol, verdict
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS, example
from tests.families.problems.stores import Store, store_of
from tests.llm.conftest import drafter, server  # noqa: F401 - fixtures
from tests.llm.tasks.test_description import data_of
from tests.model_server import Fault, ModelServer

pytestmark = pytest.mark.slow

QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
VALIDATION = load(RULES / "validation.yaml", ValidationRules)
FUNCTIONS = load(RULES / "functions.yaml", FunctionRules)
MASKING = load(RULES / "masking.yaml", MaskingRules)
OF_FUNCTION = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).task_function
OF_TESTS = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).function_tests

SILENT = example(">>> from lib import take\n>>> first = take([1, 2, 3], 2)\n", "lib.take")
FAILED = example(">>> from lib import take\n>>> first = take(1, 2)\n", "lib.take")
STATED = example(">>> import lib\n>>> lib.same(True)\n[True]\n", "lib.same", "1.0", "1.1")
SAME = "def same(flag): return None if flag is None else [flag]\n"
SOURCES = {"1.0": SAME, "1.1": SAME + "def take(items, n): return items[:n]\n"}
TABLES: Any = {
    "releases": releases("1.0", "1.1"),
    "snippets": [SILENT, FAILED, STATED],
    "rewrites": [],
    "symbols": [symbol("lib.take", "1.1"), symbol("lib.same", "1.0", "1.1")],
    "changes": [],
    "lifecycles": [life("lib.take", "1.1", "1.1", introduced=True), life("lib.same", "1.0", "1.1")],
    "documents": [
        document("lib.take", "Return the first items.", "1.1"),
        document("lib.same", "Put a flag into a list.", "1.0", "1.1"),
    ],
    "api_documents": [],
    "verdicts": [verdict(SILENT["id"], "1.1", Outcome.PASSED), verdict(FAILED["id"], "1.1", Outcome.WRONG_EXCEPTION)],
}
PROGRAM = "from lib import take\n\ndef beginning(items, length):\n    return take(items, length)\n"
FUNCTION = {"code": PROGRAM, "function": "beginning", "description": "Return so many items from the start of a list."}
OF_BEGINNING = {
    "return_type": "assert isinstance(beginning([1], 1), list)",
    "normal_input": "assert beginning([1, 2, 3], 2) == [1, 2]",
    "boundary_values": "assert beginning([], 2) == []",
    "functionality": "assert beginning('abc', 1) == 'a'",
}
OF_SAME = {"boundary_values": "assert solve('') == ['']"}

Make = Callable[..., ModelDrafter]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(SOURCES, tmp_path_factory.mktemp)


def reply(params: dict[str, Any], **bad: str) -> dict[str, Any]:
    """Answer what is asked, well, but for tests of the kinds of `bad`."""
    told = data_of(params)
    if "api" in told:
        return {"text": json.dumps(FUNCTION)}
    good = OF_BEGINNING if told["function"] == "beginning" else OF_SAME
    return {"text": json.dumps({"tests": [{"kind": kind, "code": (good | bad)[kind]} for kind in told["wanted"]]})}


def made_by(store: Store, model: ModelDrafter | None) -> Output:
    if model is None:
        return made_with(store, None)
    run = find_sandbox(), VALIDATION
    judge = RunJudge(*run, OF_TESTS.min_coverage, QUALITY.fails_in_target)
    functions = ModelFunctions(model, OF_FUNCTION, DRAFTING, *run)
    return made_with(store, FunctionWriters(functions, ModelTests(model, OF_TESTS, judge)))


def made_with(store: Store, writers: FunctionWriters | None) -> Output:
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION, workers=1)
    output = functions_stage(TABLES, rules=FUNCTIONS, of_problems=RULES_OF_PROBLEMS, drafting=DRAFTING, tagging=TAGGING, usage=load(RULES / "usage.yaml", UsageRules), min_name_length=2, mutation=MUTATION, writer=OfflineWriter(DRAFTING), runner=runner, fails=QUALITY.fails_in_target, writers=writers)  # fmt: skip
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    assert output.units_in == output.units_out + len(output.rejects)
    return output


def published(output: Output) -> list[Any]:
    accepted = functions_acceptance_stage({"functions": output.tables["functions"], "function_runs": output.tables["function_runs"], "snippets": TABLES["snippets"], "published_changes": [], "flags": [], "reviews": [], "symbols": TABLES["symbols"], "releases": TABLES["releases"]}, rules=QUALITY, least=FUNCTIONS, masking=MASKING, mutation=MUTATION, drafting=DRAFTING)  # fmt: skip
    for row in accepted.tables["published_functions"]:
        table("published_functions").check(row)
    return list(accepted.tables["published_functions"])


@pytest.fixture(scope="module")
def offline(store: Store) -> Output:
    return made_by(store, None)


def test_an_example_that_states_nothing_becomes_a_function_and_kinds_that_none_gives_are_added(
    store: Store,
    offline: Output,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    server.reply = reply
    output = made_by(store, drafter())
    (taken,) = [row for row in output.by_table["functions"] if row["path"] == "lib.take"]
    assert (taken["code"], taken["function"], taken["parameters"]) == (PROGRAM, "beginning", ["items", "length"])
    assert taken["code_drafter"] == taken["tests_drafter"] == taken["drafter"] == Drafter.MODEL
    assert {taken[kind] for kind in TestKind} == {1}
    assert (taken["missing_test_kinds"], taken["description"]) == ([], FUNCTION["description"])
    assert taken["tokens"] > 0
    assert taken["nano_usd"] > 0
    assert SILENT["id"] not in {reject.key for reject in output.rejects}
    assert FAILED["id"] in {reject.key for reject in output.rejects}, "what fails is no example of anything"
    rows = [row for row in published(output) if row["function_id"] == taken["id"]]
    assert {row["granularity"] for row in rows} == {"token"}
    assert {(row["evidence"], row["other_outcome"]) for row in rows} == {(Evidence.EXECUTED, Outcome.API_MISSING)}
    assert all(row["coverage"] == 1 and not row["flags"] for row in rows)

    (own,) = offline.tables["functions"]
    (more,) = [row for row in output.tables["functions"] if row["path"] == "lib.same"]
    assert (own["missing_test_kinds"], more["missing_test_kinds"]) == ([TestKind.BOUNDARY_VALUES], [])
    added = f"def test_boundary_values_1():\n    {OF_SAME['boundary_values']}\n"
    assert more["tests"] == f"{own['tests']}\n\n{added}"
    assert (more["id"], more["code_drafter"], more["tests_drafter"]) == (own["id"], Drafter.OFFLINE, Drafter.MODEL)
    assert more["recorded_tests"] == own["recorded_tests"]


def test_without_a_model_nothing_of_it_is_there(offline: Output) -> None:
    assert offline.tables["refused_functions"] == []
    assert {row["tests_drafter"] for row in offline.tables["functions"]} == {Drafter.OFFLINE}
    assert {reject.reason for reject in offline.rejects} >= {RejectReason.NO_CHECK}
    assert offline.notes == []


def test_where_tests_are_refused_the_example_is_no_function_and_the_function_is_flagged(
    store: Store,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    bad = {kind: f"assert {code.partition('assert ')[2]} or True" for kind, code in OF_BEGINNING.items()}
    server.reply = lambda params: reply(params, **bad)
    output = made_by(store, drafter())
    assert {row["path"] for row in output.tables["functions"]} == {"lib.same"}
    refused = output.tables["refused_functions"]
    assert {(row["kind"], row["snippet_id"]) for row in refused} == {
        (DraftKind.FUNCTION_TESTS, SILENT["id"]), (DraftKind.FUNCTION_TESTS, STATED["id"]),
        (DraftKind.TASK_FUNCTION, SILENT["id"]),
    }  # fmt: skip
    assert {note.reason for note in output.notes} == {RejectReason.DRAFT_REFUSED}
    assert (SILENT["id"], RejectReason.NO_CHECK) in {(reject.key, reject.reason) for reject in output.rejects}
    (same,) = output.tables["functions"]
    assert same["tests_drafter"] == Drafter.OFFLINE
    assert same["id"] in {row["function_id"] for row in refused}  # which the stage of flags raises DRAFT_REJECTED for
    assert {row["function_id"] for row in published(output)} == {same["id"]}


class Careless:
    """Writes the function, and tests that fail: a judge may have seen them pass."""

    rules = OF_FUNCTION

    def write(self, examples: Sequence[Example]) -> list[WrittenFunction | Refusal]:
        made = (PROGRAM, "beginning", ("items", "length"), FUNCTION["description"], "m", "1" * 64, 2, 30, 400)
        return [WrittenFunction(*made) for _ in examples]


class CarelessTests:
    rules = OF_TESTS

    def write(self, functions: Sequence[Untested]) -> list[WrittenTests | Refusal]:
        return [self._tests(one) for one in functions]

    def _tests(self, one: Untested) -> WrittenTests:
        head = one.tests or f"from {one.module} import {one.function}"
        text = f"{head}\n\ndef test_functionality_9():\n    assert {one.function} == 1\n"
        return WrittenTests(text, {}, None, False, "m", "2" * 64, 3, 50, 600)


def test_what_was_paid_for_and_comes_to_nothing_is_told_with_its_money(store: Store, offline: Output) -> None:
    output = made_with(store, FunctionWriters(Careless(), CarelessTests()))
    assert output.tables["functions"] == offline.tables["functions"]
    refused = {(row["kind"], row["snippet_id"]): row for row in output.tables["refused_functions"]}
    assert {key: (row["tries"], row["tokens"], row["nano_usd"]) for key, row in refused.items()} == {
        (DraftKind.TASK_FUNCTION, SILENT["id"]): (2, 30, 400),
        (DraftKind.FUNCTION_TESTS, SILENT["id"]): (3, 50, 600),
        (DraftKind.FUNCTION_TESTS, STATED["id"]): (3, 50, 600),
    }
    assert (
        "run once more, the tests end as failed_assertion" in refused[DraftKind.FUNCTION_TESTS, STATED["id"]]["problem"]
    )
    assert refused[DraftKind.TASK_FUNCTION, SILENT["id"]]["problem"] == "no tests of it were accepted"
    assert {note.reason for note in output.notes} == {RejectReason.DRAFT_REFUSED}
    assert (SILENT["id"], RejectReason.NO_CHECK) in {(reject.key, reject.reason) for reject in output.rejects}


def test_where_money_ends_the_example_waits_and_the_function_stands(
    store: Store,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    server.faults = [Fault(402, "no credit")]
    output = made_by(store, drafter())
    reasons = {reject.key: reject.reason for reject in output.rejects}
    assert reasons[SILENT["id"]] == RejectReason.DRAFT_WAITING
    assert [row["path"] for row in output.tables["functions"]] == ["lib.same"]
    assert {note.reason for note in output.notes} == {RejectReason.DRAFT_WAITING}
    assert output.tables["refused_functions"] == []
