"""A real project from the real index: its sdist, its pinned environment, its own tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.core.vocabularies.projects import ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.families.repository_tasks.project_context import ProjectContext, open_project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.families.repository_tasks.stage import projects_stage
from pipeline.families.repository_tasks.tasks import repository_tasks_stage
from pipeline.index.http import Fetcher
from pipeline.index.licences import LicenceRules
from pipeline.lake.rows import ReleaseRow
from tests.families.problems.examples import MUTATION
from tests.families.repository_tasks.conftest import run_tests

RELEASE: ReleaseRow = {
    "library": "humanize",
    "version": "4.9.0",
    "release_time": datetime(2023, 11, 21, 13, tzinfo=UTC),
    "requires_python": ">=3.8",
    "import_names": ["humanize"],
    "licence": "MIT",
    "attribution": None,
}


@pytest.mark.slow
def test_humanize_from_the_index_to_tasks(data: Path, sandbox: Sandbox, rules: RepositoryRules) -> None:
    few = rules.model_copy(update={"tasks": 6})
    sources = ProjectSources(data / "projects", Fetcher(timeout_s=60), index_url(), few)
    store = EnvironmentStore(data / "environments", index_url=index_url(), rules=environment_rules())
    project_context = ProjectContext(sources, store, sandbox, few, workers=2)
    traced = projects_stage(
        {"releases": [RELEASE], "code_samples": []},
        project_context,
        load(RULES / "licences.yaml", LicenceRules),
        ["MIT"],
    )
    [project] = traced.tables["projects"]
    assert (project["outcome"], project["tests_flaky"]) == (ProjectOutcome.TRACED, 0)
    assert project["requirements"] == ["freezegun", "pytest"]
    used = {row["namespace"]: row for row in traced.tables["traced_functions"]}
    assert "humanize.number._format_not_finite" in used["humanize.number.intcomma"]["intra_file"]
    tables: Any = {name: list(rows) for name, rows in traced.by_table.items()}
    made = repository_tasks_stage(tables, project_context=project_context, mutation=MUTATION)
    tasks = made.tables["repository_tasks"]
    # six are chosen, of which those are refused whose tests want a text that nothing states, or accept half an answer
    unfit = [each for each in made.rejects if each.reason in (RejectReason.UNKNOWABLE, RejectReason.WEAK_TESTS)]
    assert tasks
    assert len(tasks) + len(unfit) == 6
    right = run_tests(open_project(project, project_context), tasks[0]["tests"])
    assert set(right.values()) == {TestOutcome.PASSED}
