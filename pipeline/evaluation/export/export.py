"""One snapshot in one format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packaging.version import InvalidVersion

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export import codevbench, evocodebench, gitchameleon, libevolutioneval, versicode
from pipeline.evaluation.export.folder import Written, write_export
from pipeline.evaluation.export.projects import Unpack
from pipeline.evaluation.export.results import Layout, Result
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot

LAYOUTS: dict[ExportFormat, Layout] = {
    ExportFormat.VERSICODE: versicode.LAYOUT,
    ExportFormat.LIBEVOLUTIONEVAL: libevolutioneval.LAYOUT,
    ExportFormat.GITCHAMELEON: gitchameleon.LAYOUT,
    ExportFormat.EVOCODEBENCH: evocodebench.LAYOUT,
    ExportFormat.CODEVBENCH: codevbench.LAYOUT,
}


def export(folder: Path, wanted: ExportFormat, out: Path, unpack: Unpack, *, unnoticed: bool = False) -> Written:
    """Write the snapshot in a folder as the files of a benchmark, with NOT_HELD.json beside them.

    Rows whose tests do not notice an empty answer are left out, and listed there, unless `unnoticed` takes them in.

    Errors: ExportError, NothingHeld, SnapshotError; Unreachable where the index is silent about sources.
    """
    snapshot = Snapshot(folder)
    try:
        return write_export(out, wanted, LAYOUTS[wanted], snapshot, _results(wanted, snapshot, unpack, unnoticed))
    except InvalidVersion as error:
        raise SnapshotError(f"{folder}: {error}. Take the snapshot from whoever published it") from None


def _results(wanted: ExportFormat, snapshot: Snapshot, unpack: Unpack, unnoticed: bool) -> Iterator[Result]:
    match wanted:
        case ExportFormat.VERSICODE:
            return versicode.versicode(snapshot)
        case ExportFormat.LIBEVOLUTIONEVAL:
            return libevolutioneval.libevolutioneval(snapshot)
        case ExportFormat.GITCHAMELEON:
            return gitchameleon.gitchameleon(snapshot)
        case ExportFormat.EVOCODEBENCH:
            return evocodebench.evocodebench(snapshot, unpack)
        case ExportFormat.CODEVBENCH:
            return codevbench.codevbench(snapshot, unpack, unnoticed=unnoticed)
