"""The snapshot argument of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.output import BAD_USAGE, fail
from pipeline.core.settings import settings
from pipeline.core.spelling import did_you_mean
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.names import latest

SnapshotName = Annotated[
    str, typer.Argument(help="Folder of a snapshot, or the name of a profile for its latest.", show_default=False)
]


def find_snapshot(name: str) -> Path:
    """Return the folder of a snapshot, or of the latest one of a profile; ends with status 2 if there is none."""
    folder = Path(name)
    snapshot = folder if folder.is_dir() else latest(settings().snapshots, name)
    if snapshot is None and folder.is_file():
        problem = f"{name}: a file; name the folder of a snapshot, or a profile"
        fail(SnapshotError(problem, code="snapshot_unknown"), BAD_USAGE)
    if snapshot is None:
        near = did_you_mean(name, (path.parent.name for path in settings().snapshots.glob("*/latest")))
        fail(
            f"{name}: no such folder, and no profile of that name has a snapshot in {settings().snapshots}{near}. Name"
            " another one, or run `driftline refresh` first",
            BAD_USAGE,
        )
    return snapshot
