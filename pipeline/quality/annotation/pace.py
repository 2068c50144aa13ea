"""How fast annotators are: seconds per decision, and decisions per day."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import select

from pipeline.quality.annotation.database import decisions
from pipeline.quality.annotation.status import RULINGS
from pipeline.quality.annotation.store import Store


@dataclass(frozen=True, slots=True)
class Pace:
    """Median seconds from opening a sample to deciding (None where nothing was timed), and decisions by day (UTC)."""

    median_s: float | None
    timed: int
    by_day: Mapping[date, int]
    by_annotator: Mapping[str, int]


def pace(store: Store, annotator: str | None = None, days: int = 30) -> Pace:
    """Return the pace of an annotator, or of all, over the last days; skips and comments are none.

    What took longer than the rules' `longest_s` is not timed.
    """
    since = store.clock() - timedelta(days=days)
    query = select(decisions.c.who, decisions.c.time, decisions.c.seconds).where(
        decisions.c.time >= since, decisions.c.kind.in_(sorted(RULINGS))
    )
    if annotator is not None:
        query = query.where(decisions.c.who == annotator)
    with store.reading() as connection:
        rows = connection.execute(query.order_by(decisions.c.time)).all()
    timed = [row.seconds for row in rows if row.seconds is not None and row.seconds <= store.rules.longest_s]
    return Pace(
        statistics.median(timed) if timed else None,
        len(timed),
        dict(sorted(Counter(row.time.date() for row in rows).items())),
        dict(sorted(Counter(row.who for row in rows).items())),
    )
