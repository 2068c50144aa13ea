"""Who may sign a snapshot off and how long it waits for them; light to import, since Airflow reads DAG files often."""

from __future__ import annotations

from datetime import timedelta

from pydantic import ConfigDict, Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings


class SigningRule(Rule):
    """Who may sign a snapshot off (none named: whoever may run the DAG), and how long it waits for them.

    After `gives_way_after_h` hours it waits no longer once a newer refresh of the profile has ended.
    """

    users: tuple[str, ...]
    gives_way_after_h: float = Field(gt=0)
    within_days: float = Field(gt=0)

    @property
    def within(self) -> timedelta:
        """How long it waits at most."""
        return timedelta(days=self.within_days)

    @property
    def gives_way_after(self) -> timedelta:
        """How long it waits although something newer could be published."""
        return min(timedelta(hours=self.gives_way_after_h), self.within)


class _Signing(Rule):
    """The one part of the file that is wanted here; `GateRules` reads it all."""

    model_config = ConfigDict(extra="ignore")

    signing: SigningRule


def signing() -> SigningRule:
    """Read who may sign from `curation_rules/gates.yaml`.

    Errors: RuleError with file and line of what is wrong.
    """
    return load(settings().rules / "gates.yaml", _Signing).signing
