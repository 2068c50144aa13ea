"""From a release to tasks: a small project that is really run, and every way in which a project is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.projects import ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.families.repository_tasks.project_context import ProjectContext, open_project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import TooLarge
from pipeline.families.repository_tasks.specification import Requirement
from pipeline.families.repository_tasks.stage import projects_stage
from pipeline.families.repository_tasks.tasks import Candidate, candidate, repository_tasks_stage
from pipeline.index.archives import UnsafeArchive
from pipeline.index.http import Unreachable, WrongHash
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.repository_tasks import repository_acceptance_stage
from tests.errors import raises
from tests.families.problems.examples import MUTATION
from tests.families.repository_tasks.conftest import (
    DEPENDENT,
    FILES,
    LICENCES,
    METADATA,
    QUALITY,
    RELEASE,
    Sources,
    Store,
    trace,
    tree,
    with_files,
)


@pytest.fixture(scope="module")
def traced(project_context: ProjectContext) -> Output:
    return trace(project_context)


def make(project_context: ProjectContext, traced: Output) -> Output:
    tables: Any = {name: list(rows) for name, rows in traced.by_table.items()}
    return repository_tasks_stage(tables, project_context=project_context, mutation=MUTATION)


@pytest.fixture(scope="module")
def tasks(project_context: ProjectContext, traced: Output) -> Output:
    return make(project_context, traced)


def by_name(rows: Any) -> dict[str, Any]:
    return {row["namespace"]: row for row in rows}


def test_rows_fit_their_schemas_and_point_at_each_other(traced: Output, tasks: Output) -> None:
    for name, rows in {**traced.by_table, **tasks.by_table}.items():
        assert rows, name
        for row in rows:
            table(name).check(row)
    files = {row["path"] for row in traced.tables["project_files"]}
    functions = {row["id"]: row for row in traced.tables["traced_functions"]}
    assert {row["path"] for row in functions.values()} == files == {"src/shop/money.py", "src/shop/prices.py"}
    assert {row["function_id"] for row in traced.tables["line_coverage"]} == functions.keys()
    assert {row["function_id"] for row in tasks.tables["repository_tasks"]} <= functions.keys()


def test_a_comment_and_an_empty_line_above_the_first_statement_are_not_its_margin() -> None:
    lines = ["def f():", "    # why", "", "    return 1"]
    found = Candidate({"body_first_line": 2, "body_last_line": 4, "indent": 4}, lines, Requirement("", ""), ())
    assert found.margin == "    "


def test_the_project_tells_how_it_was_traced(traced: Output) -> None:
    [project] = traced.by_table["projects"]
    told = {name: project[name] for name in ("outcome", "licence", "domain", "project_url", "packages", "tests_run")}
    assert told == {
        "outcome": ProjectOutcome.TRACED,
        "licence": "MIT",
        "domain": "Office/Business",
        "project_url": "https://example.org/shop",
        "packages": ["shop"],
        "tests_run": 10,
    }
    counts = {name: project[f"tests_{name}"] for name in ("passed", "failed", "skipped", "flaky")}
    assert counts == {"passed": 7, "failed": 1, "skipped": 1, "flaky": 1}


def test_dependencies_are_what_was_executed(traced: Output) -> None:
    functions = by_name(traced.tables["traced_functions"])
    used = {name: (row["intra_class"], row["intra_file"], row["cross_file"]) for name, row in functions.items()}
    assert used["shop.prices.with_tax"] == ([], ["shop.prices.SCALE"], ["shop.money.rounded"])
    # The line that would ask for an unknown price is never executed.
    assert used["shop.prices.Basket.add"] == ([], [], [])
    assert used["shop.prices.Basket.sum"] == ([], ["shop.prices.total"], [])
    assert "shop.prices.never" not in functions


def test_tracing_again_gives_the_same_rows(project_context: ProjectContext, traced: Output) -> None:
    def without_seconds(output: Output) -> list[list[Any]]:
        return [[{**row, "duration_s": None} for row in rows] for rows in output.by_table.values()]

    assert without_seconds(trace(project_context)) == without_seconds(traced)


def test_tasks_are_judged_by_tests_that_miss_the_body(tasks: Output) -> None:
    made = by_name(tasks.tables["repository_tasks"])
    assert set(made) == {"shop.prices.with_tax", "shop.prices.total"}
    task = made["shop.prices.with_tax"]
    assert {test.split("::")[1] for test in task["tests"]} == {
        *("test_basket", "test_no_tax", "test_tax", "test_total", "test_type", "test_wrong_rate")
    }
    assert (task["reference_outcome"], task["emptied_outcome"]) == (TestOutcome.PASSED, TestOutcome.FAILED)
    assert task["functionality"] == "Return a price together with the tax on it."
    assert (
        task["arguments"]
        == ":param price: what it costs without.\n:param rate: Default money.RATE.\n:return: what it costs."
        "\n:raises ValueError: The text is 'no rate'."
    )
    assert task["coverage"] == 1.0


def test_a_body_that_tests_pass_without_a_part_of_is_no_task(tasks: Output) -> None:
    """No test adds a price that is None: whoever leaves the check out passes."""
    weak = {reject.detail for reject in tasks.rejects if reject.reason is RejectReason.WEAK_TESTS}
    line = FILES["src/shop/prices.py"].split("\n").index("        if price is None:") + 1
    assert weak == {f"shop.prices.Basket.add: tests pass without a branch of line {line}"}


def test_more_tests_judge_a_task_where_fewer_pass_wrong_bodies(project_context: ProjectContext, traced: Output) -> None:
    """That a rate may be given, and which not, is looked at by one test each; `test_total` alone shows the rest."""
    one = replace(project_context, rules=project_context.rules.model_copy(update={"max_tests": 1}))
    made = by_name(make(one, traced).tables["repository_tasks"])
    chosen = {name: [test.split("::")[1] for test in task["tests"]] for name, task in made.items()}
    assert chosen["shop.prices.total"] == ["test_total"]
    assert {*chosen["shop.prices.with_tax"]} >= {"test_no_tax", "test_wrong_rate"}
    assert "test_type" not in chosen["shop.prices.with_tax"]


def test_the_parts_of_a_task_make_up_the_file(tasks: Output) -> None:
    lines = FILES["src/shop/prices.py"].split("\n")
    for task in tasks.tables["repository_tasks"]:
        head = lines[task["signature_first_line"] - 1 : task["body_first_line"] - 1]
        whole = task["contexts_above"] + "\n".join(head) + "\n" + task["reference"] + task["contexts_below"]
        assert whole == FILES["src/shop/prices.py"]
        assert task["input_code"].startswith(head[0])
        assert task["reference"][: task["indent"]].isspace()


def test_what_is_refused_is_told(tasks: Output, traced: Output) -> None:
    functions = {row["id"]: row["name"] for row in traced.tables["traced_functions"]}
    refused = {functions[reject.key]: reject.reason for reject in tasks.rejects}
    assert refused["rounded"] is RejectReason.NO_TEXT
    assert refused["__init__"] is RejectReason.NO_TEXT
    assert tasks.units_in == len(functions)


def test_what_tests_do_not_miss_is_no_task(project_context: ProjectContext) -> None:
    test = "def test_aside():\n    try: aside()\n    except NotImplementedError: pass\n"
    output = with_function(project_context, ASIDE, test)
    [reject] = [reject for reject in output.rejects if "aside" in reject.detail]
    assert (reject.reason, reject.detail) == (
        RejectReason.NOT_PROVEN,
        "shop.prices.aside: 0 tests of 1 fail without its body",
    )


def with_function(project_context: ProjectContext, code: str, test: str, **rules: float) -> Output:
    changed = {
        "src/shop/prices.py": FILES["src/shop/prices.py"] + code,
        "tests/test_prices.py": FILES["tests/test_prices.py"] + "\nfrom shop.prices import aside\n" + test,
    }
    here = with_files(project_context, changed, **rules)
    return make(here, trace(here))


ASIDE = '\n\ndef aside():\n    """Do something that nobody asks for."""\n    a = 1\n    return a\n'


def test_a_body_without_which_nothing_imports_is_missed_with_an_error(project_context: ProjectContext) -> None:
    output = with_function(project_context, ASIDE + "\nREADY = aside()\n", "def test_aside(): assert aside()\n")
    task = by_name(output.tables["repository_tasks"])["shop.prices.aside"]
    assert (task["tests"], task["emptied_outcome"]) == (["tests/test_prices.py::test_aside"], TestOutcome.ERROR)


def test_to_run_out_of_time_is_no_failure(project_context: ProjectContext) -> None:
    test = "def test_aside():\n    try: aside()\n    except NotImplementedError: time.sleep(30)\n"
    output = with_function(project_context, ASIDE, test, test_time_s=1.0)
    [reject] = [reject for reject in output.rejects if "aside" in reject.detail]
    assert (reject.reason, reject.detail) == (
        RejectReason.NOT_PROVEN,
        "shop.prices.aside: 0 tests of 1 fail without its body",
    )


def test_the_quota_takes_the_same_functions(project_context: ProjectContext, traced: Output, tasks: Output) -> None:
    few = make(
        replace(project_context, rules=project_context.rules.model_copy(update={"tasks": 1, "max_tests": 2})), traced
    )
    [task] = few.tables["repository_tasks"]
    assert task["function_id"] == min(row["function_id"] for row in tasks.tables["repository_tasks"])
    assert len(task["tests"]) <= 2
    assert [reject.reason for reject in few.rejects].count(RejectReason.OVER_QUOTA) == 2


@pytest.mark.parametrize(
    ("least", "reason", "name"),
    [
        # the line that would ask for an unknown price is never executed
        ({"min_coverage": 1.0}, RejectReason.NOT_COVERED, "shop.prices.Basket.add"),
        ({"min_mutants": 99}, RejectReason.WEAK_TESTS, "shop.prices.with_tax"),
        ({"min_tests": 7}, RejectReason.NOT_PROVEN, "shop.prices.with_tax"),
    ],
    ids=["coverage", "mutants", "tests"],
)
def test_thin_tests_make_no_task(
    project_context: ProjectContext, traced: Output, least: dict[str, float], reason: RejectReason, name: str
) -> None:
    output = make(replace(project_context, rules=project_context.rules.model_copy(update=least)), traced)
    assert name not in by_name(output.tables["repository_tasks"])
    assert [reject.reason for reject in output.rejects if reject.detail.startswith(f"{name}: ")] == [reason]


REFUSED = {
    "index down": (Unreachable("no answer"), RejectReason.INDEX_UNREACHABLE, None),
    "too large": (TooLarge("99 bytes"), RejectReason.TOO_LARGE, ProjectOutcome.TOO_LARGE),
    "another file": (WrongHash("sha256"), RejectReason.BAD_ARCHIVE, ProjectOutcome.BAD_ARCHIVE),
    "climbs out": (UnsafeArchive("../x"), RejectReason.BAD_ARCHIVE, ProjectOutcome.BAD_ARCHIVE),
}


@pytest.mark.parametrize(("error", "reason", "outcome"), REFUSED.values(), ids=REFUSED)
def test_a_source_distribution_that_cannot_be_had(
    project_context: ProjectContext, error: Exception, reason: RejectReason, outcome: ProjectOutcome | None
) -> None:
    sources: Any = Sources({"shop": tree(project_context.rules)}, error)
    output = trace(replace(project_context, sources=sources))
    assert [reject.reason for reject in output.rejects] == [reason]
    assert [row["outcome"] for row in output.tables["projects"]] == ([outcome] if outcome else [])


BROKEN: dict[str, tuple[dict[str, str], ProjectOutcome, RejectReason]] = {
    "tests do not import": (
        {"tests/conftest.py": "", "tests/test_prices.py": "import nothing_of_that_name\n"},
        ProjectOutcome.NOT_COLLECTED,
        RejectReason.NOT_PROVEN,
    ),
    "no test passes": (
        {"tests/test_prices.py": "def test(): assert 0\n"},
        ProjectOutcome.NONE_PASSED,
        RejectReason.NOT_PROVEN,
    ),
    "nothing is reached": (
        {"tests/test_prices.py": "def test(): pass\n"},
        ProjectOutcome.NOTHING_REACHED,
        RejectReason.NOT_PROVEN,
    ),
    "pytest is left": (
        {"tests/conftest.py": "import os\nos._exit(0)\n"},
        ProjectOutcome.NOT_COLLECTED,
        RejectReason.NOT_PROVEN,
    ),
}


@pytest.mark.parametrize(("changed", "outcome", "reason"), BROKEN.values(), ids=BROKEN)
def test_tests_that_say_nothing(
    project_context: ProjectContext, changed: dict[str, str], outcome: ProjectOutcome, reason: RejectReason
) -> None:
    output = trace(with_files(project_context, changed))
    [project] = output.tables["projects"]
    table("projects").check(project)
    assert (project["outcome"], [reject.reason for reject in output.rejects]) == (outcome, [reason])
    assert project.get("detail") or outcome is ProjectOutcome.NOTHING_REACHED


def test_no_source_distribution_and_no_tests(project_context: ProjectContext) -> None:
    nothing: Any = Sources({})
    assert trace(replace(project_context, sources=nothing)).tables["projects"][0]["outcome"] == ProjectOutcome.NO_SDIST
    bare: Any = Sources({"shop": tree(project_context.rules, {"src/shop/__init__.py": ""})})
    assert trace(replace(project_context, sources=bare)).tables["projects"][0]["outcome"] == ProjectOutcome.NO_TESTS


def test_dependencies_are_dropped_step_by_step(project_context: ProjectContext) -> None:
    asking = with_files(project_context, {"requirements-test.txt": "idna==3.6\n"})
    store: Any = Store(
        project_context.store.open({"outcome": EnvironmentOutcome.BUILT}), lambda wanted: "idna==3.6" in wanted.pins
    )
    [project] = trace(replace(asking, store=store)).tables["projects"]
    assert [wanted.pins for wanted in store.asked] == [("idna==3.6", "pytest"), ("idna", "pytest")]
    assert (project["outcome"], project["requirements"]) == (ProjectOutcome.TRACED, ["idna", "pytest"])
    never: Any = Store(project_context.store.open({"outcome": EnvironmentOutcome.BUILT}), lambda wanted: True)
    [project] = trace(replace(asking, store=never)).tables["projects"]
    assert project["outcome"] == ProjectOutcome.NO_ENVIRONMENT
    with raises(ValueError, "1.0"):
        open_project(project, project_context)


def with_dependent(
    project_context: ProjectContext, licence: str | None, in_metadata: str = "MIT"
) -> tuple[ProjectContext, Output]:
    rules = project_context.rules.model_copy(update={"dependents": 1, "tasks": 2})
    metadata = METADATA.replace("License: MIT", f"License: {in_metadata}")
    sources: Any = Sources({"mall": tree(rules, FILES | {"PKG-INFO": metadata})})
    here = replace(project_context, rules=rules, sources=sources)
    newest = DEPENDENT | {"licence": licence}
    found = [newest | {"place": "pkg:pypi/mall@1.9"}, newest]
    return here, projects_stage({"releases": [RELEASE], "code_samples": found}, here, LICENCES, QUALITY.licences)


def test_the_rule_limits_the_number_of_dependents(project_context: ProjectContext) -> None:
    _, output = with_dependent(project_context, "MIT")
    mall = {row["project"]: row for row in output.tables["projects"]}["mall"]
    assert (mall["version"], mall["library"], mall["outcome"]) == ("2.0", "shop", ProjectOutcome.TRACED)


@pytest.mark.parametrize(
    ("licence", "in_metadata", "said"),
    [("GPL-3.0-only", "MIT", "GPL-3.0-only"), (None, "GPL-3.0-only", "GPL-3.0-only"), (None, "see file", "no licence")],
)
def test_of_code_that_may_not_be_passed_on_no_text_is_kept(
    project_context: ProjectContext, licence: str | None, in_metadata: str, said: str
) -> None:
    _, output = with_dependent(project_context, licence, in_metadata)
    mall = {row["project"]: row for row in output.tables["projects"]}["mall"]
    table("projects").check(mall)
    assert mall["outcome"] == ProjectOutcome.LICENCE
    assert str(mall["detail"]).startswith(said)
    assert {reject.key: reject.reason for reject in output.rejects}["pkg:pypi/mall@2.0"] is RejectReason.LICENCE
    assert not any(output.tables[name] for name in ("project_files", "traced_functions", "line_coverage"))


def test_acceptance_refuses_by_licence_too(project_context: ProjectContext, traced: Output, tasks: Output) -> None:
    projects = [row | {"licence": "GPL-3.0-only"} for row in traced.tables["projects"]]
    accepted = repository_acceptance_stage(
        {"repository_tasks": tasks.tables["repository_tasks"], "projects": projects, "flags": [], "reviews": []},
        QUALITY,
        MUTATION,
    )
    assert accepted.units_in == len(accepted.rejects) > 0
    assert {reject.reason for reject in accepted.rejects} == {RejectReason.LICENCE}


def test_what_is_published_names_its_source(traced: Output, tasks: Output) -> None:
    accepted = repository_acceptance_stage(
        {
            "repository_tasks": tasks.tables["repository_tasks"],
            "projects": traced.tables["projects"],
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        MUTATION,
    )
    for row in accepted.tables["published_repository_tasks"]:
        table("published_repository_tasks").check(row)
        assert (row["purl"], row["licence"], row["origin"]) == ("pkg:pypi/shop@1.0", "MIT", "pypi:shop")


@pytest.mark.parametrize("other", ["minor", "name.strip()"])
def test_a_body_that_stands_beside_almost_alike_is_no_task(other: str) -> None:
    head = ["def major(minor, name):", '    """Raise the major part of a version by one."""']
    lines = [*head, "    cls = type(minor)", "    return cls(minor.major + 1)"]
    twin = "cls = type(minor)\n    return cls(minor.minor + 1)" if other == "minor" else f"return {other}"
    whole = [*lines, "", "", "def another(minor, name):", f"    {twin}"]
    row: Any = {
        "id": "f",
        "namespace": "shop.major",
        "name": "major",
        "docstring": "Raise the major part of a version by one.",
    }
    row |= {"signature_first_line": 1, "body_first_line": 3, "body_last_line": 4}
    made = candidate(row, "\n".join(whole).split("\n"), {}, load(RULES / "repository.yaml", RepositoryRules))
    reason = made.reason if isinstance(made, Reject) else None
    assert reason == (RejectReason.NEAR_DUPLICATE if other == "minor" else None)


@pytest.mark.parametrize(
    ("docstring", "lines", "reason"),
    [
        ("Used by testing only.", 4, RejectReason.NO_TEXT),
        ("This is only used for internal testing purposes", 4, RejectReason.NO_TEXT),
        ("Used by testing only. Sets what the tests of a shop need.", 4, None),
        ("Raise the prices used in tests by one.", 4, None),
        # Fewer words than lines.
        ("Create a parser object instance.", 5, None),
        ("Create a parser object instance.", 40, RejectReason.NO_TEXT),
    ],
)
def test_a_docstring_says_what_to_do_and_enough_for_its_lines(
    docstring: str, lines: int, reason: RejectReason | None
) -> None:
    body = [*(f"    value{number} = {number}" for number in range(lines - 1)), "    return value0"]
    code = ["def parser():", f'    """{docstring}"""', *body]
    row: Any = {"id": "f", "namespace": "shop.parser", "name": "parser", "docstring": docstring}
    row |= {"signature_first_line": 1, "body_first_line": 3, "body_last_line": len(code)}
    made = candidate(row, code, {}, load(RULES / "repository.yaml", RepositoryRules))
    assert (made.reason if isinstance(made, Reject) else None) == reason
