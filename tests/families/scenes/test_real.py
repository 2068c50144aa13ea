"""Scenes of a real project: its source distribution, its own tests, its pinned environment, the sandbox."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from pipeline.core.rules.profiles import Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.scenes.proving import run_blocks
from pipeline.index.release_selection import Period
from pipeline.lake.rows import SceneRow
from pipeline.lake.runner import run_stage
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of

pytestmark = pytest.mark.slow

LIBRARY = "markupsafe"


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DRIFTLINE_DATA", str(tmp_path_factory.mktemp("data")))
        libraries = [{"library": LIBRARY, "versions": ">=2.1.4,<=2.1.5"}]
        profile = Profile.model_validate({"name": "one", "libraries": libraries, "code": {"sources": []}})
        return Resources(settings(), profile, Period())


@pytest.fixture(scope="module")
def scenes(resources: Resources, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    stages, counts = stages_of(resources), tmp_path_factory.mktemp("counts")
    for name in ("crawl", "gather", "projects", "scenes", "scenes_acceptance"):
        run_stage(stages[name], LIBRARY, resources.lake, counts)
    return resources.lake.read("published_scenes", LIBRARY)


def test_scenes_are_cut_from_the_files_of_the_project(resources: Resources, scenes: list[SceneRow]) -> None:
    texts = {row["path"]: row["text"] for row in resources.lake.read("project_files", LIBRARY)}
    made = {row["scene"] for row in resources.lake.read("scenes", LIBRARY)}
    assert made >= {Scene.WHOLE_BLOCK, Scene.PART_OF_BLOCK, Scene.OTHER_FILES}
    for row in scenes:
        assert row["prefix"] + row["middle"] + row["test_suffix"] == texts[row["path"]]
        assert row["unit_test_ids"]
        ast.parse(row["prefix"] + row["wrong_answer"] + row["test_suffix"])


def test_its_tests_notice_every_wrong_answer_and_mutants_of_the_block(scenes: list[SceneRow]) -> None:
    assert all(row["noticed_by"] for row in scenes)
    # A signature without defaults has no mutants: nothing shows that the tests notice another one.
    assert all(row["mutants"] for row in scenes)


def test_another_block_that_does_the_same_passes_and_one_that_does_not_fails(
    resources: Resources, scenes: list[SceneRow]
) -> None:
    (project,) = resources.lake.read("projects", LIBRARY)
    row = next(row for row in scenes if row["block_type"] == BlockType.STATEMENT)
    other = f"{row['middle']}  # as it was"
    variants = [
        Variant(name, row["unit_test_ids"], {row["path"]: row["prefix"] + middle + row["test_suffix"]})
        for name, middle in (("same", other), ("wrong", "raise KeyError"), ("broken", "return ("))
    ]
    runs = {run.id: run for run in run_blocks(resources.project_context, resources.rules.scenes, project, variants)}
    assert runs["same"].worst == TestOutcome.PASSED
    assert TestOutcome.FAILED in runs["wrong"].outcomes.values()
    assert TestOutcome.PASSED not in runs["broken"].outcomes.values()
