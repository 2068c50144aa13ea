"""What of the past is kept: `curation_rules/retention.yaml`."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.execution.caches.rules import CacheRules


class Age(Rule):
    """What is older than so many days goes."""

    days: float = Field(gt=0)

    @property
    def age(self) -> timedelta:
        """The age."""
        return timedelta(days=self.days)


class AgeButNewest(Age):
    """What is older than so many days goes, except the newest of each profile."""

    keep: int = Field(ge=1)


class RetentionRules(Rule):
    """The rules of retention; null keeps all."""

    runs: AgeButNewest | None
    candidates: Age | None
    logs: Age | None
    metadata: Age | None
    snapshots: AgeButNewest | None
    lake: Age | None = None
    caches: CacheRules | None = None


def retention_rules() -> RetentionRules:
    """Read the rules of retention.

    Errors: RuleError naming file and line.
    """
    return load(settings().rules / "retention.yaml", RetentionRules)
