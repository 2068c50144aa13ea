"""Names of snapshots: profile, last day of the period, and revision, which define their order."""

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
        raise SnapshotError(
            f"{pointer}: {error}. Write the name of a snapshot beside it into this file", code="latest_invalid"
        ) from None
    return pointer.parent / name


def order(name: str) -> tuple[str, int]:
    """Return the sort key of snapshots of a profile: the last day of the period, then the revision."""
    match = _NAME.fullmatch(name)
    return (match["day"], int(match["revision"] or 1)) if match else ("", 0)


def last_before(snapshots: Path, profile: str, name: str) -> Path | None:
    """Return the predecessor of a snapshot name: the one of the last day that is not later.

    Of several revisions it is the one that `latest` points to, else the newest. A backfill has no errata for snapshots
    of later days.
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
