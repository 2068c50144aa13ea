"""What sources refused, period by period: a source that is silent today has not taken back what it said before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.http import Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject


class Refusals:
    """The rejects of each source and period, kept in the progress of a stage as plain JSON values."""

    def __init__(self, progress: Mapping[str, Mapping[str, Any]] | None, period: Period) -> None:
        self._kept = {source: dict(periods) for source, periods in (progress or {}).items()}
        self._period = "/".join(time.isoformat() if time else "" for time in (period.since, period.until))

    def put(self, source: str, rejects: Iterable[Reject]) -> None:
        """Put what a source refused in the period in place of what it refused in it before."""
        told = [[reject.key, str(reject.reason), reject.detail] for reject in rejects]
        self._kept.setdefault(source, {})[self._period] = sorted(told)

    def rejects(self, end: datetime | None = None) -> list[Reject]:
        """Return all that was ever refused, each once; with an `end` not what was refused in periods that end later."""
        told = {
            tuple(line)
            for periods in self._kept.values()
            for period, lines in periods.items()
            if not _is_later(period, end)
            for line in lines
        }
        return [Reject(key, RejectReason[reason.upper()], detail) for key, reason, detail in sorted(told)]

    @property
    def progress(self) -> dict[str, dict[str, Any]]:
        """What to hand over the next time."""
        return self._kept


def _is_later(period: str, end: datetime | None) -> bool:
    until = period.partition("/")[2]
    return end is not None and bool(until) and datetime.fromisoformat(until) > end


def stopped(source: str, error: Unreachable) -> Reject:
    """Return what to say of a source that stopped answering in the middle."""
    detail = f"stopped answering: {error}. What it had given until then was taken; run again for the rest."
    return Reject(source, RejectReason.SOURCE_UNREACHABLE, detail)
