"""What a distribution brought into an environment: the modules by which it is imported."""

from __future__ import annotations

import csv
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from pipeline.execution.sandbox.environment import Environment

_BESIDE = frozenset({"test", "tests", "testing", "docs", "doc", "examples", "example", "benchmarks", "scripts"})


def installed_names(environment: Environment, library: str) -> tuple[str, ...]:
    """Return the top-level modules of an installed distribution, tests and private ones left out; () if it has none.

    They are read from RECORD (the database of installed projects, PEP 376), since not every build writes
    top_level.txt. Nothing is imported.
    """
    distribution = next(
        (d for d in _installed(environment.site_packages) if canonicalize_name(d.name) == library), None
    )
    names = _modules(distribution) if distribution else set()
    return tuple(sorted(name for name in names if name.isidentifier() and name[0] != "_" and name not in _BESIDE))


def principal(names: tuple[str, ...], library: str) -> tuple[str, ...]:
    """Return the module that bears the library's name, or all of them where none does."""
    same = tuple(name for name in names if canonicalize_name(name) == library)
    return same or names


def owner_of(path: Path, environment: Environment) -> str | None:
    """Return the distribution that a file in an environment belongs to, as name==version; None if none has it."""
    inside = path.relative_to(environment.site_packages).as_posix()
    for distribution in _installed(environment.site_packages):
        lines = csv.reader((distribution.read_text("RECORD") or "").splitlines())
        if any(line and line[0] == inside for line in lines):
            return f"{canonicalize_name(distribution.name)}=={distribution.version}"
    return None


def _installed(site_packages: Path) -> list[Distribution]:
    return list(distributions(path=[str(site_packages)]))


def _modules(distribution: Distribution) -> set[str]:
    """Return the first segments of what RECORD lists as packages and modules; `X.libs` holds libraries of a wheel."""
    lines = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    paths = [PurePosixPath(line[0]) for line in lines if line]
    inside = [path for path in paths if path.suffix in (".py", ".so", ".pyd")]
    return {path.parts[0].split(".")[0] for path in inside if len(path.parts) == 1 or "." not in path.parts[0]}
