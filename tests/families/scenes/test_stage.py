"""The stage on a small project whose tests really run: what is drawn, what is proven, what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.projects import ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.families.scenes.proving import ReadTests, RunVariants
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.stage import scenes_stage
from pipeline.lake.rows import ProjectRow, SceneRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.families.problems.examples import MUTATION
from tests.families.scenes import rows as made
from tests.families.scenes.rows import FILES, LocalRun

SHIPPED = load(RULES / "scenes.yaml", SceneRules)
RULES_HERE = SHIPPED.model_copy(
    update={
        "per_type": 2,
        "per_function": 3,
        "per_scene": 2,
        "related": SHIPPED.related.model_copy(update={"min_tokens": 8, "min_similarity": 0.3}),
    }
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LocalRun:
    return LocalRun(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def output(run: LocalRun) -> Output:
    return stage(run)


def stage(
    run: RunVariants, rules: SceneRules = RULES_HERE, read: ReadTests = lambda *_: (), **changed: list[Any]
) -> Output:
    tables: Any = {
        "projects": [made.project()],
        "project_files": made.files(),
        "traced_functions": made.functions(),
        "line_coverage": made.line_coverage(),
    }
    return scenes_stage(tables | changed, rules=rules, mutation=MUTATION, run=run, read_tests=read)


def scenes(output: Output) -> list[SceneRow]:
    return list(output.tables["scenes"])


def test_every_scene_is_made_and_fits_its_schema(output: Output) -> None:
    found = scenes(output)
    for row in found:
        table("scenes").check(row)
    assert {row["scene"] for row in found} == set(Scene)
    assert len({row["id"] for row in found}) == len(found)


def test_the_middle_stands_in_the_file_where_the_row_says(output: Output) -> None:
    for row in scenes(output):
        text = FILES[row["path"]]
        assert text[row["middle_start"] : row["middle_end"]] == row["middle"]
        first, last = row["block_key"].removeprefix(f"{row['path']}#L").split("-L")
        lines = "\n".join(text.split("\n")[int(first) - 1 : int(last)])
        assert row["middle"] in lines


def test_tests_notice_what_they_check_and_not_what_they_only_run(output: Output) -> None:
    for row in scenes(output):
        assert row["noticed_by"]
        assert set(row["noticed_by"]) <= set(row["unit_test_ids"])
    # test_heaviest runs its loop and checks nothing of it; test_total looks at what comes out.
    loops = [row for row in scenes(output) if row["block_type"] == BlockType.FOR]
    assert {row["namespace"] for row in loops} == {"shop.prices.total"}
    # Where the block is complete, code after it is what they notice.
    (complete,) = [row for row in loops if row["scene"] == Scene.COMPLETE_BLOCK]
    assert complete["wrong_answer"] == "\n    for price in prices:\n        result = result + price * 1"


def test_each_block_has_the_tests_that_run_it(output: Output) -> None:
    expected = {name: {f"test_shop.py::{test}" for test in tests} for name, tests in made.REACHED.items()}
    for row in scenes(output):
        tests = expected[row["namespace"].rpartition(".")[2]]
        assert set(row["unit_test_ids"]) <= tests
        assert row["tests_reaching"] <= len(tests)
    functions = [row for row in made.functions() if row["name"] == "sum"]
    of_sum = stage(made.all_notice, RULES_HERE.model_copy(update={"per_function": 100}), traced_functions=functions)
    in_else = [row for row in scenes(of_sum) if row["block_type"] == BlockType.ELSE]
    assert {tuple(row["unit_test_ids"]) for row in in_else} == {("test_shop.py::test_sum",)}


class Outcomes:
    """Every test comes out the same."""

    def __init__(self, outcome: TestOutcome, of_run: Outcome = Outcome.PASSED) -> None:
        self.outcome = outcome
        self.of_run = of_run

    def __call__(self, project: ProjectRow, variants: Sequence[Variant]) -> list[TestRun]:
        return [made.ran(variant, dict.fromkeys(variant.tests, self.outcome), self.of_run) for variant in variants]


PASSING = Outcomes(TestOutcome.PASSED)


def test_code_of_other_files_is_shown_where_the_block_runs_it(output: Output) -> None:
    relying = [row for row in scenes(output) if row["scene"] == Scene.OTHER_FILES]
    assert {row["namespace"] for row in relying} == {"shop.cart.Cart.sum"}
    for row in relying:
        for related in row["related"]:
            assert related["path"] == "shop/prices.py"
            assert related["namespace"].rpartition(".")[2] in row["middle"]
            assert related["code"].startswith("def ")
            assert related["similarity"] is None


def test_like_code_is_of_another_function_and_not_the_same() -> None:
    like = [row for row in scenes(stage(made.all_notice)) if row["scene"] == Scene.SIMILAR_CODE]
    assert {row["namespace"] for row in like} == {"shop.prices.total", "shop.cart.Cart.heaviest"}
    for row in like:
        (related,) = row["related"]
        assert related["namespace"] != row["namespace"]
        assert 0.3 <= (related["similarity"] or 0) <= 0.9
        assert row["middle"] not in related["code"]


def test_every_function_has_a_scene_or_a_reject_and_every_refused_scene_its_own(output: Output) -> None:
    functions = {row["id"]: row["namespace"] for row in made.functions()}
    rejects = {reject.key: reject for reject in output.rejects}
    assert output.units_in == len(scenes(output)) + len(rejects) == len(scenes(output)) + len(output.rejects)
    refused = [reject for key, reject in rejects.items() if key not in functions]
    # Functions of which a scene stands have refused ones, too.
    assert RejectReason.WEAK_TESTS in {reject.reason for reject in refused}
    assert not {reject.key for reject in refused} & {row["id"] for row in scenes(output)}
    assert len({reject.detail.split(":")[0] for reject in refused}) == len(refused)
    places = {row["block_key"].split("#")[0] for row in scenes(output)}
    assert {reject.detail.split("#")[0] for reject in refused} <= places
    unplanned = {functions[key] for key in rejects if key in functions}
    assert unplanned.isdisjoint({row["namespace"] for row in scenes(output)})


def test_a_scene_whose_block_needs_what_is_hidden_is_refused_by_its_own_id() -> None:
    text = "def f(x):\n    first = x + 1\n    later = first\n    return later + 2\n"
    function = next(row for row in made.functions() if row["name"] == "total") | {"path": "shop/hides.py"}
    function |= {"signature_first_line": 1, "body_last_line": 4, "executed_lines": [1, 2, 3, 4]}
    cut = RULES_HERE.model_copy(update={"scenes": (Scene.FUNCTION_EMPTY_BELOW,), "per_type": 9, "per_function": 9})
    output = stage(made.all_notice, cut, project_files=made.files({"shop/hides.py": text}), traced_functions=[function])
    hidden = [reject for reject in output.rejects if reject.reason == RejectReason.UNKNOWABLE]
    assert [reject.detail for reject in hidden]
    assert all("nothing shows" in reject.detail for reject in hidden)
    assert function["id"] not in {reject.key for reject in output.rejects}


def test_the_file_as_it_is_runs_once_and_each_wrong_answer_once(run: LocalRun, output: Output) -> None:
    ids = [variant.id for variant in run.variants]
    assert len(ids) == len(set(ids))
    assert ids.count("as it is") == 1
    places = {f"{row['path']}:{row['middle_start']}-{row['middle_end']}" for row in scenes(output)}
    assert places <= set(ids)


def test_quotas_hold(output: Output) -> None:
    whole = [row for row in scenes(output) if row["scene"] == Scene.WHOLE_BLOCK]
    assert max(Counter(row["block_type"] for row in whole).values()) <= RULES_HERE.per_type
    assert max(Counter(row["function_id"] for row in whole).values()) <= RULES_HERE.per_function
    for scene in (Scene.OTHER_FILES, Scene.SIMILAR_CODE):
        assert sum(row["scene"] == scene for row in scenes(output)) <= RULES_HERE.per_scene


def test_order_of_rows_changes_nothing() -> None:
    backwards = stage(
        made.all_notice,
        project_files=made.files()[::-1],
        traced_functions=made.functions()[::-1],
        line_coverage=made.line_coverage()[::-1],
    )
    ordered = sorted(row["id"] for row in scenes(stage(made.all_notice)))
    assert sorted(row["id"] for row in scenes(backwards)) == ordered


@pytest.mark.parametrize("outcome", [TestOutcome.FAILED, TestOutcome.NOT_RUN, TestOutcome.SKIPPED])
def test_what_does_not_pass_again_is_refused(outcome: TestOutcome) -> None:
    output = stage(Outcomes(outcome))
    assert scenes(output) == []
    assert RejectReason.NOT_PROVEN in {reject.reason for reject in output.rejects}
    assert len(output.rejects) == output.units_in


def of_changed_files(outcomes: dict[str, TestOutcome]) -> RunVariants:
    """On changed files the tests come out like this, by name; the others pass."""

    def run(project: ProjectRow, variants: Sequence[Variant]) -> list[TestRun]:
        return [
            made.ran(
                variant,
                {
                    test: outcomes.get(test.rpartition("::")[2], TestOutcome.PASSED)
                    if variant.replacements
                    else TestOutcome.PASSED
                    for test in variant.tests
                },
                Outcome.PASSED,
            )
            for variant in variants
        ]

    return run


def test_where_tests_only_run_out_of_time_on_the_empty_block_there_is_no_scene() -> None:
    functions = [row for row in made.functions() if row["name"] == "total"]
    late = dict.fromkeys(made.REACHED["total"], TestOutcome.TIMED_OUT)
    whole = RULES_HERE.model_copy(update={"scenes": (Scene.WHOLE_BLOCK,)})
    output = stage(of_changed_files(late), whole, traced_functions=functions)
    assert (scenes(output), {reject.reason for reject in output.rejects}) == ([], {RejectReason.WEAK_TESTS})
    noticed = stage(of_changed_files(late | {"test_sum": TestOutcome.FAILED}), whole, traced_functions=functions)
    assert {tuple(row["noticed_by"]) for row in scenes(noticed)} == {("test_shop.py::test_sum",)}


def test_tests_that_pass_with_every_wrong_answer_make_no_scene() -> None:
    output = stage(PASSING)
    assert scenes(output) == []
    assert RejectReason.WEAK_TESTS in {reject.reason for reject in output.rejects}


def test_a_block_whose_loop_may_run_once_is_refused_and_others_stand(output: Output) -> None:
    def passing_once(project: ProjectRow, variants: Sequence[Variant]) -> list[TestRun]:
        def run_one(variant: Variant) -> TestRun:
            is_once = any("islice" in text for text in variant.replacements.values())
            [result] = PASSING(project, [variant]) if is_once else made.all_notice(project, [variant])
            return result

        return [run_one(variant) for variant in variants]

    weak = stage(passing_once)
    assert {row["block_type"] for row in scenes(stage(made.all_notice))} > {BlockType.FOR}
    places = {reject.detail for reject in weak.rejects if "without a loop of line" in reject.detail}
    assert places
    # Where the header is shown, nobody has to write how often the loop runs.
    loops = [row for row in scenes(weak) if row["block_type"] == BlockType.FOR]
    assert {row["scene"] for row in loops} == {Scene.PART_OF_BLOCK, Scene.COMPLETE_BLOCK}
    assert {BlockType.IF, BlockType.STATEMENT} <= {row["block_type"] for row in scenes(weak)}


def test_wrong_additions_are_the_mutants_of_a_complete_block(output: Output) -> None:
    complete = [row for row in scenes(output) if row["scene"] == Scene.COMPLETE_BLOCK]
    assert complete
    for row in complete:
        assert 1 <= row["mutants_killed"] <= row["mutants"] <= 2


@pytest.mark.parametrize("last", list(made.REACHED["total"]))
def test_a_noticing_test_is_added_where_those_of_the_scene_pass(last: str) -> None:
    functions = [row for row in made.functions() if row["name"] == "total"]
    one = RULES_HERE.model_copy(update={"max_tests": 1, "further_tests": 1})
    output = stage(of_changed_files({last: TestOutcome.FAILED}), one, traced_functions=functions)
    written = [row for row in scenes(output) if row["scene"] != Scene.COMPLETE_BLOCK]
    assert written
    assert {tuple(row["noticed_by"]) for row in written} == {(f"test_shop.py::{last}",)}


@pytest.mark.parametrize(
    ("text", "rules", "reason"),
    [
        ("def f(x):\n    return `x`\n", RULES_HERE, RejectReason.UNPARSED_SOURCE),
        (
            "def f(x):\n    return x + 1\n" * 2,
            RULES_HERE.model_copy(update={"max_file_length": 40}),
            RejectReason.TOO_LONG,
        ),
        ("def f():\n    x = 1\n", RULES_HERE, RejectReason.NO_BLOCK),
        ("def f():\n" + "    x = 1\n" * 50, RULES_HERE, RejectReason.NO_BLOCK),
        ("", RULES_HERE, RejectReason.NO_BLOCK),
    ],
)
def test_what_cannot_be_shown_is_refused_by_name(text: str, rules: SceneRules, reason: RejectReason) -> None:
    function = next(row for row in made.functions() if row["name"] == "total") | {"path": "shop/bad.py"}
    lines = list(range(1, text.count("\n") + 1))
    function |= {"signature_first_line": 1, "body_last_line": len(lines), "executed_lines": lines}
    output = stage(
        PASSING,
        rules=rules,
        project_files=made.files({"shop/bad.py": text}),
        traced_functions=[function],
    )
    assert [reject.reason for reject in output.rejects] == [reason]


def test_a_project_that_was_not_traced_makes_nothing() -> None:
    projects = [made.project(outcome=ProjectOutcome.NO_TESTS)]
    output = stage(PASSING, projects=projects, project_files=[], traced_functions=[], line_coverage=[])
    assert (scenes(output), output.units_in, output.rejects) == ([], 0, [])
