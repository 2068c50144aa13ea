"""An exception that one unit raises is the reject of that unit, in every declared stage, and the others go through."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.mutation.rules import MutationRules
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.repository_tasks.tasks import repository_tasks_stage
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.stage import scenes_stage
from pipeline.lake.rows import ProjectFileRow, ProjectRow
from pipeline.lake.runner import run_stage
from pipeline.lake.stage import Output
from pipeline.llm.rules import DraftingRules
from pipeline.orchestration.failures import internal_errors
from pipeline.orchestration.refresh import Refresh, run_group
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.quality.acceptance.compatibilities import compatibilities_acceptance_stage
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.repository_tasks import repository_acceptance_stage
from pipeline.quality.acceptance.scenes import scenes_acceptance_stage
from tests.demo_library import publish_demo
from tests.index_server import Index, serve

IN_DEMO = {
    "crawl": "pipeline.index.releases._release",
    "gather": "pipeline.corpus.dependents.source.published_of",
    "surface": "pipeline.api.surface.parse_cache._read_file",
    "lifecycle": "pipeline.api.history.stage.changes_of",
    "directives": "pipeline.api.history.documented.read_directives",
    "api_documents": "pipeline.corpus.documentation.stage.read_docstring",
    "snippets": "pipeline.corpus.snippets.stage.demonstrated_paths",
    "usage": "pipeline.corpus.usages.stage.scan",
    "instances": "pipeline.families.completions_and_migrations.completions.mask",
    "drafting": "pipeline.llm.writers.sentences",
    "controlled": "pipeline.families.contexts.controlled.tags_of",
    "environments": "pipeline.execution.environments.stage._build",
    "validation": "pipeline.execution.validation.stage.verdict_row",
    "problems": "pipeline.families.problems.candidates.tasks_of",
    "functions": "pipeline.families.functions.choosing._core",
    "projects": "pipeline.families.repository_tasks.stage.trace_project",
    "flags": "pipeline.quality.flags.flags._findings",
    "acceptance": "pipeline.quality.acceptance.completions_and_migrations._completion",
    "controlled_acceptance": "pipeline.quality.acceptance.controlled._published",
    "contexts": "pipeline.families.contexts.stage.expression_at",
}
"""What works on a unit in each stage that has units in the demo library: it raises at the first."""


def _rules(name: str, model: type[Any]) -> Any:
    return load(RULES / f"{name}.yaml", model)


BARE: Any = {"id": "bare"}
"""A row that lacks all that a stage asks of it."""

FILE: ProjectFileRow = {"project_id": "p", "path": "m.py", "text": "def f():\n    return 1\n"}
PROJECT: ProjectRow = {"id": "p", "purl": "pkg:pypi/p@1", "outcome": ProjectOutcome.TRACED}
FUNCTION: Any = BARE | {"project_id": "p", "path": "m.py", "signature_first_line": 1}
QUALITY = _rules("quality", QualityRules)
MUTATION = _rules("mutation", MutationRules)
DRAFTING = _rules("drafting", DraftingRules)


class AskedContext:
    """What the stage asks a project context for before it runs anything."""

    from pipeline.families.repository_tasks.rules import RepositoryRules

    rules = _rules("repository", RepositoryRules)


WITH_BARE_ROW: dict[str, Callable[[], Output]] = {
    "compatibilities_acceptance": lambda: compatibilities_acceptance_stage(
        {
            "compatibilities": [BARE],
            "snippets": [],
            "releases": [],
            "published_changes": [],
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        _rules("compatibilities", CompatibilityRules),
    ),
    "problems_acceptance": lambda: problems_acceptance_stage(
        {
            "problems": [BARE],
            "problem_runs": [],
            "snippets": [],
            "symbols": [],
            "releases": [],
            "published_changes": [],
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        _rules("problems", ProblemRules),
        MUTATION,
        DRAFTING,
    ),
    "functions_acceptance": lambda: functions_acceptance_stage(
        {
            "functions": [BARE],
            "function_runs": [],
            "snippets": [],
            "published_changes": [],
            "flags": [],
            "reviews": [],
            "symbols": [],
            "releases": [],
        },
        QUALITY,
        _rules("functions", FunctionRules),
        _rules("masking", MaskingRules),
        MUTATION,
        DRAFTING,
    ),
    "repository_tasks": lambda: repository_tasks_stage(
        {"projects": [PROJECT], "traced_functions": [FUNCTION], "line_coverage": [], "project_files": [FILE]},
        AskedContext(),  # type: ignore[arg-type]
        MUTATION,
    ),
    "repository_acceptance": lambda: repository_acceptance_stage(
        {"repository_tasks": [BARE], "projects": [PROJECT], "flags": [], "reviews": []}, QUALITY, MUTATION
    ),
    "scenes": lambda: scenes_stage(
        {"projects": [PROJECT], "project_files": [FILE], "traced_functions": [FUNCTION], "line_coverage": []},
        _rules("scenes", SceneRules),
        MUTATION,
        lambda *_: (),
        lambda *_: (),
    ),
    "scenes_acceptance": lambda: scenes_acceptance_stage(
        {"scenes": [BARE], "projects": [PROJECT], "project_files": [FILE], "flags": [], "reviews": []},
        QUALITY,
        MUTATION,
    ),
}
"""Stages that have nothing to do in the demo library, over a row at which whatever works on it raises a KeyError."""

ELSEWHERE = {
    "sites": ("tests.corpus.documentation.test_faults", "test_sites_that_raise_are_a_note"),
    "model_migrations": ("tests.families.model_migrations.test_stage", "test_a_candidate_that_raises_is_a_reject"),
    "mutation_scores": (
        "tests.families.completions_and_migrations.test_mutation_scores",
        "test_a_target_that_raises_is_a_reject_and_the_others_are_run",
    ),
    "other_answers": (
        "tests.families.completions_and_migrations.test_other_answers",
        "test_a_completion_that_raises_is_a_reject_and_the_others_are_run",
    ),
    "compatibilities": (
        "tests.families.compatibilities.test_stage",
        "test_a_program_that_raises_is_a_reject_and_the_others_are_rows",
    ),
    "judgements": ("tests.families.rename_judgements.test_stage", "test_a_pair_that_raises_is_a_reject"),
    "own_tests": ("tests.corpus.own_tests.test_stage", "test_a_test_that_raises_is_a_reject_and_the_others_are_cut"),
    "witnesses": ("tests.corpus.witnesses.test_stage", "test_a_form_that_raises_is_a_reject"),
    "behaviour": ("tests.families.test_behaviours", "test_a_program_that_raises_is_a_reject"),
    "decisions": ("tests.quality.annotation.test_filling", "test_a_sample_that_raises_is_a_reject"),
}
"""Stages that need a site, a model, people or a rule that enables them: the tests that hold it of them."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Refresh]:
    with serve(Index()) as index, pytest.MonkeyPatch.context() as environment:
        publish_demo(index)
        environment.setenv("DRIFTLINE_INDEX_URL", index.simple)
        environment.setenv("DRIFTLINE_DATA", str(tmp_path_factory.mktemp("data")))
        refresh = Refresh(run="whole", libraries=("demo",))
        for group in GROUPS:
            run_group(refresh, group, "demo")
        yield refresh


