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


def imported(folder: str) -> Iterator[tuple[str, Path]]:
    """Yield the top-level packages that modules import at any place; what is in `inside/` runs in the environments of libraries."""
    for path in (PROJECT / folder).rglob("*.py"):
        if "inside" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], path


def names(requirements: Iterable[str]) -> set[str]:
    found = {str(canonicalize_name(Requirement(one).name)) for one in requirements}
    return {MODULES_OF.get(name, name) for name in found}


def test_every_import_is_declared_and_every_requirement_is_used() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    required, optional = names(project["dependencies"]), project["optional-dependencies"]
    declared = required | {name for extra in OPTIONAL for name in names(optional[extra])}
    brings = {name: {str(canonicalize_name(of)) for of in found} for name, found in packages_distributions().items()}
    others = [
        (name, path)
        for name, path in (*imported("pipeline"), *imported("dags"))
        if name not in sys.stdlib_module_names and name not in ("pipeline", "dags")
    ]
    undeclared = {(name, str(path)) for name, path in others if not brings.get(name, set()) & declared}
    assert undeclared == set()
    used = {of for name, _ in others for of in brings[name]}
    assert required - used == WITHOUT_IMPORT.keys()
