"""Files of the benchmarks as anybody has them: which format one has, and its records, good and bad."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.errors import ExportError
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.results import Record

LINE_BYTES = 64 << 20
_FILE_BYTES = 4 << 30


Fields = Mapping[str, type | tuple[type, ...]]
"""Names of fields and what their values are."""


class RecordError(ValueError):
    """A record cannot be used; the message says which field, what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read: its number in the file, from 1, and why."""

    number: int
    detail: str


def detect(path: Path) -> ExportFormat | None:
    """Return the format of a file by its first record, None where it has none of the formats."""
    with path.open("rb") as file:
        if is_whole_json(file):
            return next((wanted for wanted, known in FORMATS.items() if not known.recognised_by), None)
        first = next((line for line in _lines(file) if line.strip()), b"")
    try:
        fields = set(json.loads(first))
    except (ValueError, TypeError, RecursionError):
        return None
    return next(
        (wanted for wanted, known in FORMATS.items() if any(one <= fields for one in known.recognised_by)), None
    )


def is_whole_json(file: IO[bytes]) -> bool:
    """Return whether a file is one object {"data": [ … ]}, and go back to its beginning."""
    head = file.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    if not head.startswith(b"{"):
        return False
    return head[1:].lstrip().startswith(b'"data"') and head.partition(b":")[2].lstrip().startswith(b"[")


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
        raise ExportError(f"{path}: larger than {_FILE_BYTES >> 30} GiB; write its records in several files")
    try:
        records = json.loads(file.read().decode("utf-8-sig"))["data"]
    except (ValueError, RecursionError) as error:
        raise ExportError(f'{path}: not JSON ({error}); write one object {{"data": [ … ]}}') from None
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
    """Yield lines; of one that is too long only as much as tells that it is."""
    while line := file.readline(LINE_BYTES + 1):
        yield line
        while len(line) > LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(LINE_BYTES + 1)


def read_answered(path: Path, wanted: ExportFormat, answers: Path | None) -> Iterator[tuple[int, Record] | BadRecord]:
    """Yield the records of a file; with a file of answers those that it answers, with what it says in them.

    An answer to no record is a BadRecord. Errors: ExportError for a format that keeps answers in its records.
    """
    if answers is None:
        yield from read_records(path)
        return
    stand_in = FORMATS[wanted].answers
    if stand_in is None:
        raise ExportError(f"{answers}: {wanted} keeps answers in its records; leave out --answers")
    key, field = stand_in
    found: dict[str, list[tuple[int, str]]] = {}
    for one in read_records(answers):
        if isinstance(one, BadRecord):
            yield BadRecord(one.number, f"{answers.name}: {one.detail}")
        elif not isinstance(one[1].get(key), str | int) or not isinstance(one[1].get(field), str):
            yield BadRecord(one[0], f"{answers.name}: {key} or {field} is missing, or no text; give both")
        else:
            found.setdefault(str(one[1][key]), []).append((one[0], one[1][field]))
    for one in read_records(path):
        if isinstance(one, BadRecord):
            yield one
        elif told := found.pop(str(one[1].get(key)), None):
            yield one[0], one[1] | {field: [text for _, text in told]}
    for name, told in found.items():
        yield BadRecord(told[0][0], f"{answers.name}: {path.name} has no record with {key} {name!r:.80}")


def answers_in(record: Record, field: str) -> list[str]:
    """Return the answers in a record: a text, or a list of them.

    Errors: RecordError.
    """
    value = record.get(field)
    found: list[Any] = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in found):
        raise RecordError(f"{field}: {value!r:.60} does not fit; give a text, or a list of texts")
    return found


def numbered(name: str, number: int) -> list[str]:
    """Return names for some answers to one record: its own, with a number where there are several."""
    return [name] if number == 1 else [f"{name}#{at}" for at in range(1, number + 1)]


def checked(record: Record, fields: Fields, optional: Fields) -> Record:
    """Return a record that has some fields, each of its type, and others of their types or not at all.

    Errors: RecordError naming every field that is missing, or the first of another type.
    """
    missing = [name for name in fields if record.get(name) is None]
    if missing:
        raise RecordError(f"{', '.join(missing)}: missing; complete the record, or leave it out")
    for name, wanted in {**fields, **optional}.items():
        value: Any = record.get(name)
        if value is None:
            continue
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is int):
            raise RecordError(f"{name}: {value!r:.60} does not fit; give {_told(wanted)}")
    return record


def _told(wanted: type | tuple[type, ...]) -> str:
    names = {str: "a text", int: "a number", list: "a list", dict: "an object", bool: "true or false"}
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    return " or ".join(names[kind] for kind in kinds)
