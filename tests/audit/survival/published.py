"""Small snapshots whose environments are made from an index on loopback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.settings import PROJECT
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.pinned import lock_id_of
from tests.index_server import File, Index
from tests.snapshots.lakes import stamp, write_columns

PYTHON = max((found.python for found in discover() if found.python in {"3.11", "3.12"}), default="3.11")
DAY = "2021-05-01T00:00:00Z"
CODE = "def double(number):\n    return 2 * number\n"


def released(index: Index, version: str = "1.0", code: str = CODE, library: str = "lib") -> File:
    """Add a release of a library to an index."""
    file = index.add_wheel(library, version, {f"{library}/__init__.py": code}, DAY)
    assert file is not None
    return file


def environment(file: File, version: str = "1.0", library: str = "lib", **changed: Any) -> dict[str, Any]:
    """Return the row of an environment that holds a file of the index and nothing else."""
    lock = f"{library}=={version} \\\n    --hash=sha256:{file.sha256}\n"
    row: dict[str, Any] = {"library": library, "version": version, "outcome": "built", "python": PYTHON, "lock": lock}
    row |= {"import_names": [library]} | changed
    return row | {"lock_id": lock_id_of(row["python"], row["lock"])}


def example(name: str, code: str, *checks: tuple[str, str | None], library: str = "lib") -> dict[str, Any]:
    """Return a snippet; checks are statements with what they are to display."""
    stated: list[dict[str, Any]] = [
        {"statement": statement, "expected": expected, "options": []} for statement, expected in checks
    ]
    return {"id": name, "library": library, "preamble": "", "code": code, "checks": stated}


def completion(name: str, of: dict[str, Any], at: dict[str, Any], outcome: str | None = "passed") -> dict[str, Any]:
    """Return a published completion of an example in an environment; one without an outcome was probed."""
    own = {"id": name, "library": at["library"], "version": at["version"], "path": "lib.double"}
    return own | {"snippet_id": of["id"], "reference_outcome": outcome, "lock_id": at["lock_id"]}


def snapshot(folder: Path, **tables: Sequence[Mapping[str, Any]]) -> Path:
    """Write tables of a snapshot."""
    for name, rows in ((name, rows) for name, rows in tables.items() if rows):
        write_columns(folder, name, rows)
    return stamp(folder, profile=folder.parent.name, libraries={"lib": 1}, note=folder.name)


RULES = PROJECT / "curation_rules"
