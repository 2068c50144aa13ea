"""What the product imports is what its own requirements bring: the development lock has more, and hides what is missing."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline.cli.commands import PANELS
from pipeline.core.settings import PROJECT

WITHOUT_IMPORT = {
    "editables": "builds the editable install",
    "hatchling": "builds the editable install",
    "lxml": "Beautiful Soup loads it by name",
    "pip": "a program, whose settings name the index",
    "s3fs": "fsspec loads it by name, for s3:// addresses",
}
"""Requirements that no module imports, and why they are there."""

MODULES_OF = {"apache-airflow": "apache-airflow-core", "griffe": "griffelib"}
"""Requirements without modules of their own, and the distribution in which theirs are."""

OPTIONAL = ("cluster", "postgres")
"""Extras whose modules are imported where a setting asks for them."""

HARNESSES = {"inspect_ai", "openai", "verifiers"}
"""Modules of extras that are in no lock: only adapters of harnesses import them."""

EVALUATING = ("evaluate", "prompts", "score", "compare-scores", "export")
"""Commands that need none of the extra `refresh`."""

OF_A_LAKE = {"deltalake"}
"""Opens the tables of a lake: snapshots are read without it."""


def imported(paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the top-level packages that modules import at any place; what is in `inside/` runs in the environments of libraries."""
    for path in paths:
        if "inside" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], path


def reached(module: str) -> set[Path]:
    """Return the files that a module imports, at any place and depth, with its own; `inside/` runs elsewhere."""
    files: set[Path] = set()
    waiting = [module]
    while waiting:
        path = file_of(waiting.pop())
        if path in files or "inside" in path.parts:
            continue
        files.add(path)
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pipeline"):
                inner = (f"{node.module}.{alias.name}" for alias in node.names)
                waiting += [name if file_of(name).is_file() else node.module for name in inner]
    return files


def file_of(module: str) -> Path:
    path = PROJECT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def names(requirements: Iterable[str]) -> set[str]:
    found = {str(canonicalize_name(Requirement(one).name)) for one in requirements}
    return {MODULES_OF.get(name, name) for name in found}


def test_every_import_is_declared_and_every_requirement_is_used() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    required = names([*project["dependencies"], *optional["refresh"]])
    declared = required | {name for extra in OPTIONAL for name in names(optional[extra])}
    brings = {name: {str(canonicalize_name(of)) for of in found} for name, found in packages_distributions().items()}
    others = [
        (name, path)
        for name, path in imported(path for folder in ("pipeline", "dags") for path in (PROJECT / folder).rglob("*.py"))
        if name not in sys.stdlib_module_names and name not in ("pipeline", "dags")
    ]
    undeclared = {(name, path) for name, path in others if not brings.get(name, set()) & declared}
    assert {path.parent.name for _, path in undeclared} <= {"harnesses"}
    assert {name for name, _ in undeclared} <= HARNESSES
    used = {of for name, _ in others for of in brings.get(name, ())}
    assert required - used == WITHOUT_IMPORT.keys()


def test_evaluating_needs_the_base_requirements_alone() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["eval"] == []
    optional = [one for extra in OPTIONAL for one in project["optional-dependencies"][extra]]
    declared = names([*project["dependencies"], *optional])
    modules = {command: PANELS["Use snapshots"][command].partition(":")[0] for command in EVALUATING}
    files = {path for module in modules.values() for path in reached(f"pipeline.cli.{module}")} | reached(
        "pipeline.cli.main"
    )
    brings = {name: {str(canonicalize_name(of)) for of in found} for name, found in packages_distributions().items()}
    others = {name for name, _ in imported(files)} - {*sys.stdlib_module_names, "pipeline"}
    assert {name for name in others if not brings[name] & declared} == OF_A_LAKE


def test_what_ships_for_evaluating_is_part_of_what_ships() -> None:
    """So a row that was made with one set is scored with the same versions in the other, and no Airflow comes along."""
    pins = {
        name: {line.split(" ")[0] for line in (PROJECT / name).read_text().splitlines() if "==" in line}
        for name in ("requirements.lock", "requirements-eval.lock")
    }
    assert pins["requirements-eval.lock"] < pins["requirements.lock"]
    assert not [pin for pin in pins["requirements-eval.lock"] if "airflow" in pin]
