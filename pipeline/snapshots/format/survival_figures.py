"""Survival figures: the share of published rows that still pass, and the reasons of losses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pipeline.core.vocabularies.survival import Loss
from pipeline.lake.rows import SurvivalRow

TABLE: Final = "survivals"
FIGURE_COLUMNS = ("period", "snapshot", "reason")
"""The columns of `survivals` from which figures are counted."""

_ALL = "all"


@dataclass(frozen=True, slots=True)
class SurvivalFigure:
    """The rows of one snapshot that were rerun in one period, those that passed, and the reasons of the others."""

    snapshot: str
    period: str
    rows: int
    survived: int
    lost: Mapping[Loss, int]

    @property
    def share(self) -> float:
        """The share that still passes, 0 to 1."""
        return self.survived / self.rows

    @property
    def percent(self) -> str:
        """The share as per cent, which is 100 only where nothing is missing."""
        return f"{self.share:.1%}" if self.share == 1 or self.share < 0.9995 else f"{self.share:.3%}"

    @property
    def why(self) -> str:
        """The reasons of losses with their numbers, or nothing."""
        return ", ".join(f"{reason.replace('_', ' ')} {number}" for reason, number in self.lost.items())

    def __str__(self) -> str:
        """Return a sentence for logs."""
        passed = f"{self.survived} of {self.rows} rows of {self.snapshot} ({self.percent})"
        return f"{self.period}: {passed} still pass{f'; of the others: {self.why}' if self.why else ''}"


def survival_figures(rows: Iterable[SurvivalRow]) -> list[SurvivalFigure]:
    """Return the figure of each snapshot in each period, newest period and newest snapshot first."""
    grouped: dict[tuple[str, str], Counter[str | None]] = defaultdict(Counter)
    for row in rows:
        grouped[row["period"], row["snapshot"]][row["reason"]] += 1
    return [
        SurvivalFigure(snapshot, period, counts.total(), counts[None], _in_order(counts))
        for (period, snapshot), counts in sorted(grouped.items(), reverse=True)
    ]


def _in_order(counts: Counter[str | None]) -> dict[Loss, int]:
    return {reason: counts[reason] for reason in Loss if counts[reason]}


def latest_figure(rows: Iterable[SurvivalRow]) -> SurvivalFigure | None:
    """Return the joint figure of all snapshots in the newest period, None without any; rows count once per snapshot."""
    survivals = list(rows)
    last = max((row["period"] for row in survivals), default=None)
    figures = survival_figures(row | {"snapshot": _ALL} for row in survivals if row["period"] == last)
    return figures[0] if figures else None


def rows_until(rows: Iterable[SurvivalRow], until: datetime | None) -> list[SurvivalRow]:
    """Return the rows of runs before the last day of a period, so that rebuilds get the same; all if it has no end."""
    day = f"{until.astimezone(UTC):%Y-%m-%d}" if until else "9"
    return [row for row in rows if row["day"] < day]
