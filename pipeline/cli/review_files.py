"""`driftline review export` and `import`: reviews in files, for teams that use a tool of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, print_json, progress, say
from pipeline.core.vocabularies.annotation import QueueStatus, ReviewFormat
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind

if TYPE_CHECKING:
    from pipeline.quality.annotation.exchange import Imported

SHOWN = 10
"""Decisions that could not be taken of which it tells; the others are counted."""

Format = Annotated[ReviewFormat, typer.Option("--format", help="What the file is.")]


def export_reviews(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.", show_default=False)],
    form: Format = ReviewFormat.JSONL,
    status: Annotated[QueueStatus | None, typer.Option(help="Only samples of this status.")] = None,
    flag: Annotated[FlagKind | None, typer.Option(help="Only samples with this flag.")] = None,
    family: Annotated[Family | None, typer.Option(help="Only this family.")] = None,
    library: Annotated[str | None, typer.Option(help="Only this library.", metavar="NAME")] = None,
) -> None:
    """Write the samples of the review queue, with their decisions, to a file.

    With Label Studio's format the labelling interface that fits is written beside it, as FILE.xml.

    Example: driftline review export pending.jsonl --status pending
    """
    # Only here: other commands need not wait for the review database.
    from pipeline.quality.annotation.exchange import export_lines
    from pipeline.quality.annotation.files import write_file
    from pipeline.quality.annotation.opening import open_reviews
    from pipeline.quality.annotation.queue import Filter
    from pipeline.quality.annotation.store import StoreError

    if file.exists():
        fail(f"{file}: there already; name another file, or move it away", BAD_USAGE)
    try:
        store, _ = open_reviews()
    except StoreError as error:
        fail(str(error))
    wanted = Filter(flag=flag, library=library, family=family, status=status)
    with progress(f"writing {file}"):
        written = write_file(file, export_lines(store, wanted), form)
    say(f"{written} samples in {file}")


def import_reviews(
    file: Annotated[Path, typer.Argument(help="A file that was exported, with decisions added.", show_default=False)],
    form: Format = ReviewFormat.JSONL,
    json: Json = False,
) -> None:
    """Add the decisions of a file to the review queue; those that are there already are left as they are.

    Edits are run as the pipeline would before they count. Ends with status 0, 1 where a line or a decision could not be
    taken, 2 where the file could not.

    Example: driftline review import decided.jsonl
    """
    from pipeline.quality.annotation.exchange import import_lines
    from pipeline.quality.annotation.files import BadFile, read_file
    from pipeline.quality.annotation.opening import open_reviews
    from pipeline.quality.annotation.revalidation import revalidate
    from pipeline.quality.annotation.store import StoreError

    if not file.is_file():
        fail(f"{file}: {'a folder; name a file' if file.is_dir() else 'no such file'}", BAD_USAGE)
    bad: list[str] = []
    try:
        store, validator = open_reviews()
        with progress(f"reading {file}"):
            imported = import_lines(store, read_file(file, form, bad), file.name)
    except StoreError as error:
        fail(str(error))
    except BadFile as error:
        fail(str(error), BAD_USAGE)
    ran = []
    with progress("running edits") as tell:
        for done, edit in enumerate(imported.edits):
            tell("running edits", done, len(imported.edits))
            ran.append((edit, revalidate(store, edit, validator)[0]))
    failed = [f"edit {edit}: {validation.problem}" for edit, validation in ran if not validation.passed]
    if json:
        print_json(_as_json(imported, bad, failed))
    else:
        _tell(imported, bad, failed)
    if bad or imported.left or failed:
        raise typer.Exit(PROBLEM)


def _as_json(imported: Imported, bad: list[str], failed: list[str]) -> dict[str, Any]:
    counts = {"added": imported.added, "known": imported.known}
    return counts | {"left": list(imported.left), "bad": bad, "edits_that_failed": failed}


def _tell(imported: Imported, bad: list[str], failed: list[str]) -> None:
    say(f"{imported.added} decisions added, {imported.known} were there already")
    problems = [*bad, *imported.left, *failed]
    for problem in problems[:SHOWN]:
        say(problem)
    if len(problems) > SHOWN:
        say(f"and {len(problems) - SHOWN} more; --json tells all")
