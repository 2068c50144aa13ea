"""Files of the benchmarks in the lake: the table `imported`, with the file of each row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import InvalidName, canonicalize_name

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.format import ExportError, Record
from pipeline.evaluation.export.programs import Program, Read, read_record
from pipeline.evaluation.export.records import BadRecord, RecordError, read_records
from pipeline.lake.ids import content_id, sha256_file
from pipeline.lake.rows import ImportedRow
from pipeline.lake.tables import Lake

IMPORTED = "imported"


@dataclass(slots=True)
class Imports:
    """New rows by library, number of existing rows, and unreadable records with reasons."""

    new: Counter[str] = field(default_factory=Counter)
    existing: int = 0
    bad: list[BadRecord] = field(default_factory=list)


def import_file(path: Path, export_format: ExportFormat, lake: Lake) -> Imports:
    """Add the records of a file to those in the lake; existing records do not change.

    Errors: ExportError for an unreadable file, or one without a record of the format.
    """
    by_library: dict[str, dict[str, ImportedRow]] = {}
    imports = Imports()
    for row in _rows(path, export_format):
        if isinstance(row, BadRecord):
            imports.bad.append(row)
        else:
            by_library.setdefault(row["library"], {})[row["id"]] = row
    if not by_library:
        why = f"; the first problem is record {imports.bad[0].number}: {imports.bad[0].detail}" if imports.bad else ""
        raise ExportError(f"{path}: no record of {export_format} can be read{why}", code="records_unreadable")
    for library, rows in sorted(by_library.items()):
        _add(lake, library, rows, imports)
    return imports


def _add(lake: Lake, library: str, rows: dict[str, ImportedRow], imports: Imports) -> None:
    with lake.turn(library):
        lake.refresh(IMPORTED)
        existing = {row["id"]: row for row in lake.read(IMPORTED, library)}
        new = {key: row for key, row in rows.items() if key not in existing}
        if new:
            lake.write(IMPORTED, library, [*existing.values(), *new.values()])
    imports.existing += len(rows) - len(new)
    if new:
        imports.new[library] += len(new)


def _rows(path: Path, export_format: ExportFormat) -> Iterator[ImportedRow | BadRecord]:
    sha256 = sha256_file(path) or ""
    for entry in read_records(path):
        if isinstance(entry, BadRecord):
            yield entry
            continue
        number, record = entry
        try:
            read = read_record(export_format, record, number, path)
            for program in read.programs:
                yield _row(export_format, read, program, record, path.name, sha256)
        except RecordError as error:
            yield BadRecord(number, str(error))


def _row(
    export_format: ExportFormat, read: Read, program: Program, record: Record, file: str, sha256: str
) -> ImportedRow:
    text = json.dumps(record, sort_keys=True, ensure_ascii=False)
    try:
        library = canonicalize_name(program.library.strip(), validate=True)
    except InvalidName:
        raise RecordError(
            f"library: {program.library!r:.60} is not a name that a package index can have",
            code="record_library_invalid",
        ) from None
    return {
        "id": content_id(export_format, file, program.name, text),
        "library": library,
        "version": program.version,
        "format": export_format,
        "kind": read.kind,
        "name": program.name,
        "python": program.python,
        "extra_dependencies": list(program.extra_dependencies),
        "code": program.code,
        "test": program.test,
        "test_file": program.test_file,
        "module": program.module,
        "record": text,
        "file": file,
        "file_sha256": sha256,
    }
