"""`driftline review`: the review queue in a browser, for one person."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from pipeline.cli.output import BAD_USAGE, fail, out, progress, say
from pipeline.cli.review_files import export_reviews, import_reviews
from pipeline.core.vocabularies.annotation import QueueStatus

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
    """Take what is flagged from the lake into the review queue, and serve it to a browser on this machine.

    The address that is printed lets in whoever opens it: keep it to yourself. Ends on Ctrl-C. What is decided is in the
    database that DRIFTLINE_REVIEWS names, and counts from the next refresh on.

    Example: driftline review --port 8300
    """
    if context.invoked_subcommand is not None:
        return
    # Only here: SQLAlchemy and FastAPI take half a second, which every other command would wait for.
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
        fail(str(error))
    changed = f"{filled.added} new, {filled.again} reopened, {filled.gone} removed"
    say(f"{waiting} samples wait for a decision ({changed})")
    try:
        listening = listen(port)
    except OSError as error:
        fail(f"port {port} cannot be listened on ({error.strerror}): choose another with --port", BAD_USAGE)
    out.print(f"http://127.0.0.1:{listening.getsockname()[1]}/?token={door.token}")
    serve(alone(store, validator, door), listening)


def _annotator(name: str | None) -> str:
    """Return the name under which decisions are kept."""
    try:
        found = (getpass.getuser() if name is None else name).strip()
    except (KeyError, OSError):
        fail("this account has no name: say yours with --name", BAD_USAGE)
    if not 0 < len(found) <= 200:
        fail(f"--name {found!r}: 1 to 200 characters", BAD_USAGE)
    return found
