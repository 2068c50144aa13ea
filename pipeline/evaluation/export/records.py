"""Files of the benchmarks: detection of their format, and their records, good and bad."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.format import ExportError, Record
from pipeline.evaluation.export.formats import FORMATS

LINE_BYTES = 64 << 20
_FILE_BYTES = 4 << 30
_WHOLE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"count"\s*:\s*\d+\s*,\s*)?"data"\s*:\s*\[')


Fields = Mapping[str, type | tuple[type, ...]]
"""Types of fields by name."""


class RecordError(CodedError, ValueError):
    """A record cannot be used; the message has the field, the problem and what to do."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read: its number in the file, from 1, and why."""

    number: int
    detail: str


def detect(path: Path) -> ExportFormat | None:
    """Return the format of a file by its first record, None for another format."""
    with path.open("rb") as file:
        if is_whole_json(file):
            return next((name for name, format_ in FORMATS.items() if not format_.recognised_by), None)
        first = next((line for line in _lines(file) if line.strip()), b"")
    try:
        fields = set(json.loads(first))
    except (ValueError, TypeError, RecursionError):
        return None
    return next(
        (name for name, format_ in FORMATS.items() if any(required <= fields for required in format_.recognised_by)),
        None,
    )


def is_whole_json(file: IO[bytes]) -> bool:
    """Return whether a file is one object {"data": [ … ]}, with or without a count, and go back to its beginning."""
    head = file.read(1 << 12)
    file.seek(0)
    return _WHOLE.match(head) is not None


def read_records(path: Path) -> Iterator[tuple[int, Record] | BadRecord]:
    """Yield the records of a file with their numbers from 1; {"data": [ … ]} and JSON lines are both read.

    Errors: ExportError where the file as a whole cannot be read.
    """
    with path.open("rb") as file:
        if is_whole_json(file):
            yield from _of_list(path, file)
            return
        for number, line in enumerate(_lines(file), 1):
            if line.strip():
                yield _judged(number, line)


def _of_list(path: Path, file: IO[bytes]) -> Iterator[tuple[int, Record] | BadRecord]:
    if path.stat().st_size > _FILE_BYTES:
        raise ExportError(
            f"{path}: larger than {_FILE_BYTES >> 30} GiB; write its records in several files", code="records_too_large"
        )
    try:
        records = json.loads(file.read().decode("utf-8-sig"))["data"]
    except (ValueError, RecursionError) as error:
        raise ExportError(
            f'{path}: not JSON ({error}); write one object {{"data": [ … ]}}', code="records_not_json"
        ) from None
    for number, record in enumerate(records, 1):
        yield (number, record) if isinstance(record, dict) else BadRecord(number, "no object {…}")


def _judged(number: int, line: bytes) -> tuple[int, Record] | BadRecord:
    if len(line) > LINE_BYTES:
        return BadRecord(number, f"longer than {LINE_BYTES >> 20} MiB; leave it out, or shorten it")
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return BadRecord(number, f"not JSON ({error}); write one object on each line")
    return (number, record) if isinstance(record, dict) else BadRecord(number, "no object {…}")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield lines, overlong ones cut one byte after the limit."""
    while line := file.readline(LINE_BYTES + 1):
        yield line
        while len(line) > LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(LINE_BYTES + 1)


def read_answered(
    path: Path, export_format: ExportFormat, answers: Path | None
) -> Iterator[tuple[int, Record] | BadRecord]:
    """Yield the records of a file; with a file of answers only the answered ones, with their answers.

    An answer to no record is a BadRecord. Errors: ExportError for a format that keeps answers in its records.
    """
    if answers is None:
        yield from read_records(path)
        return
    stand_in = FORMATS[export_format].answers
    if stand_in is None:
        raise ExportError(
            f"{answers}: {export_format} keeps answers in its records; leave out --answers", code="answers_in_records"
        )
    key, field = stand_in
    by_record: dict[str, list[tuple[int, str]]] = {}
    for entry in read_records(answers):
        if isinstance(entry, BadRecord):
            yield BadRecord(entry.number, f"{answers.name}: {entry.detail}")
        elif not isinstance(entry[1].get(key), str | int) or not isinstance(entry[1].get(field), str):
            yield BadRecord(entry[0], f"{answers.name}: {key} or {field} is missing, or no text; give both")
        else:
            by_record.setdefault(str(entry[1][key]), []).append((entry[0], entry[1][field]))
    for entry in read_records(path):
        if isinstance(entry, BadRecord):
            yield entry
        elif texts := by_record.pop(str(entry[1].get(key)), None):
            yield entry[0], entry[1] | {field: [text for _, text in texts]}
    for name, texts in by_record.items():
        yield BadRecord(texts[0][0], f"{answers.name}: {path.name} has no record with {key} {name!r:.80}")


def answers_in(record: Record, field: str) -> list[str]:
    """Return the answers in a record: a text, or a list of them.

    Errors: RecordError.
    """
    value = record.get(field)
    answers: list[Any] = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(answer, str) for answer in answers):
        raise RecordError(
            f"{field}: {value!r:.60} does not fit; give a text, or a list of texts", code="record_value_invalid"
        )
    return answers


def numbered(name: str, number: int) -> list[str]:
    """Return the names of answers to one record: its own, with a number where there are several."""
    return [name] if number == 1 else [f"{name}#{at}" for at in range(1, number + 1)]


def checked(record: Record, fields: Fields, optional: Fields) -> Record:
    """Return a record with all required fields; fields, and optional ones where present, have their types.

    Errors: RecordError naming every missing field, or the first of another type.
    """
    missing = [name for name in fields if record.get(name) is None]
    if missing:
        raise RecordError(
            f"{', '.join(missing)}: missing; complete the record, or leave it out", code="record_field_missing"
        )
    for name, types in {**fields, **optional}.items():
        value: Any = record.get(name)
        if value is None:
            continue
        if not isinstance(value, types) or (isinstance(value, bool) and types is int):
            raise RecordError(
                f"{name}: {value!r:.60} does not fit; give {_type_names(types)}", code="record_value_invalid"
            )
    return record


def _type_names(types: type | tuple[type, ...]) -> str:
    names = {str: "a text", int: "a number", list: "a list", dict: "an object", bool: "true or false"}
    kinds = types if isinstance(types, tuple) else (types,)
    return " or ".join(names[kind] for kind in kinds)
