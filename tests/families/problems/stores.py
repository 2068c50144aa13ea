"""Environments of the releases of a made-up library, a file each, with pytest beside it."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.running import EnvironmentOutcome, Rung
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.sandbox.environment import Environment
from tests.execution.validation.conftest import empty_environment
from tests.families.completions_and_migrations.rows import START

TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


class Store:
    """Environments of the library's releases, made beforehand; what is asked of `EnvironmentStore` here."""

    workers = 1

    def __init__(self, environments: dict[str, Environment]) -> None:
        self.environments = environments

    def build(self, wanted: EnvironmentRequest) -> Any:
        assert wanted.tools == ("pytest",)
        return environment_row(wanted.version, self.environments[wanted.version])

    def open(self, row: Any) -> Environment:
        return self.environments[row["version"]]


class Closed(Store):
    """Environments that cannot be opened."""

    def open(self, row: Any) -> Environment:
        raise ZeroDivisionError(row["version"])


def environment_row(version: str, environment: Environment) -> Any:
    return dict.fromkeys(("python_full", "detail", "missing", "build_s")) | {
        "library": "lib", "version": version, "outcome": EnvironmentOutcome.BUILT,
        "python": environment.python_version, "cutoff": START, "rung": Rung.WHEELS, "attempts": [],
        "lock_id": f"lock-{version}", "lock": f"lib=={version}\n", "import_names": ["lib"],
    }  # fmt: skip


def bare_store(source: str, folder: Path) -> Store:
    """Make the environment of one release by its one file, without pytest."""
    environment = empty_environment(folder)
    (environment.site_packages / "lib.py").write_text(source)
    return Store({"1.1": environment})


def store_of(sources: Mapping[str, str], folder: Callable[[str], Path]) -> Store:
    """Make the environments of releases by their one file, each in a folder of its own."""
    found = {}
    for version, source in sources.items():
        found[version] = replace(empty_environment(folder(f"lib{version}")), lock_id=f"lock-{version}")
        packages = found[version].site_packages
        (packages / "lib.py").write_text(source)
        for name in TOOLS:
            shutil.copytree(Path(sysconfig.get_path("purelib"), name), packages / name)
        shutil.copy(Path(sysconfig.get_path("purelib"), "py.py"), packages)
    return Store(found)
