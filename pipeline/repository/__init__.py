"""Real projects with their own tests: what these execute, tasks made of that, and running tests on other code."""

from pipeline.repository.drafted import Required, RequirementWriter, Undocumented
from pipeline.repository.project import Project, Variant
from pipeline.repository.requirement import parameter_names, required
from pipeline.repository.rules import RepositoryRules
from pipeline.repository.running import TestRun, run_tests, run_variants
from pipeline.repository.sdists import ProjectSources
from pipeline.repository.stage import projects_stage
from pipeline.repository.tasks import repository_tasks_stage, wanting_requirements
from pipeline.repository.workshop import Workshop, open_project

__all__ = [
    "Project",
    "ProjectSources",
    "RepositoryRules",
    "Required",
    "RequirementWriter",
    "TestRun",
    "Undocumented",
    "Variant",
    "Workshop",
    "open_project",
    "parameter_names",
    "projects_stage",
    "repository_tasks_stage",
    "required",
    "run_tests",
    "run_variants",
    "wanting_requirements",
]
