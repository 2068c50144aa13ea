"""Rejects of sources by period: those of a source that does not answer today stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.http import Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject


class RejectLog:
    """The rejects of each source and period, kept in the progress of a stage as plain JSON values."""

    def __init__(self, progress: Mapping[str, Mapping[str, Any]] | None, period: Period) -> None:
        self._by_source = {source: dict(periods) for source, periods in (progress or {}).items()}
        self._period = "/".join(time.isoformat() if time else "" for time in (period.since, period.until))

    def put(self, source: str, rejects: Iterable[Reject]) -> None:
        """Replace the rejects of a source in the period."""
        lines = [[reject.key, str(reject.reason), reject.detail] for reject in rejects]
        self._by_source.setdefault(source, {})[self._period] = sorted(lines)

    def rejects(self, end: datetime | None = None) -> list[Reject]:
        """Return all rejects, each once; with an `end` those of periods that end later are left out."""
        entries = {
            tuple(line)
            for periods in self._by_source.values()
            for period, lines in periods.items()
            if not _is_later(period, end)
            for line in lines
        }
        return [Reject(key, RejectReason[reason.upper()], detail) for key, reason, detail in sorted(entries)]

    @property
    def progress(self) -> dict[str, dict[str, Any]]:
        """What to hand over the next time."""
        return self._by_source


def _is_later(period: str, end: datetime | None) -> bool:
    until = period.partition("/")[2]
    return end is not None and bool(until) and datetime.fromisoformat(until) > end


def stopped(source: str, error: Unreachable) -> Reject:
    """Return what to say of a source that stopped answering in the middle."""
    detail = f"stopped answering: {error}. What it had given until then was taken; run again for the rest."
    return Reject(source, RejectReason.SOURCE_UNREACHABLE, detail)