def raising_once(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Let a function raise the first time that it is called."""
    name, _, attribute = path.rpartition(".")
    module = importlib.import_module(name)
    work, left = getattr(module, attribute), ["planted"]

    def planted(*args: Any, **named: Any) -> Any:
        if left:
            raise ZeroDivisionError(left.pop())
        return work(*args, **named)

    monkeypatch.setattr(module, attribute, planted)


def anew(name: str, refresh: Refresh) -> Output:
    """Run a stage from the beginning, without writing anything."""
    resources = refresh.resources()
    # no file is remembered, and no release is known
    resources.surfaces.records.path = None
    if name == "crawl":
        resources.lake.write("releases", "demo", [])
    return stages_of(resources)[name].run(resources.lake, "demo", None)


def test_every_stage_is_looked_at() -> None:
    declared = {name for names in GROUPS.values() for name in names}
    assert {*IN_DEMO, *WITH_BARE_ROW, *ELSEWHERE} == declared
    for module, test in ELSEWHERE.values():
        assert callable(getattr(importlib.import_module(module), test))


@pytest.mark.slow(minutes=1)
@pytest.mark.parametrize("name", IN_DEMO)
def test_a_unit_that_raises_costs_itself_alone(demo: Refresh, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    releases = demo.resources().lake.read("releases", "demo")
    whole = anew(name, demo)
    raising_once(monkeypatch, IN_DEMO[name])
    output = anew(name, demo)
    demo.resources().lake.write("releases", "demo", releases)
    found = [reject for reject in (*output.rejects, *output.notes) if reject.reason == RejectReason.INTERNAL_ERROR]
    assert [reject.detail.splitlines()[0] for reject in found] == ["ZeroDivisionError: planted"]
    assert found[0].key
    if whole.units_out > 1:
        # Where the unit stood for another with the same task, that one takes its place, and nothing is fewer.
        assert 0 < output.units_out <= whole.units_out


@pytest.mark.parametrize("name", WITH_BARE_ROW)
def test_a_row_that_lacks_everything_is_a_reject(name: str) -> None:
    output = WITH_BARE_ROW[name]()
    assert [(reject.key, reject.reason) for reject in output.rejects] == [("bare", RejectReason.INTERNAL_ERROR)]
    assert output.rejects[0].detail.startswith("KeyError: ")


@pytest.mark.slow(minutes=1)
def test_the_run_ends_well_and_tells_it(demo: Refresh, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    resources = demo.resources()
    stage = stages_of(resources)["usage"]
    raising_once(monkeypatch, IN_DEMO["usage"])
    resources.lake.drop("stage_states", "demo")
    count = run_stage(stage, "demo", resources.lake, tmp_path)
    assert count.rejected["internal_error"] == 1
    (error,) = internal_errors(resources.lake, ["demo"])
    assert (error.library, error.stage, error.number) == ("demo", "usage", 1)
    assert "pipeline/corpus/usages/stage.py:" in error.trace
