"""Rules of approval; light to import, since Airflow reads DAG files often."""

from __future__ import annotations

from datetime import timedelta

from pydantic import ConfigDict, Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings


class ApprovalRule(Rule):
    """The users who may approve a snapshot (if empty, all who may run the DAG), and how long it waits for them.

    After `gives_way_after_h` hours a newer refresh of the profile ends the wait.
    """

    users: tuple[str, ...]
    gives_way_after_h: float = Field(gt=0)
    within_days: float = Field(gt=0)

    @property
    def within(self) -> timedelta:
        """The longest wait."""
        return timedelta(days=self.within_days)

    @property
    def gives_way_after(self) -> timedelta:
        """The longest wait while something newer could be published."""
        return min(timedelta(hours=self.gives_way_after_h), self.within)


class _ApprovalPart(Rule):
    """The part of the file that is needed here; `ReleaseCheckRules` reads all of it."""

    model_config = ConfigDict(extra="ignore")

    approval: ApprovalRule


def approval_rule() -> ApprovalRule:
    """Read the rules of approval from `curation_rules/release_checks.yaml`. Errors: RuleError with file and line."""
    return load(settings().rules / "release_checks.yaml", _ApprovalPart).approval
