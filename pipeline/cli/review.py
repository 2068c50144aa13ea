"""`driftline review`: the review queue in a browser for one person, and in files for teams with tools of their own."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, progress
from pipeline.core.vocabularies.annotation import QueueStatus, ReviewFormat
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind

if TYPE_CHECKING:
    from pipeline.quality.annotation.exchange import Imported

LISTED = 10
"""Problems that are listed; the others are counted."""

Format = Annotated[ReviewFormat, typer.Option("--format", help="Format of the file.")]


def export_reviews(
    file: Annotated[Path, typer.Argument(help="The file to write, which must not exist.", show_default=False)],
    form: Format = ReviewFormat.JSONL,
    status: Annotated[QueueStatus | None, typer.Option(help="Only samples of this status.")] = None,
    flag: Annotated[FlagKind | None, typer.Option(help="Only samples with this flag.")] = None,
    family: Annotated[Family | None, typer.Option(help="Only this family.")] = None,
    library: Annotated[str | None, typer.Option(help="Only this library.", metavar="NAME")] = None,
) -> None:
    """Write the samples of the review queue, with their decisions, to a file.

    With Label Studio's format the labelling interface is written to FILE.xml.

    Example: driftline review export pending.jsonl --status pending
    """
    # Only here: the review database is slow to import.
    from pipeline.quality.annotation.exchange import export_lines
    from pipeline.quality.annotation.files import write_file
    from pipeline.quality.annotation.opening import open_reviews
    from pipeline.quality.annotation.queue import Filter
    from pipeline.quality.annotation.store import StoreError

    if file.exists():
        fail(f"{file}: exists already; name another file, or move it away", BAD_USAGE)
    try:
        store, _ = open_reviews()
    except StoreError as error:
        fail(error)
    selection = Filter(flag=flag, library=library, family=family, status=status)
    with progress(f"writing {file}"):
        written = write_file(file, export_lines(store, selection), form)
    notify(f"{written} samples in {file}")


def import_reviews(
    file: Annotated[Path, typer.Argument(help="A file that was exported, with decisions added.", show_default=False)],
    form: Format = ReviewFormat.JSONL,
    json: Json = False,
) -> None:
    """Add the decisions of a file to the review queue; existing ones do not change.

    Edits must pass a run before they count. Ends with status 0, 1 if a line or a decision is invalid, 2 if the file is.

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
        fail(error)
    except BadFile as error:
        fail(error, BAD_USAGE)
    ran = []
    with progress("running edits") as report_progress:
        for done, edit in enumerate(imported.edits):
            report_progress("running edits", done, len(imported.edits))
            ran.append((edit, revalidate(store, edit, validator)[0]))
    failed = [f"edit {edit}: {validation.problem}" for edit, validation in ran if not validation.passed]
    if json:
        print_json(_as_json(imported, bad, failed))
    else:
        _report(imported, bad, failed)
    if bad or imported.refused or failed:
        raise typer.Exit(PROBLEM)


def _as_json(imported: Imported, bad: list[str], failed: list[str]) -> dict[str, Any]:
    counts = {"added": imported.added, "known": imported.existing}
    return counts | {"left": list(imported.refused), "bad": bad, "edits_that_failed": failed}


def _report(imported: Imported, bad: list[str], failed: list[str]) -> None:
    notify(f"{imported.added} decisions added, {imported.existing} were there already")
    problems = [*bad, *imported.refused, *failed]
    for problem in problems[:LISTED]:
        notify(problem)
    if len(problems) > LISTED:
        notify(f"and {len(problems) - LISTED} more; --json lists all")


PORT = 8300

app = typer.Typer()
app.command("export")(export_reviews)
app.command("import")(import_reviews)


@app.callback(invoke_without_command=True)
def review(
    context: typer.Context,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 takes a free one.", min=0, max=65535)] = PORT,
    name: Annotated[str | None, typer.Option(help="Name to decide under; default: that of your account.")] = None,
) -> None:
    """Add flagged rows of the lake to the review queue, and serve it to a browser on this machine.

    The printed address gives access: keep it secret. Ends on Ctrl-C. Decisions are stored in the database of
    DRIFTLINE_REVIEWS, and count from the next refresh on.

    Example: driftline review --port 8300
    """
    if context.invoked_subcommand is not None:
        return
    # Only here: importing SQLAlchemy and FastAPI takes half a second.
    from pipeline.quality.annotation.opening import open_reviews, take_from_lake
    from pipeline.quality.annotation.queue import progress as progress_of
    from pipeline.quality.annotation.store import StoreError
    from pipeline.quality.annotation.web.single_user import TokenInAddress, alone, listen, serve

    door = TokenInAddress(_annotator(name))
    try:
        store, validator = open_reviews()
        with progress("taking what is flagged from the lake"):
            filled = take_from_lake(store)
            waiting = progress_of(store).get(QueueStatus.PENDING, 0)
    except StoreError as error:
        fail(error)
    changed = f"{filled.added} new, {filled.again} reopened, {filled.gone} removed"
    notify(f"{waiting} samples wait for a decision ({changed})")
    try:
        listening = listen(port)
    except OSError as error:
        fail(f"port {port} cannot be listened on ({error.strerror}): choose another with --port", BAD_USAGE)
    out.print(f"http://127.0.0.1:{listening.getsockname()[1]}/?token={door.token}")
    serve(alone(store, validator, door), listening)


def _annotator(name: str | None) -> str:
    """Return the annotator's name for decisions."""
    try:
        annotator = (getpass.getuser() if name is None else name).strip()
    except (KeyError, OSError):
        fail("this account has no name: give one with --name", BAD_USAGE)
    if not 0 < len(annotator) <= 200:
        fail(f"--name {annotator!r}: 1 to 200 characters", BAD_USAGE)
    return annotator
