from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.execution.environments.diagnosis import diagnose
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover, preference
from pipeline.execution.environments.resolution.rules import environment_rules

RULES = environment_rules()
INSTALLED = tuple(
    Interpreter(full, Path("/py", full), Path("/py"))
    for full in ("3.6.15", "3.8.18", "3.9.18", "3.10.13", "3.11.7", "3.13.0")
)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("requires_python", "released", "expected"),
    [
        (None, "2023-05-02", "3.11"),
        (None, "2021-05-18", "3.9"),
        (">=3.7", "2023-05-02", "3.11"),
        (">=3.7,<3.10", "2023-05-02", "3.9"),
        ("<3.9", "2023-05-02", "3.8"),
        (None, "2024-09-01", "3.11"),  # 3.12 is not installed, 3.13 not out
        (None, "2030-01-01", "3.13"),
        (None, "2012-01-01", "3.6"),  # older than all we have: the oldest
        (">=3.8", "2019-01-01", "3.8"),  # asks for what was not out yet
        (">=3.6.*", "2019-01-01", "3.6"),  # as some wrote before PEP 440 was enforced
        ("!=3.9.*,>=3.6", "2021-05-18", "3.8"),
        ("~=3.8", "2021-05-18", "3.9"),
        (">=3.14", "2026-01-01", None),
        ("<3", "2015-01-01", None),
        ("no specifier", "2021-05-18", "3.9"),
        ("", "2021-05-18", "3.9"),
    ],
)
def test_pick(requires_python: str | None, released: str, expected: str | None) -> None:
    found = preference(INSTALLED, requires_python, day(released), RULES)
    assert (found[0].python if found else None) == expected


def test_next_best_is_the_one_before() -> None:
    order = preference(INSTALLED, ">=3.8", day("2021-12-01"), RULES)
    assert [found.python for found in order] == ["3.10", "3.9", "3.8", "3.11", "3.13"]


def test_those_with_a_wheel_come_first() -> None:
    order = preference(INSTALLED, ">=3.8", day("2021-12-01"), RULES, lambda python: python in ("3.8", "3.9", "3.11"))
    assert [found.python for found in order] == ["3.9", "3.8", "3.11", "3.10", "3.13"]


def test_a_python_without_a_date_is_not_used() -> None:
    unknown = Interpreter("3.99.0", Path("/py"), Path("/py"))
    assert preference([unknown], None, day("2030-01-01"), RULES) == []


def test_discovered_interpreters_are_real_and_one_for_each_version() -> None:
    found = discover()
    assert found
    assert len({interpreter.python for interpreter in found}) == len(found)
    for interpreter in found:
        said = subprocess.run([interpreter.path, "--version"], capture_output=True, text=True, check=True).stdout
        assert said == f"Python {interpreter.full}\n"
        assert not interpreter.path.is_symlink()


def test_every_place_is_looked_at_and_broken_ones_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = discover()[-1]
    versions = tmp_path / "pyenv" / "versions"
    (versions / real.full / "bin").mkdir(parents=True)
    (versions / real.full / "bin" / "python3").symlink_to(real.path)
    (versions / "3.1.4" / "bin").mkdir(parents=True)
    on_path = tmp_path / "bin"
    on_path.mkdir()
    (on_path / "python3.99").write_text("#!/bin/sh\nexit 127\n")
    (on_path / "python3.99").chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", f"{on_path}{os.pathsep}/nowhere{os.pathsep}")
    discover.cache_clear()
    try:
        found = discover()
    finally:
        discover.cache_clear()
    assert real in found
    assert all(interpreter.full != "3.99" for interpreter in found)


def test_a_uv_that_fails_hides_no_other_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uv.find_uv_bin", lambda: "/bin/false")
    discover.cache_clear()
    try:
        assert discover()
        [uv] = [finding for finding in diagnose() if finding.name == "uv"]
        assert (uv.works, "exit status 1" in uv.observed) == (False, True)
    finally:
        discover.cache_clear()
