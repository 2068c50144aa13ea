"""What running takes on this machine: environments, sandbox, rules, and a workshop for projects."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.evaluation.scores.running import Runners
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.repository_tasks.project_context import Workshop
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher


def runners_at(cache: Path) -> Runners:
    """Return what runs samples and projects, with environments and sources below a folder.

    Errors: RuleError, SettingsError, SandboxUnavailable.
    """
    current, sandbox = settings(), find_sandbox()
    store = EnvironmentStore(
        cache / "environments",
        index_url=index_url(),
        rules=environment_rules(),
        workers=current.workers,
        sandbox=sandbox,
    )
    engine = Engine(store, sandbox, load(current.rules / "validation.yaml", ValidationRules), current.workers)
    of_projects = load(current.rules / "repository.yaml", RepositoryRules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    projects = ProjectSources(cache / "projects", fetcher, index_url(), of_projects)
    return Runners(engine, Workshop(projects, store, sandbox, of_projects, current.workers))
