"""What rows of `survivals` come to: the share that still passes, and why the rest does not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.core.vocabularies.survival import Loss
from pipeline.lake.schema import Row

TABLE = "survivals"
LOOKED = ("period", "snapshot", "reason")
"""What is read of the rows to know how they stand."""

_ALL = "all"


@dataclass(frozen=True, slots=True)
class Standing:
    """The rows of one snapshot that were run again in one period, those that passed, and the reasons of the others."""

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
        """The reasons of the others with their numbers; nothing where there are none."""
        return ", ".join(f"{reason.replace('_', ' ')} {number}" for reason, number in self.lost.items())


def standing_of(rows: Iterable[Row]) -> list[Standing]:
    """Return how each snapshot stands in each period, the newest period first, and in it the newest snapshot."""
    grouped: dict[tuple[str, str], Counter[str | None]] = defaultdict(Counter)
    for row in rows:
        grouped[row["period"], row["snapshot"]][row["reason"]] += 1
    return [
        Standing(snapshot, period, found.total(), found[None], _in_order(found))
        for (period, snapshot), found in sorted(grouped.items(), reverse=True)
    ]


def _in_order(found: Counter[str | None]) -> dict[Loss, int]:
    return {reason: found[reason] for reason in Loss if found[reason]}


def last_look(rows: Iterable[Row]) -> Standing | None:
    """Return how the rows of the newest period stand, those of all its snapshots together; None if nobody looked.

    A row that several snapshots hold counts once for each.
    """
    known = list(rows)
    last = max((row["period"] for row in known), default=None)
    found = standing_of(row | {"snapshot": _ALL} for row in known if row["period"] == last)
    return found[0] if found else None


def known_by(rows: Iterable[Row], until: datetime | None) -> list[Row]:
    """Return the rows that a snapshot of a period holds: those of runs before the day on which the period ends.

    Whoever makes it again later has the same ones. A period without an end has all.
    """
    day = f"{until.astimezone(UTC):%Y-%m-%d}" if until else "9"
    return [row for row in rows if row["day"] < day]


def told_survival(standings: Sequence[Standing]) -> list[str]:
    """Return a sentence for each standing, for whoever reads the log of a run."""
    return [_told(standing) for standing in standings]


def _told(standing: Standing) -> str:
    passed = f"{standing.survived} of {standing.rows} rows of {standing.snapshot} ({standing.percent})"
    return f"{standing.period}: {passed} still pass{f'; of the others: {standing.why}' if standing.why else ''}"
