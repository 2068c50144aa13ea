"""Names of snapshots, which put them in order: the profile, the day on which the period ends, and the revision."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.lake.names import plain_name
from pipeline.snapshots.format.manifest import SnapshotError

_NAME = re.compile(r"(?P<profile>.+)-(?P<day>\d{4}-\d{2}-\d{2})(?:\.r(?P<revision>\d+))?")


def latest(snapshots: Path, profile: str) -> Path | None:
    """Return the folder of the newest snapshot of a profile, None where there is none.

    Errors: SnapshotError where the file `latest` names no folder beside it.
    """
    pointer = snapshots / profile / "latest"
    try:
        name = plain_name(pointer.read_text(encoding="utf-8").strip(), "a snapshot")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, IsADirectoryError) as error:
        raise SnapshotError(f"{pointer}: {error}. Write the name of a snapshot beside it into this file") from None
    return pointer.parent / name


def order(name: str) -> tuple[str, int]:
    """Return what snapshots of a profile are in order by: the day at the end of the period, then the revision."""
    found = _NAME.fullmatch(name)
    return (found["day"], int(found["revision"] or 1)) if found else ("", 0)


def last_before(snapshots: Path, profile: str, name: str) -> Path | None:
    """Return the snapshot that one of this name follows: of no later a day, and of the last such day.

    Of its revisions the one that `latest` points to, else the newest. A backfill has a name between others: what
    follows it in time is nothing that it could take back.
    """
    day, _ = order(name)
    here = [
        path.parent for path in (snapshots / profile).glob("*/manifest.json") if "" < order(path.parent.name)[0] <= day
    ]
    if not here:
        return None
    newest = max(here, key=lambda path: order(path.name))
    now = latest(snapshots, profile)
    return now if now in here and now is not None and order(now.name)[0] == order(newest.name)[0] else newest
