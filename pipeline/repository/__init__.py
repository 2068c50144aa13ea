"""Real projects with their own tests: what these execute, tasks made of that, and running tests on other code."""

from pipeline.repository.project import Project, Variant
from pipeline.repository.rules import RepositoryRules
from pipeline.repository.running import TestRun, run_tests, run_variants
from pipeline.repository.sdists import ProjectSources
from pipeline.repository.stage import projects_stage
from pipeline.repository.tasks import repository_tasks_stage
from pipeline.repository.workshop import Workshop, open_project

__all__ = [
    "Project",
    "ProjectSources",
    "RepositoryRules",
    "TestRun",
    "Variant",
    "Workshop",
    "open_project",
    "projects_stage",
    "repository_tasks_stage",
    "run_tests",
    "run_variants",
]
