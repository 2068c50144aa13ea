"""Old snapshots that nothing refers to any more."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

from pipeline.orchestration.retention.rules import AgeButNewest
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.names import latest, order
from pipeline.snapshots.format.reader import Snapshot

log = logging.getLogger(__name__)

_REFERENCES = {"errata": "last_snapshot", "survivals": "snapshot"}
"""Tables of a snapshot that name others, and the column that does."""


def old_snapshots(snapshots: Path, rule: AgeButNewest, now: datetime) -> list[Path]:
    """Return the snapshots that a rule lets go, by profile and name.

    What stays keeps what it refers to: the one that `latest` points to, the newest of each profile, the young ones, and
    whatever errata and survival figures of any of these name.
    """
    gone: list[Path] = []
    for profile in sorted(path for path in snapshots.glob("*") if path.is_dir()):
        folders = [path.parent for path in profile.glob("*/manifest.json") if not path.parent.name.startswith(".")]
        by_age = sorted(folders, key=lambda folder: order(folder.name))
        stays = {folder.name for folder in by_age[-rule.keep :]}
        stays |= {folder.name for folder in folders if now - _day(folder) <= rule.age}
        if now_latest := latest(snapshots, profile.name):
            stays.add(now_latest.name)
        try:
            stays = _with_references(profile, stays)
        except SnapshotError as error:
            log.warning("no snapshot of %s is removed, since what they refer to is not known: %s", profile.name, error)
            continue
        gone += [folder for folder in by_age if folder.name not in stays]
    return gone


def _day(folder: Path) -> datetime:
    """Return when a snapshot was made."""
    return datetime.fromtimestamp((folder / "manifest.json").stat().st_mtime, UTC)


def _with_references(profile: Path, names: set[str]) -> set[str]:
    """Add the snapshots that snapshots name, and those that these name."""
    done: set[str] = set()
    while left := names - done:
        for name in left:
            names = names | _named(profile / name)
        done |= left
    return names


def _named(folder: Path) -> set[str]:
    snapshot = Snapshot(folder)
    return {
        row[column]
        for config, column in _REFERENCES.items()
        if snapshot.has(config)
        for row in snapshot.rows(config, (column,))
    }
