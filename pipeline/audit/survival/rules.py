"""Parameters of survival runs."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings


class SurvivalRules(Rule):
    """The parameters of survival; see `curation_rules/survival.yaml`."""

    share: float = Field(gt=0, le=1)
    least: int = Field(ge=1)
    snapshots: int = Field(ge=1)
    from_scratch: bool


def survival_rules(folder: Path | None = None) -> SurvivalRules:
    """Read `survival.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "survival.yaml", SurvivalRules)
