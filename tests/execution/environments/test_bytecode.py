"""Bytecode is compiled once for what a distribution holds, and linked afterwards."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.execution.environments import bytecode
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.store import EnvironmentStore
from tests.index_server import Index

MAY = "2021-05-01T00:00:00Z"
SOURCES = {
    "lib/__init__.py": "answer = 42\ndef where():\n    raise ValueError\n",
    "lib/deep/a, b.py": "",
    "lib/template.py": "{% not python %}\n",
    "lib/data.txt": "no source",
}


@pytest.mark.parametrize("interpreter", discover(), ids=lambda interpreter: interpreter.python)
def test_bytecode_is_compiled_once(
    interpreter: Interpreter,
    index: Index,
    store_at: Callable[..., EnvironmentStore],
    request_for: Callable[..., EnvironmentRequest],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index.add_wheel("lib", "1.0", SOURCES, MAY)
    store = store_at(tmp_path)
    row: Any = store.build(request_for(python=interpreter.python))
    assert row["outcome"] == Outcome.BUILT, row["detail"]
    first = compiled(store.open(row).site_packages)
    assert [name.split(".")[0] for name in first] == ["lib/__pycache__/__init__", "lib/deep/__pycache__/a, b"]
    shutil.rmtree(tmp_path / row["lock_id"])
    if interpreter.python != "3.6":  # which knows no bytecode that stands without the time of its source
        monkeypatch.setattr(bytecode, "_PROGRAM", "raise SystemExit('must not run')")
    environment = store.open(row)
    assert compiled(environment.site_packages).keys() == first.keys()
    assert compiled(environment.site_packages) == first or interpreter.python == "3.6"
    # A traceback names the file where it is now, and the interpreter takes the bytecode.
    program = "import lib, traceback\ntry: lib.where()\nexcept ValueError: traceback.print_exc()"
    said = subprocess.run([environment.python, "-v", "-c", program], capture_output=True, text=True, check=True).stderr
    source = environment.site_packages / "lib" / "__init__.py"
    assert f'File "{source}", line 3, in where' in said
    assert f"code object from '{environment.site_packages / next(iter(first))}'" in said


def compiled(site_packages: Path) -> dict[str, bytes]:
    found = sorted((site_packages / "lib").rglob("*.pyc"))
    return {str(path.relative_to(site_packages)): path.read_bytes() for path in found}


def test_another_python_has_its_own(
    index: Index,
    store_at: Callable[..., EnvironmentStore],
    request_for: Callable[..., EnvironmentRequest],
    tmp_path: Path,
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": ""}, MAY)
    store = store_at(tmp_path)
    names = []
    for python in ("3.9", "3.10"):
        environment = store.open(store.build(request_for(python=python)))
        names += [path.name for path in (environment.site_packages / "__pycache__").glob("lib.*")]
    assert names == ["lib.cpython-39.pyc", "lib.cpython-310.pyc"]
