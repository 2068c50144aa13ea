"""A made-up library of several releases on an index on loopback, and what runs samples against it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.execution.validation.samples.planning import Catalogue
from tests.index_server import Index

VERSIONS = ("1.0", "1.1", "1.2", "2.0", "2.1", "3.0")

_OLD = "def area(side): return side * side\ndef perimeter(side): return 4 * side\n"
_NEW = "def area(side, *, scale=1): return side * side * scale\n"


def publish(index: Index) -> None:
    """Publish `shape`: `perimeter` goes with 2.0, when `scale` comes; 3.0rc1 is a pre-release, 1.5 was withdrawn."""
    for month, version in enumerate(VERSIONS, 1):
        files = {"shape/__init__.py": _OLD if version.startswith("1.") else _NEW}
        index.add_wheel("shape", version, files, f"2021-{month:02}-01T00:00:00Z")
    index.add_wheel("shape", "3.0rc1", {"shape/__init__.py": _NEW}, "2021-05-20T00:00:00Z")
    index.add_wheel("shape", "1.5", {"shape/__init__.py": _OLD}, "2021-03-20T00:00:00Z", yanked=True)
    index.add_wheel("beside", "1.0", {"beside.py": "VALUE = 1\n"}, "2021-01-01T00:00:00Z")
    index.add_wheel("beside", "2.0", {"beside.py": "VALUE = 2\n"}, "2021-01-02T00:00:00Z")
    index.add_wheel("setuptools", "60.0", {"setuptools/__init__.py": ""}, "2021-01-01T00:00:00Z")
    index.add_wheel("pytest", "0.1", {"pytest.py": ""}, "2021-01-01T00:00:00Z")
    index.add_wheel("broken", "1.0", {"broken.py": "import nothing_of_that_name\n"}, "2021-01-01T00:00:00Z")


def engine_at(index: Index, root: Path, sandbox: Sandbox, rules: ValidationRules, **changed: Any) -> Engine:
    """Return what runs samples with the index as the only source."""
    without_gaps = environment_rules().model_copy(update={"gaps": ()})
    store = EnvironmentStore(root, index_url=index.simple, rules=without_gaps, workers=2, sandbox=sandbox)
    return Engine(store, sandbox, rules, **{"workers": 2} | changed)


def catalogue_of(engine: Engine) -> Catalogue:
    return Catalogue(engine.store.facts.project)


def sample(name: str, **changed: Any) -> dict[str, Any]:
    """Return a sample that passes, but for what is changed."""
    return {
        "id": name,
        "library": "shape",
        "version": "1.0",
        "code": "import shape\nresult = shape.area(3)",
        "test": "assert result == 9",
    } | changed


def write(path: Path, *samples: dict[str, Any] | bytes) -> Path:
    """Write samples, or raw lines, one a line."""
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in samples]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
