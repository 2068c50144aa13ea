"""Who drafts, and by which rules, is part of what a stage's result depends on; what it may cost is not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.core.rules.load import RULES
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.stages.all_stages import stages_of

DRAFTING = {"drafting": "description", "controlled": "description", "contexts": "instruction",
            "repository_tasks": "requirement", "model_migrations": "migrated_code",
            "judgements": "rename_judgement", "problems": "problem"}  # fmt: skip


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(RULES, tmp_path / "rules")
    monkeypatch.setenv("DRIFTLINE_RULES", str(folder))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    return folder


def change(path: Path, **values: Any) -> None:
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


def depends() -> dict[str, Any]:
    stages = stages_of(Refresh(run="r").resources())
    return {name: stages[name].depends() for name in DRAFTING}


def differing(before: dict[str, Any]) -> set[str]:
    return {name for name, value in depends().items() if value != before[name]}


def test_with_a_key_each_stage_that_drafts_is_another(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_key = depends()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert differing(with_key) == set(DRAFTING)


@pytest.mark.parametrize("kind", sorted(set(DRAFTING.values())))
def test_the_prompt_of_a_kind_is_part_of_its_draft(rules: Path, kind: str) -> None:
    before = depends()
    change(rules / "drafts" / f"{kind}.yaml", instructions="Write it otherwise.")
    assert differing(before) == {name for name, of_stage in DRAFTING.items() if of_stage == kind}


def test_money_and_patience_do_not_count(rules: Path) -> None:
    before = depends()
    change(rules / "models.yaml", run_usd=0, month_usd=1, tries=1, poll_s=1, batch_from=1)
    assert differing(before) == set()
