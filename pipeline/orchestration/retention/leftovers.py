"""Runs, candidates, logs and old snapshots that the rules let go, found first and removed in another step."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.places import is_local, remove_folder
from pipeline.core.settings import Settings
from pipeline.lake.run_records import recorded_runs, unrecorded_runs
from pipeline.orchestration.retention.rules import Age, AgeButNewest, RetentionRules
from pipeline.orchestration.retention.snapshots import old_snapshots
from pipeline.snapshots.candidate import candidates_folder
from pipeline.snapshots.shared import remove_shared


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file or folder that goes: what it is, how many bytes it has, and why it goes."""

    kind: str
    path: Path
    size: int
    why: str


def leftovers(settings: Settings, rules: RetentionRules, logs: Path, now: datetime) -> Iterator[Leftover]:
    """Yield what the rules let go of a data folder and a folder of Airflow's logs, by kind."""
    if rules.runs:
        yield from _runs(settings.runs, rules.runs, now)
    if rules.candidates:
        yield from _candidates(candidates_folder(settings.candidates), rules.candidates, now)
    if rules.logs:
        yield from _logs(logs, rules.logs, now)
    if rules.snapshots:
        for folder in old_snapshots(settings.snapshots, rules.snapshots, now):
            yield _leftover("snapshot", folder, f"older than {rules.snapshots.days:g} days, and nothing refers to it")


def remove(items: Iterable[Leftover]) -> None:
    """Remove what was found; what is gone already, or whose folder was taken meanwhile, is no trouble."""
    for leftover in items:
        if leftover.kind == "snapshot":
            remove_shared(leftover.path)
        _remove(leftover.path)


def _remove(path: Path) -> None:
    if not is_local(path):
        remove_folder(path)
    elif path.is_dir():
        # Under another name first: whoever looks finds all of it or nothing.
        gone = path.with_name(f".{path.name}.gone.tmp")
        path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _runs(runs: Path, rule: AgeButNewest, now: datetime) -> Iterator[Leftover]:
    """Yield the folders of old runs: by their record, those without one by when they were last written."""
    by_profile: dict[str, list[tuple[Path, datetime]]] = defaultdict(list)
    for folder, record in recorded_runs(runs):
        by_profile[record.profile].append((folder, datetime.fromisoformat(record.began)))
    old = [record for recorded in by_profile.values() for record in recorded[: -rule.keep]]
    if is_local(runs):  # a folder in a store has no time
        old += [(runs / name, _written(runs / name)) for name in unrecorded_runs(runs)]
    for folder, time in old:
        if now - time > rule.age:
            yield _leftover("run", folder, f"of {time:%Y-%m-%d}, older than {rule.days:g} days")


def _candidates(candidates: Path, rule: Age, now: datetime) -> Iterator[Leftover]:
    for manifest in sorted(candidates.glob("*/*/manifest.json")):
        if now - _written(manifest) > rule.age:
            yield _leftover("candidate", manifest.parent, f"not placed within {rule.days:g} days")


def _logs(logs: Path, rule: Age, now: datetime) -> Iterator[Leftover]:
    for path in sorted(logs.rglob("*")):
        if path.is_file() and not path.is_symlink() and now - _written(path) > rule.age:
            yield _leftover("log", path, f"not written to for {rule.days:g} days")


def without_empty_folders(folder: Path) -> None:
    """Remove the empty folders in a folder, the deepest first; one that is filled meanwhile stays."""
    for path in sorted(folder.rglob("*"), key=lambda path: -len(path.parts)):
        if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()


def _leftover(kind: str, path: Path, why: str) -> Leftover:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return Leftover(kind, path, sum(file.stat().st_size for file in files), why)


def _written(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
