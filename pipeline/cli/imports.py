"""`driftline import`: the files of a benchmark into the lake."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, print_json, print_table, progress, say
from pipeline.core.settings import settings
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.format import ExportError
from pipeline.evaluation.export.importing import import_file
from pipeline.evaluation.export.records import BadRecord, detect
from pipeline.evaluation.export.samples import write_samples
from pipeline.lake.tables import Lake

SHOWN = 10
"""Records that could not be read of which it tells; the others are counted."""

Format = Annotated[
    ExportFormat | None, typer.Option("--format", help="Whose format the file has; by default its fields tell.")
]


def import_records(
    file: Annotated[Path, typer.Argument(help="A file of a benchmark: JSON or JSON lines.", show_default=False)],
    wanted: Format = None,
    json: Json = False,
) -> None:
    """Add the records of a benchmark's file to the table `imported` of the lake, each with where it comes from.

    Ends with status 0, 1 where a record could not be read, 2 where the file could not.

    Example: driftline import problems.jsonl --format gitchameleon
    """
    format_ = format_of(file, wanted)
    try:
        with progress(f"reading {file}"):
            imports = import_file(file, format_, Lake(settings().lake))
    except ExportError as error:
        fail(str(error), BAD_USAGE)
    if json:
        bad = [{"record": one.number, "detail": one.detail} for one in imports.bad]
        print_json({"format": format_, "new": dict(sorted(imports.new.items())), "known": imports.existing, "bad": bad})
    else:
        print_table(f"{format_}: {file}", ("library", "new rows"), sorted(imports.new.items()))
        say(f"{imports.existing} rows were there before")
    if imports.bad:
        tell_bad(file, imports.bad)
        raise typer.Exit(PROBLEM)


def format_of(file: Path, wanted: ExportFormat | None) -> ExportFormat:
    """Return the format of a file as asked for, else as its first record tells; ends with status 2 where none does."""
    if not file.is_file():
        fail(f"{file}: no such file" if not file.exists() else f"{file} is a folder; name a file in it", BAD_USAGE)
    found = wanted or detect(file)
    if found is None:
        fail(
            f"{file}: the fields of its first record are those of no format ({', '.join(ExportFormat)}); name one with"
            " --format",
            BAD_USAGE,
        )
    return found


@contextmanager
def as_samples(file: Path, found: ExportFormat | None, answers: Path | None = None) -> Iterator[Path]:
    """Hand out a file of samples: the file itself, or what it comes to where it is one of a benchmark.

    Errors: ExportError where it has a benchmark's format and cannot be used.
    """
    if found is None:
        if answers:
            raise ExportError(
                f"--answers {answers}: {file} is of no benchmark's format, so it has no records to answer"
            )
        yield file
        return
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as made:
        converted = write_samples(file, found, made, answers)
        made.flush()
        what = f"{converted.answers} answers" if converted.answers else f"{converted.samples} references"
        say(f"{file}: read as {found}, {what}")
        tell_bad(file, converted.bad)
        yield Path(made.name)


def tell_bad(file: Path, bad: Sequence[BadRecord]) -> None:
    """Tell which records could not be used, and why."""
    for one in bad[:SHOWN]:
        say(f"{file}: record {one.number}: {one.detail}")
    if len(bad) > SHOWN:
        say(f"{file}: {len(bad) - SHOWN} more records could not be used")
