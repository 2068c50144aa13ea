"""Files of the benchmarks in the lake: the table `imported`, in which each row says where it comes from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock
from packaging.utils import InvalidName, canonicalize_name

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.errors import ExportError
from pipeline.evaluation.export.programs import Program, Read, read_record
from pipeline.evaluation.export.records import BadRecord, RecordError, read_records
from pipeline.evaluation.export.results import Record
from pipeline.lake.ids import content_id, sha256_file
from pipeline.lake.rows import FoundRow
from pipeline.lake.schema import Row
from pipeline.lake.tables import Lake

IMPORTED = "imported"


@dataclass(slots=True)
class Imports:
    """How many rows of each library are new, how many were there, and which records could not be read, and why."""

    new: Counter[str] = field(default_factory=Counter)
    known: int = 0
    bad: list[BadRecord] = field(default_factory=list)


def import_file(path: Path, wanted: ExportFormat, lake: Lake) -> Imports:
    """Add the records of a file to the lake, beside what was imported before; a record that is there stays as it is.

    Errors: ExportError where the file as a whole cannot be read or holds nothing of the format.
    """
    found: dict[str, dict[str, FoundRow]] = {}
    imports = Imports()
    for one in _rows(path, wanted):
        if isinstance(one, BadRecord):
            imports.bad.append(one)
        else:
            found.setdefault(one["library"], {})[one["id"]] = one
    if not found:
        why = f"; the first problem is record {imports.bad[0].number}: {imports.bad[0].detail}" if imports.bad else ""
        raise ExportError(f"{path}: no record of {wanted} can be read{why}")
    for library, rows in sorted(found.items()):
        _add(lake, library, rows, imports)
    return imports


def _add(lake: Lake, library: str, rows: dict[str, Row], imports: Imports) -> None:
    locks = lake.root / "_locks"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / f"{library}.lock"):
        known = {row["id"]: row for row in lake.read(IMPORTED, library)}
        new = {key: row for key, row in rows.items() if key not in known}
        if new:
            lake.write(IMPORTED, library, [*known.values(), *new.values()])
    imports.known += len(rows) - len(new)
    if new:
        imports.new[library] += len(new)


def _rows(path: Path, wanted: ExportFormat) -> Iterator[Row | BadRecord]:
    sha256 = sha256_file(path) or ""
    for one in read_records(path):
        if isinstance(one, BadRecord):
            yield one
            continue
        number, record = one
        try:
            read = read_record(wanted, record, number, path)
            for program in read.programs:
                yield _row(wanted, read, program, record, path.name, sha256)
        except RecordError as error:
            yield BadRecord(number, str(error))


def _row(wanted: ExportFormat, read: Read, program: Program, record: Record, file: str, sha256: str) -> Row:
    text = json.dumps(record, sort_keys=True, ensure_ascii=False)
    try:
        library = canonicalize_name(program.library.strip(), validate=True)
    except InvalidName:
        raise RecordError(f"library: {program.library!r:.60} is not a name that a package index can have") from None
    return {
        "id": content_id(wanted, file, program.name, text),
        "library": library,
        "version": program.version,
        "format": wanted,
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
