"""A project that is ready to be run: its tree, its pinned environment, the sandbox; and what it is asked to run."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.families.repository_tasks.tree import Tree

if TYPE_CHECKING:  # verifiers of exported tasks have neither msgspec nor pydantic
    from pipeline.execution.validation.run_cache import RunCache
    from pipeline.families.repository_tasks.rules import RepositoryRules

ARCHIVE = "driftline-project.tar"
"""The name under which the tree lies in the sandbox's scratch folder."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project's tree with what it takes to run its tests; `packages` are what is imported from the tree, `memory` has
    what ran before.
    """

    tree: Tree
    packages: tuple[str, ...]
    environment: Environment
    sandbox: Sandbox
    rules: RepositoryRules
    memory: RunCache | None = None

    @property
    def sources(self) -> list[str]:
        """The files whose functions are traced."""
        return self.tree.sources(self.packages)


@dataclass(frozen=True, slots=True)
class Variant:
    """A project with other texts in place of some of its files, and the tests (pytest node ids) to run on it.

    Without tests, those of the project are run that the rules take. `trace` asks for what they execute; with
    `first_failure` the run ends at the first test that fails, with `first_time_out` at the first that runs out of time:
    what never ends in one does not in others.
    """

    id: str
    tests: Sequence[str] = ()
    replacements: Mapping[str, str] = field(default_factory=dict)
    trace: bool = False
    first_failure: bool = False
    first_time_out: bool = False


def _protected(project: Project, files: Sequence[str], replaced: Mapping[str, str]) -> list[str]:
    """Return the files by which a verdict comes about, but for those that are replaced: tests and their settings."""
    settings = ("conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")
    paths = {path for path in project.tree.files if path.rpartition("/")[2] in settings}
    return sorted((paths | set(files) & project.tree.files.keys()) - replaced.keys())


def specification(project: Project, variant: Variant, repeat: int) -> dict[str, Any]:
    """Return what the program inside the sandbox is to do for a variant; `repeat` is the seed of random numbers.

    Errors: ValueError where a replaced file is not in the tree.
    """
    if strange := sorted(set(variant.replacements) - set(project.tree.files)):
        raise ValueError(f"{variant.id}: the project {project.tree.root} has no file {strange[0]} to be replaced")
    files = sorted({test.split("::", 1)[0] for test in variant.tests}) or project.tree.test_files
    return {
        "archive": ARCHIVE,
        "replacements": {
            path: base64.b64encode(project.tree.encoded(path, text)).decode()
            for path, text in variant.replacements.items()
        },
        "protected": {
            path: sha256(project.tree.files[path]).hexdigest()
            for path in _protected(project, files, variant.replacements)
        },
        "import_root": project.tree.import_root,
        "packages": list(project.packages),
        "site_packages": str(project.environment.site_packages),
        "sources": project.sources,
        "files": files,
        "tests": list(variant.tests),
        "quota": project.rules.tests,
        "test_time_s": project.rules.test_time_s,
        "test_calls": project.rules.test_calls,
        "import_cpu_s": project.rules.changed_import_cpu_s if variant.replacements else 0,
        "options": ["--maxfail=1"] if variant.first_failure else [],
        "trace": variant.trace,
        "first_time_out": variant.first_time_out,
        # What the harness looks for in every specification.
        "checks": [],
        "test_file": None,
        "cover": False,
        "clock_shift_s": 0,
        "seed": repeat,
    }
