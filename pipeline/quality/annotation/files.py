"""The files that reviews go out to and come in from."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.annotation import ReviewFormat
from pipeline.lake.tables import replacing
from pipeline.quality.annotation.exchange import BadLine, Line, read_line, write_line
from pipeline.quality.annotation.label_studio import from_task, interface, to_task


class BadFile(CodedError, ValueError):
    """A file cannot be read as a whole: the message says why, and what to do."""


def write_file(file: Path, lines: Iterable[Line], form: ReviewFormat) -> int:
    """Write samples to a new file and return their number; a labelling interface goes beside tasks, as FILE.xml.

    Errors: FileExistsError, OSError; the file is there only when it is whole.
    """
    labelling = [file.with_name(f"{file.name}.xml")] if form == ReviewFormat.LABEL_STUDIO else []
    for place in (file, *labelling):
        if place.exists():
            raise FileExistsError(f"{place}: there already; name another file, or move it away")
    with replacing(file) as temporary:
        if not labelling:
            return _write_lines(temporary, lines)
        number, fields = _write_tasks(temporary, lines)
        labelling[0].write_text(interface(fields), encoding="utf-8")
        return number


def read_file(file: Path, form: ReviewFormat, bad: list[str]) -> Iterator[Line]:
    """Yield what can be read of a file; `bad` takes what is wrong with the rest, with its place.

    Errors: BadFile, OSError.
    """
    if form == ReviewFormat.LABEL_STUDIO:
        yield from _read("task", _tasks(file), from_task, bad)
    else:
        with file.open("rb") as texts:
            yield from _read("line", texts, read_line, bad)


def _read(unit: str, pieces: Iterable[Any], read: Callable[[Any], Line], bad: list[str]) -> Iterator[Line]:
    for number, piece in enumerate(pieces, 1):
        if isinstance(piece, bytes) and not piece.strip():
            continue
        try:
            yield read(piece)
        except BadLine as error:
            bad.append(f"{unit} {number}: {error}")


def _write_lines(file: Path, lines: Iterable[Line]) -> int:
    number = 0
    with file.open("wb") as out:
        for line in lines:
            out.write(write_line(line) + b"\n")
            number += 1
    return number


def _write_tasks(file: Path, lines: Iterable[Line]) -> tuple[int, frozenset[str]]:
    number, fields = 0, set[str]()
    with file.open("w", encoding="utf-8") as out:
        out.write("[")
        for line in lines:
            out.write((",\n" if number else "\n") + json.dumps(to_task(line), ensure_ascii=False))
            fields.update(line.fields)
            number += 1
        out.write("\n]\n")
    return number, frozenset(fields)


def _tasks(file: Path) -> list[Any]:
    try:
        tasks = msgspec.json.decode(file.read_bytes().removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFile(f"{file}: not JSON ({error}); export the project as JSON", code="label_studio_not_json") from None
    if not isinstance(tasks, list):
        raise BadFile(f"{file}: not a list of tasks; export the project as JSON", code="label_studio_no_tasks")
    return tasks
