"""Problems that a model writes about changes, from the request to the published row, run in the real sandbox."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import GitChameleonCategory
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence, SnippetSource
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.llm_problem import ModelProblems
from pipeline.families.problems.llm_reading import Reader
from pipeline.families.problems.running import OpenEnvironment
from pipeline.families.problems.stage import problems_stage
from pipeline.lake.rows import ChangeRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.judging import RunJudge
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import TAGGING, document
from tests.families.problems.changed_world import ANNOTATED, GOOD, INTRODUCED, KIND, RENAMED, SOURCES, TABLES, unwritten
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS
from tests.families.problems.stores import Store, environment_row, store_of
from tests.llm.conftest import Make, drafter, model_drafter_at, server  # noqa: F401 - fixtures
from tests.llm.tasks.test_description import PLANTED, data_of
from tests.model_server import Fault, ModelServer, serving

pytestmark = pytest.mark.slow

QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
USAGE = load(RULES / "usage.yaml", UsageRules)
VALIDATION = load(RULES / "validation.yaml", ValidationRules)
HEAD = "from solution import solve\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(SOURCES, tmp_path_factory.mktemp)


def good(params: dict[str, Any]) -> dict[str, Any]:
    return {"text": json.dumps(GOOD[data_of(params)["path"]])}


def writer_of(store: Store, model: ModelDrafter) -> ModelProblems:
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION, workers=1)
    judge = RunJudge(runner.sandbox, VALIDATION, KIND.min_coverage, QUALITY.fails_in_target)
    return ModelProblems(model, KIND, Reader(KIND, DRAFTING, RULES_OF_PROBLEMS.function), judge, runner)


def made_by(store: Store, model: ModelDrafter | None, changes: list[ChangeRow], **tables: Any) -> Output:
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION, workers=1)
    writer = writer_of(store, model) if model is not None else None
    output = problems_stage(TABLES | {"changes": changes} | tables, rules=RULES_OF_PROBLEMS, drafting=DRAFTING, tagging=TAGGING, usage=USAGE, mutation=MUTATION, runner=runner, fails=QUALITY.fails_in_target, writer=writer)  # fmt: skip
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    assert output.units_in == output.units_out + len(output.rejects)
    return output


def published(output: Output) -> Sequence[Any]:
    problems, runs = output.tables["problems"], output.tables["problem_runs"]
    changes = TABLES["changes"]
    accepted = problems_acceptance_stage(
        {
            "problems": problems,
            "problem_runs": runs,
            "snippets": [],
            "symbols": TABLES["symbols"],
            "releases": TABLES["releases"],
            "published_changes": changes,
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        RULES_OF_PROBLEMS,
        MUTATION,
        DRAFTING,
    )
    for row in accepted.tables["published_problems"]:
        table("published_problems").check(row)
    return accepted.tables["published_problems"]


def test_what_a_model_writes_about_changes_is_proven_and_published(
    store: Store,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    server.reply = good
    output = made_by(store, drafter(), TABLES["changes"])
    rows = {row["path"]: row for row in published(output)}
    assert set(rows) == set(GOOD)
    fused = rows["lib.fuse"]
    assert (fused["drafter"], fused["change_id"], fused["snippet_id"]) == (Drafter.MODEL, RENAMED["id"], None)
    assert fused["starting_code"] + fused["solution"] == (
        "def solve(texts, mark):\n    from lib import fuse\n    return fuse(texts, mark)\n"
    )
    assert (fused["category"], fused["other_code"]) == (GitChameleonCategory.NAME, ProblemRun.OTHER_MODEL)
    assert (fused["other_outcome"], fused["discriminating"]) == (Outcome.API_MISSING, True)
    assert (fused["stated_tests"], fused["recorded_tests"], fused["drafted_tests"]) == (0, 0, 4)
    assert fused["hidden_tests"].endswith("without_library(['a', 'b'], '-')\n")
    assert (fused["source"], fused["origin"], fused["licence"]) == (SnippetSource.CHANGE, "pypi:lib", "MIT")
    assert fused["tokens"] > 0
    assert fused["nano_usd"] > 0
    chopped, narrowed = rows["lib.chop"], rows["lib.narrow"]
    assert (chopped["other_code"], chopped["other_outcome"]) == (ProblemRun.REFERENCE_ELSEWHERE, Outcome.API_MISSING)
    assert (chopped["evidence"], chopped["coverage"]) == (Evidence.EXECUTED, 1.0)
    assert (narrowed["version"], narrowed["other_version"], narrowed["other_outcome"]) == (
        "1.0", "1.1", Outcome.SIGNATURE_MISMATCH,
    )  # fmt: skip
    assert len(server.asked) == 3


def test_without_a_model_nothing_of_it_is_there(store: Store) -> None:
    output = made_by(store, None, TABLES["changes"])
    assert {name: len(rows) for name, rows in output.by_table.items()} == {
        "problems": 0, "problem_runs": 0, "problem_environments": 0,
    }  # fmt: skip
    assert ANNOTATED["id"] not in {reject.key for reject in output.rejects}


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "wrong about the reference": (
        "lib.chop",
        {"hidden_tests": GOOD["lib.chop"]["hidden_tests"].replace("[[1, 2], [3]]", "[[1], [2, 3]]")},
        "with the reference the tests end as failed_assertion",
    ),
    "nothing is tested": (
        "lib.chop",
        {"hidden_tests": HEAD + "".join(f"def test_{n}():\n    solve([1], {n})\n" for n in (1, 2, 3))},
        "hidden_tests: a test states nothing",
    ),
    "another result each time": (
        "lib.chop",
        {"hidden_tests": f"{GOOD['lib.chop']['hidden_tests']}def test_hash():\n    assert hash('b') % 2 == 0\n"},
        "its expectation is no constant",
    ),
    "a line that is never executed": (
        "lib.chop",
        {"solution": "    from lib import chop\n    if length < 0:\n        return []\n    return chop(items, length)\n"},
        "line 4: return []",
    ),
    "a flood of output": (
        "lib.chop",
        {"solution": "    from lib import chop\n    for _ in range(40):\n        print('x' * 10**6)\n    return chop(items, length)\n"},
        "visible_test: with the solution it ends as sandbox_violation:\nwent over the limit of output",
    ),
    "a wrong visible test": (
        "lib.chop", {"visible_test": "assert solve([1], 1) == []"}, "visible_test: with the solution it ends as failed"
    ),
    "right in both versions": (
        "lib.narrow",
        {
            "solution": "    return lib.narrow(text, width)\n",
            "visible_test": "assert solve('ab', 3) == 'ab '\n",
            "hidden_tests": GOOD["lib.narrow"]["hidden_tests"].replace("*", " "),
        },
        "solution: in 1.1 it ends as passed",
    ),
    "the work done by itself": (
        "lib.chop",
        {"solution": "    from lib import chop\n    chop(items, length)\n    return [items[n:n + length] for n in range(0, len(items), length)]\n"},
        "the tests pass where lib.chop does nothing",
    ),
    "the work done by itself where the library is gone": (
        "lib.chop",
        {"solution": "    from lib import chop\n    own = [items[n:n + length] for n in range(0, len(items), length)]\n"
         "    return chop(items, length) if type(chop).__name__ == 'function' else own\n"},
        "solution: it must fail where each use of lib raises",
    ),
    "a parameter that no test varies": (
        "lib.fuse",
        {"hidden_tests": GOOD["lib.fuse"]["hidden_tests"].replace("solve(['a', 'b'], '') == 'ab'", "solve(['a', 'c'], '-') == 'a-c'")},
        "a function that ignores mark passes",
    ),
    "a parameter that a test varies without looking": (
        "lib.fuse",
        {"hidden_tests": GOOD["lib.fuse"]["hidden_tests"].replace("solve(['a', 'b'], '') == 'ab'", "isinstance(solve(['a', 'b'], ''), str)")},
        "a function that ignores mark passes",
    ),
    "an other solution that is wrong there": (
        "lib.fuse", {"other_solution": "    from lib import glue\n    return glue(texts, mark)"}, "other_solution: with it",
    ),
    "an other solution that is right here": (
        "lib.fuse", {"other_solution": "    return mark.join(texts)"}, "right for the other version: test what differs",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def judged(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """What was asked of a model about each case that answers well when its draft comes back; all in one go."""

    def reply(params: dict[str, Any]) -> dict[str, Any]:
        told = data_of(params)
        path, changed, _ = WRONG[told["case"]]
        return {"text": json.dumps(GOOD[path] | ({} if "refused" in told else changed))}

    wanted = []
    for case, (path, _, _) in WRONG.items():
        one = unwritten(path)
        changed = replace(one.changed, change=one.changed.change | {"id": case})
        wanted.append(replace(one, changed=changed, facts={**one.facts, "case": case}))
    places = {
        version: OpenEnvironment(environment_row(version, environment), environment)
        for version, environment in store.environments.items()
    }
    with serving(ModelServer(reply)) as state:
        model = model_drafter_at(state, tmp_path_factory.mktemp("model"))
        written = writer_of(store, model).write(wanted, places)
        assert [one.refusal for one in written] == [None] * len(wanted)
        asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for params in state.asked:
            asked[data_of(params)["case"]].append(data_of(params))
        yield asked


@pytest.mark.parametrize("case", WRONG)
def test_what_running_says_goes_back_and_the_next_draft_is_taken(
    judged: dict[str, list[dict[str, Any]]], case: str
) -> None:
    asked, again = judged[case]
    assert "refused" not in asked
    assert WRONG[case][2] in again["refused"]["reason"]


def test_the_same_program_with_other_tests_is_no_second_problem(
    store: Store,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    def reply(params: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(GOOD["lib.chop"])
        return {"text": text.replace("test_parts", "test_others") if data_of(params)["number"] else text}

    server.reply = reply
    one = unwritten("lib.chop")
    wanted = [
        replace(
            one,
            changed=replace(one.changed, change=one.changed.change | {"id": str(number)}),
            facts={**one.facts, "number": number},
        )
        for number in (0, 1)
    ]
    places = {
        version: OpenEnvironment(environment_row(version, environment), environment)
        for version, environment in store.environments.items()
    }
    first, second = writer_of(store, drafter()).write(wanted, places)
    assert (first.refusal, len(first.runs)) == (None, 3)
    assert second.refusal is not None
    assert "the same program" in second.refusal.problem


def test_what_is_never_right_is_a_reject(store: Store, drafter: Make, server: ModelServer) -> None:  # noqa: F811
    server.reply = lambda _: {"text": json.dumps(GOOD["lib.chop"] | {"solution": "    return items\n"})}
    output = made_by(store, drafter(), [INTRODUCED])
    (reject,) = [reject for reject in output.rejects if reject.key == INTRODUCED["id"]]
    assert reject.reason == RejectReason.DRAFT_REFUSED
    assert reject.detail.startswith("lib.chop in 1.1: ")
    assert "does not use lib.chop" in reject.detail
    assert output.tables["problems"] == []


def test_a_model_that_declines_is_asked_once(store: Store, drafter: Make, server: ModelServer) -> None:  # noqa: F811
    server.reply = lambda _: {"text": "", "stop_reason": "refusal"}
    output = made_by(store, drafter(), [INTRODUCED])
    assert len(server.asked) == 1
    (reject,) = [reject for reject in output.rejects if reject.key == INTRODUCED["id"]]
    assert reject.reason == RejectReason.DRAFT_REFUSED


def test_where_money_ends_it_waits(store: Store, drafter: Make, server: ModelServer) -> None:  # noqa: F811
    server.faults = [Fault(402, "no credit")]
    output = made_by(store, drafter(), [INTRODUCED])
    (reject,) = [reject for reject in output.rejects if reject.key == INTRODUCED["id"]]
    assert reject.reason == RejectReason.DRAFT_WAITING


def test_what_documents_command_is_data_and_an_obedient_draft_is_refused(
    store: Store,
    drafter: Make,  # noqa: F811
    server: ModelServer,  # noqa: F811
) -> None:
    def obeys(params: dict[str, Any]) -> dict[str, Any]:
        told = data_of(params)
        assert any(PLANTED in text for text in told["here"]["documentation"])
        assert params["messages"][0]["content"].count("</data>") == 1
        assert PLANTED not in params["system"][0]["text"]
        return {"text": json.dumps(GOOD["lib.chop"] | {"solution": "    import os\n    return os.environ\n"})}

    server.reply = obeys
    documents = [document("lib.chop", f"Part items. {PLANTED}", "1.1")]
    output = made_by(store, drafter(), [INTRODUCED], documents=documents)
    assert output.tables["problems"] == []
    (reject,) = [reject for reject in output.rejects if reject.key == INTRODUCED["id"]]
    assert reject.reason == RejectReason.DRAFT_REFUSED
