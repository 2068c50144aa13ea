"""What it takes to run a project: its sources, pinned environments, the sandbox; and a project made ready with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.run_cache import RunCache
from pipeline.families.repository_tasks.project import Project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources


class TracedProject(TypedDict):
    """What a project is opened by: a row of `projects`, or a line of an export's file of projects."""

    project: str
    version: str
    outcome: str
    sha256: str | None
    size: int | None
    packages: Sequence[str]
    python: str | None
    lock_id: str | None
    lock: str | None
    import_names: Sequence[str]


@dataclass(frozen=True)
class ProjectContext:
    """Everything that stages need to run projects, `workers` processes at a time; `memory` has what ran before."""

    sources: ProjectSources
    store: EnvironmentStore
    sandbox: Sandbox
    rules: RepositoryRules
    workers: int = 1
    memory: RunCache | None = None


def open_project(row: TracedProject, project_context: ProjectContext) -> Project:
    """Return the project of a traced `projects` row, ready to be run: fetched and installed again where it is gone.

    Errors: ValueError for a row that was not traced; those of `ProjectSources` and of `EnvironmentStore.open`.
    """
    if row["outcome"] != ProjectOutcome.TRACED:
        raise ValueError(f"{row['project']} {row['version']} has no traced tests: {row['outcome']}")
    tree = project_context.sources.tree(row["project"], row["version"], row["sha256"] or "", row["size"] or 0)
    environment = project_context.store.open(
        {
            "library": row["project"],
            "version": row["version"],
            "outcome": EnvironmentOutcome.BUILT,
            "python": row["python"],
            "lock_id": row["lock_id"],
            "lock": row["lock"],
            "import_names": row["import_names"],
        }
    )
    return Project(
        tree,
        tuple(row["packages"]),
        environment,
        project_context.sandbox,
        project_context.rules,
        project_context.memory,
    )
