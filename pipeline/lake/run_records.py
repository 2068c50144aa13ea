"""The record of a run: what it covers and when it began and ended, beside the counts that its stages leave."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.lake.damage import read_state
from pipeline.lake.runner import write_json

RECORD = "run.json"
"""Name of the record in the folder of its run."""
_NEEDED = frozenset({"run", "profile", "libraries", "stages", "since", "until", "began"})


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run covers: its profile, libraries and stages, the period; and when it ran, ISO 8601 in UTC."""

    run: str
    profile: str
    libraries: tuple[str, ...]
    stages: tuple[str, ...]
    since: str | None
    until: str | None
    began: str
    ended: str | None = None
    families: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def seconds(self) -> float | None:
        """Seconds from its beginning to its end, None where it has not ended."""
        if self.ended is None:
            return None
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.began)).total_seconds()


def record_beginning(folder: Path, record: RunRecord) -> None:
    """Leave in the folder of a run what it covers; a task that is tried again does not begin another one."""
    if not (folder / RECORD).is_file():
        write_json(folder / RECORD, asdict(record))


def record_end(folder: Path) -> None:
    """Note that a run has ended, if its beginning was noted and its end was not: it may be published days later."""
    if (record := read_record(folder)) is not None and record.ended is None:
        write_json(folder / RECORD, asdict(replace(record, ended=now())))


def read_record(folder: Path) -> RunRecord | None:
    """Return the record of a run, None where the folder has none that can be read."""
    try:
        if (stored := read_state(folder / RECORD, _NEEDED)) is None:
            return None
        lists = {key: tuple(stored.get(key, ())) for key in ("families", "sources")}
        return RunRecord(**stored | lists | {key: tuple(stored[key]) for key in ("libraries", "stages")})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def unrecorded_runs(runs: Path) -> list[str]:
    """Return the names of the folders of runs without a record that can be read, sorted."""
    return sorted(folder.name for folder in runs.glob("*") if folder.is_dir() and read_record(folder) is None)


def recorded_runs(runs: Path) -> list[tuple[Path, RunRecord]]:
    """Return the folders of all runs that have a record, the first one first."""
    recorded = [(folder, record) for folder in runs.glob("*") if (record := read_record(folder)) is not None]
    return sorted(recorded, key=lambda pair: (pair[1].began, pair[1].run))


def run_before(runs: Path, record: RunRecord) -> RunRecord | None:
    """Return the run before, of the same profile and libraries: others have other counts."""
    same = [
        one
        for _, one in recorded_runs(runs)
        if (one.profile, one.libraries) == (record.profile, record.libraries)
        and (one.began, one.run) < (record.began, record.run)
    ]
    return same[-1] if same else None


def now() -> str:
    """Return the time of now as a record has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
