"""A published lock is used by strangers, who have a plain uv or pip and an index."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import uv

from pipeline.execution.environments.publishing import lock_to_publish
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.store import EnvironmentStore
from tests.index_server import Index, wheel

MAY = "2021-05-01T00:00:00Z"


@pytest.fixture
def lock(
    index: Index,
    store_at: Callable[..., EnvironmentStore],
    request_for: Callable[..., EnvironmentRequest],
    tmp_path: Path,
) -> Path:
    index.add(
        "lib", "1.0", wheel("lib", "1.0", {"lib.py": "import dep; answer = dep.answer"}, Requires_Dist="dep"), MAY
    )
    index.add_wheel("dep", "1.0", {"dep.py": "answer = 42"}, "2021-01-01T00:00:00Z")
    index.add_wheel("dep", "2.0", {"dep.py": "answer = 0"}, "2024-01-01T00:00:00Z")
    row = store_at(tmp_path / "store").build(request_for(python="3.11"))
    text = lock_to_publish([row])
    assert text.startswith(f"# Environment {row['lock_id']}: lib 1.0\n# Python 3.11, dependencies as of 2023-01-22\n")
    path = tmp_path / "lock.txt"
    path.write_text(text)
    return path


def interpreter() -> Interpreter:
    return next(found for found in discover() if found.python == "3.11")


def test_with_uv(index: Index, lock: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    tool: list[str | Path] = [uv.find_uv_bin(), "--no-config", "--cache-dir", str(tmp_path / "cache"), "--quiet"]
    subprocess.run([*tool, "venv", venv, "--python", interpreter().path], check=True)
    installing: list[str | Path] = [
        "pip",
        "sync",
        lock,
        "--python",
        venv / "bin" / "python",
        "--default-index",
        index.simple,
    ]
    subprocess.run([*tool, *installing], check=True)
    said = subprocess.run(
        [venv / "bin" / "python", "-c", "import lib; print(lib.answer)"], capture_output=True, check=True
    )
    assert said.stdout == b"42\n"


def test_with_pip(index: Index, lock: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--isolated",
        "install",
        "--require-hashes",
        "-r",
        lock,
        "--quiet",
    ]
    command += ["--target", tmp_path / "there", "--index-url", index.simple, "--report", tmp_path / "report.json"]
    subprocess.run(command, check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert sorted(f"{i['metadata']['name']} {i['metadata']['version']}" for i in report["install"]) == [
        "dep 1.0",
        "lib 1.0",
    ]


def test_another_file_under_the_same_name_is_refused(index: Index, lock: Path, tmp_path: Path) -> None:
    index.projects["dep"]["1.0"].clear()
    index.add_wheel("dep", "1.0", {"dep.py": "answer = 'evil'"}, "2021-01-01T00:00:00Z")
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--isolated",
        "install",
        "--require-hashes",
        "-r",
        lock,
        "--quiet",
    ]
    command += ["--target", tmp_path / "there", "--index-url", index.simple]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
