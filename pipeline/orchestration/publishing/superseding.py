"""Whether a candidate still has to be answered for: another one may have taken its place while it waited."""

from __future__ import annotations

from datetime import datetime

from pipeline.core.settings import settings
from pipeline.lake.run_records import RunRecord, read_record, recorded_runs
from pipeline.orchestration.publishing.finish_refresh import FINISHED
from pipeline.orchestration.publishing.publish_snapshot import last_refresh, publication_of
from pipeline.orchestration.refresh import Refresh


def waits(profile: str, run: str, candidate: str) -> bool:
    """Say whether the run of a refresh still waits for a person about this candidate (sha256 of its manifest)."""
    refresh = last_refresh(profile, run)
    publication = publication_of(refresh)
    return publication is not None and publication.asks and publication.is_about(candidate)


def newer_than(refresh: Refresh) -> str | None:
    """Return a later run of the same profile that left a lake of the same time or a later one, None if none did."""
    mine = read_record(refresh.folder)
    for folder, record in reversed(recorded_runs(settings().runs)):
        if mine is None or record.profile != mine.profile or record.began <= mine.began or _end(record) < _end(mine):
            continue
        if (folder / FINISHED).is_file():
            return record.run
    return None


def _end(record: RunRecord) -> datetime:
    """Return the time that the lake of a run is as of."""
    return Refresh(record.run, until=record.until or record.began).period.until or datetime.max
