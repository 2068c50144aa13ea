"""Files of the benchmarks as anybody has them: which format one has, and its records, good and bad."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pipeline.export.results import Record
from pipeline.export.snapshot import ExportError
from pipeline.terms import ExportFormat

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


_TELLING: Mapping[ExportFormat, frozenset[str]] = {
    ExportFormat.GITCHAMELEON: frozenset({"example_id", "starting_code"}),
    ExportFormat.EVOCODEBENCH: frozenset({"namespace", "completion_path"}),
    ExportFormat.CODEVBENCH: frozenset({"block_key", "test_prefix"}),
    ExportFormat.LIBEVOLUTIONEVAL: frozenset({"prompt", "code_str"}),
}
"""Fields by which the first record of a file of JSON lines tells its format."""


def detect(path: Path) -> ExportFormat | None:
    """Return the format of a file by its first record, None where it has none of the formats."""
    with path.open("rb") as file:
        if is_whole_json(file):
            return ExportFormat.VERSICODE
        first = next((line for line in _lines(file) if line.strip()), b"")
    try:
        fields = set(json.loads(first))
    except (ValueError, TypeError, RecursionError):
        return None
    return next((wanted for wanted, telling in _TELLING.items() if telling <= fields), None)


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
