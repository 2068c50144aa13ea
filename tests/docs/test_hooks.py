"""The hooks of pre-commit run tools of `.venv` that `make test` runs too, and need no network."""

from __future__ import annotations

import re

import yaml

from pipeline.core.settings import PROJECT


def test_hooks_are_local_and_run_what_make_test_runs() -> None:
    repositories = yaml.safe_load((PROJECT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    hooks = repositories[0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    in_make = set(re.findall(r"\$\(BIN\)/([\w-]+)", (PROJECT / "Makefile").read_text("utf-8")))
    assert tools == {"ruff", "mypy", "lint-imports"} <= in_make
