"""What running takes on this machine: environments, sandbox, rules, and a workshop for projects."""

from __future__ import annotations

from pathlib import Path

from pipeline.crawl import Fetcher
from pipeline.environments import EnvironmentStore, environment_rules, find_sandbox
from pipeline.repository import ProjectSources, RepositoryRules, Workshop
from pipeline.rules import load
from pipeline.scores.running import Runners
from pipeline.settings import index_url, settings
from pipeline.validation import Engine, ValidationRules


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
