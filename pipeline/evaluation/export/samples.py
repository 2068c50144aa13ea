"""Files of the benchmarks as samples to validate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.format import ExportError
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.programs import Program, read_record
from pipeline.evaluation.export.records import BadRecord, RecordError, read_answered


@dataclass(slots=True)
class Converted:
    """Number of samples of a file and of answers among them, and bad records with reasons."""

    samples: int = 0
    answers: int = 0
    bad: list[BadRecord] = field(default_factory=list)


def write_samples(path: Path, export_format: ExportFormat, out: IO[str], answers: Path | None = None) -> Converted:
    """Write the records of a file as lines of samples: answers of a model where there are any, else references.

    With a file of answers only answered records are written. A bad record becomes an invalid line, so that it gets a
    verdict too.

    Errors: ExportError for an unusable file.
    """
    if FORMATS[export_format].in_projects:
        raise ExportError(
            f"{path}: records of {export_format} are no programs: they run in a project, with its tests",
            code="records_no_programs",
        )
    converted = Converted()
    for programs, answered, bad in _programs(path, export_format, answers):
        if bad:
            converted.bad.append(bad)
            out.write(json.dumps({"id": f"record {bad.number}", "unusable": bad.detail}) + "\n")
        for program in programs:
            out.write(json.dumps(as_sample(program)) + "\n")
        converted.samples += len(programs)
        converted.answers += len(programs) if answered else 0
    if not converted.samples and not converted.bad:
        raise ExportError(f"{path}: holds no record of {export_format}; give a file with some", code="records_empty")
    return converted


def _programs(
    path: Path, export_format: ExportFormat, answers: Path | None
) -> Iterator[tuple[tuple[Program, ...], bool, BadRecord | None]]:
    for entry in read_answered(path, export_format, answers):
        if isinstance(entry, BadRecord):
            yield (), False, entry
            continue
        number, record = entry
        try:
            read = read_record(export_format, record, number, path)
        except RecordError as error:
            yield (), False, BadRecord(number, str(error))
        else:
            yield read.answers or read.programs, bool(read.answers), None


def as_sample(program: Program) -> dict[str, Any]:
    """Return a program as `driftline validate` reads it."""
    sample = {
        "id": program.name,
        "library": program.library,
        "version": program.version,
        "python": program.python,
        "extra_dependencies": list(program.extra_dependencies),
        "code": program.code,
        "test": program.test,
        "test_file": program.test_file,
        "module": program.module,
    }
    return {name: value for name, value in sample.items() if value not in (None, [])}
