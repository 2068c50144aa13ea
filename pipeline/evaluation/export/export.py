"""One snapshot in one format."""

from __future__ import annotations

from pathlib import Path

from packaging.version import InvalidVersion

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.folder import Written, write_export
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.projects import Unpack
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot


def export(folder: Path, wanted: ExportFormat, out: Path, unpack: Unpack, *, unnoticed: bool = False) -> Written:
    """Write the snapshot in a folder as the files of a benchmark, with NOT_HELD.json beside them.

    Rows whose tests do not notice an empty answer are left out, and listed there, unless `unnoticed` takes them in.

    Errors: ExportError, NothingHeld, SnapshotError; Unreachable where the index is silent about sources.
    """
    snapshot = Snapshot(folder)
    try:
        written_as = FORMATS[wanted]
        return write_export(out, wanted, written_as.layout, snapshot, written_as.results(snapshot, unpack, unnoticed))
    except InvalidVersion as error:
        raise SnapshotError(f"{folder}: {error}. Take the snapshot from whoever published it") from None
