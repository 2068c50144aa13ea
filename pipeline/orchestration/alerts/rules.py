"""Whom to tell of what, and how long things may take: `curation_rules/alerts.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pydantic import Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.alerts import AlertKind


class Receiver(Rule):
    """A notifier of Airflow by its import path, what it is told of, and the arguments that it takes."""

    notifier: str = Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")
    kinds: frozenset[AlertKind] = Field(frozenset(AlertKind), min_length=1)
    arguments: Mapping[str, Any] = Field(default_factory=dict)


class AlertRules(Rule):
    """The rules of alerts; hours by the name of a DAG, and by the name of a group of stages."""

    receivers: tuple[Receiver, ...]
    late_after_h: Mapping[str, float]
    longest_h: Mapping[str, float]

    def late_after(self, dag: str) -> timedelta | None:
        """Return after what time a run of a DAG is late, None where none is."""
        hours = self.late_after_h.get(dag)
        return timedelta(hours=hours) if hours else None

    def longest(self, group: str) -> timedelta | None:
        """Return after what time a task of one library is ended, None where it may take as long as it takes."""
        hours = self.longest_h.get(group)
        return timedelta(hours=hours) if hours else None


def alert_rules() -> AlertRules:
    """Read the rules of alerts.

    Errors: RuleError naming file and line.
    """
    return load(settings().rules / "alerts.yaml", AlertRules)
