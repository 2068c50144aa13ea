"""The folder of an export: records as JSON or JSON lines, and rows and columns that the format does not support."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion

from pipeline.core.build import build_version
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.beside import prepare
from pipeline.evaluation.export.format import (
    Attached,
    ExportError,
    Further,
    Layout,
    NothingExported,
    Placed,
    Record,
    Refused,
    Result,
    Unpack,
)
from pipeline.evaluation.export.formats import FORMATS
from pipeline.lake.names import UnsafeName, inner_path
from pipeline.lake.runner import write_json
from pipeline.lake.schema import table
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.rows import TABLES

SUMMARY = "unsupported_columns.json"
ROWS = "unsupported_columns.jsonl"
ATTRIBUTION = "ATTRIBUTION.md"
_BUFFER = 1 << 24
_EVALUATE = """\
#!/bin/sh
# {usage}
set -eu
cd "$(dirname "$0")"
"""
_PREPARE = "python3 prepare.py  # makes the environments, where the records have some; it needs uv\n"
_README = """\
# {name}

```sh
{prepare}{usage}
```

The published scorer is not part of this folder: `evaluate.sh` has its own command.

"""


@dataclass(slots=True)
class ExportSummary:
    """Result of an export: records by file, attached files, and unsupported columns and rows."""

    records: Counter[str] = field(default_factory=Counter)
    attached: int = 0
    columns: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_refusal: str = ""


def write_export(
    out: Path, format_: ExportFormat, layout: Layout, snapshot: Snapshot, results: Iterable[Result]
) -> ExportSummary:
    """Write an export to a folder that is new or empty; it is renamed into place when it is complete.

    Equal snapshots give equal bytes. Errors: ExportError where the folder is in use or the snapshot has no such rows,
    NothingExported where the format supports none of them.
    """
    check_folder(out, snapshot.folder)
    if not snapshot.count(layout.families):
        families = ", ".join(layout.families)
        raise ExportError(
            f"{snapshot.folder} has no rows of {families}, the families of {format_}, so nothing was written."
            " Refresh libraries that have such rows (the card lists the rows of a snapshot), or choose another format",
            code="export_no_rows",
        )
    draft = out.parent / f".{out.name}.{os.getpid()}.tmp"
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(draft, ignore_errors=True)
    try:
        written = _write(draft, results)
        if not written.records:
            refused = sorted(written.refused.items())
            reasons = ", ".join(f"{reason} ({rows} of {config})" for (config, reason), rows in refused)
            raise NothingExported(
                f"{format_} supports none of the {written.refused.total()} rows, so nothing was written: {reasons}."
                f" {written.first_refusal}"
            )
        _write_summary(draft, format_, layout, snapshot, written)
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return written


def check_folder(out: Path, snapshot: Path) -> None:
    """Raise ExportError for a folder that is in use or inside the snapshot."""
    if out.resolve().is_relative_to(snapshot.resolve()):
        raise ExportError(
            f"--out {out} is in the snapshot, which nothing may change; name a folder elsewhere",
            code="export_in_snapshot",
        )
    if out.exists() and not out.is_dir():
        raise ExportError(f"--out {out} is a file; name a folder", code="export_folder_taken")
    if out.is_dir() and any(out.iterdir()):
        raise ExportError(
            f"--out {out} is not empty, and nothing is written over; name a new folder, or empty it",
            code="export_folder_taken",
        )


def _write(draft: Path, results: Iterable[Result]) -> ExportSummary:
    written = ExportSummary()
    lines = _Lines(draft)
    for result in results:
        match result:
            case Placed():
                _place(result, written, lines)
            case Further():
                lines.add(result.file, result.record)
                written.records[result.file] += 1
            case Refused():
                written.refused[result.config, result.reason] += 1
                written.first_refusal = written.first_refusal or result.detail
                refusal = {"table": result.config, "id": result.id, "reason": result.reason, "detail": result.detail}
                table("unsupported_rows").check(refusal)
                lines.add(ROWS, refusal)
            case Attached():
                path = draft / _inside(result.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(result.content)
                written.attached += 1
    lines.close()
    return written


def _inside(file: str) -> str:
    """Return a file name of an export, which may contain ids of an untrusted snapshot.

    Errors: ExportError where it would lie outside of the folder.
    """
    try:
        return inner_path(file, "a file of the export")
    except UnsafeName as error:
        raise ExportError(
            f"{error}, so nothing was written: run `driftline verify` on the snapshot", code="export_path_unsafe"
        ) from None


def _place(placed: Placed, written: ExportSummary, lines: _Lines) -> None:
    lines.add(placed.file, placed.record)
    written.records[placed.file] += 1
    if rest := placed.rest:
        written.columns.update((placed.config, name) for name, value in rest.items() if value not in (None, []))
        number = written.records[placed.file]
        lines.add(ROWS, {"table": placed.config, "file": placed.file, "number": number, "columns": rest})


class _Lines:
    """Files of records, written in parallel: a record a line, or in `.json` VersiCode's {"data": [ … ], "count": n}."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._counts: Counter[str] = Counter()
        self._buffers: dict[str, list[str]] = {}
        self._size = 0

    def add(self, file: str, record: Mapping[str, Any]) -> None:
        # ASCII: a reader that splits lines at U+2028 or U+0085 reads the same records.
        text = _ENCODER.encode(record)
        if file.endswith(".json"):
            text = (",\n" if self._counts[file] else '{"data": [\n') + text
        else:
            text += "\n"
        self._counts[file] += 1
        self._buffers.setdefault(file, []).append(text)
        self._size += len(text)
        if self._size > _BUFFER:
            self._flush()

    def _flush(self) -> None:
        for file, texts in self._buffers.items():
            path = self.folder / _inside(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8", newline="") as stream:
                stream.writelines(texts)
        self._buffers, self._size = {}, 0

    def close(self) -> None:
        for file in self._counts:
            if file.endswith(".json"):
                self._buffers.setdefault(file, []).append(f'\n], "count": {self._counts[file]}}}\n')
        self._flush()


def _plain(value: object) -> str:
    """Serialize times, for which JSON has no type."""
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no type of a column")


_ENCODER = json.JSONEncoder(default=_plain)


def _write_summary(
    draft: Path, format_: ExportFormat, layout: Layout, snapshot: Snapshot, written: ExportSummary
) -> None:
    """Write the counts of records and of unsupported columns and rows, and copy the attribution of the snapshot."""
    summary = {
        "format": format_,
        "driftline": build_version(),
        "snapshot": snapshot.name,
        "manifest_sha256": snapshot.sha256,
        "files": dict(sorted(written.records.items())),
        "attached_files": written.attached,
        "added_fields": dict(layout.added),
        "unsupported_columns": [_column(*key, rows) for key, rows in sorted(written.columns.items())],
        "unsupported_rows": [
            {"table": config, "reason": reason, "rows": rows}
            for (config, reason), rows in sorted(written.refused.items())
        ],
        "unsupported_tables": {
            config: rows for config in sorted({*TABLES} - {*layout.configs}) if (rows := snapshot.count([config]))
        },
    }
    write_json(draft / SUMMARY, summary)
    shutil.copyfile(snapshot.file(ATTRIBUTION), draft / ATTRIBUTION)
    if layout.prepares:
        shutil.copyfile(prepare.__file__, draft / "prepare.py")
    (draft / "evaluate.sh").write_text(f"{_EVALUATE.format(usage=layout.usage)}{layout.evaluate}")
    notes = "\n".join(f"- {note}." for note in layout.notes)
    prepared = _PREPARE if layout.prepares else ""
    readme = _README.format(name=format_.meaning, prepare=prepared, usage=layout.usage)
    (draft / "README.md").write_text(f"{readme}{notes}\n")


def _column(config: str, name: str, rows: int) -> Record:
    meanings = {column.name: column.meaning for column in table(TABLES[config]).columns}
    return {"table": config, "column": name, "meaning": meanings.get(name, ""), "rows": rows}


def export(folder: Path, export_format: ExportFormat, out: Path, unpack: Unpack) -> ExportSummary:
    """Write the snapshot in a folder as the files of a benchmark, with unsupported_columns.json beside them.

    Errors: ExportError, NothingExported, SnapshotError; Unreachable where the index does not answer for sources.
    """
    snapshot = Snapshot(folder)
    try:
        exporter = FORMATS[export_format]
        return write_export(out, export_format, exporter.layout, snapshot, exporter.results(snapshot, unpack))
    except InvalidVersion as error:
        raise SnapshotError(
            f"{folder}: {error}. Get the snapshot from its publisher again", code="snapshot_version_invalid"
        ) from None
