"""The command line `driftline`: the same functions that the DAGs call."""

from __future__ import annotations

import io
import sys

import typer

from pipeline import __version__
from pipeline.cli.airflow import app as airflow_app
from pipeline.cli.clean import clean_up
from pipeline.cli.compare import compare
from pipeline.cli.diff import diff
from pipeline.cli.doctor import doctor
from pipeline.cli.drafts import drafts
from pipeline.cli.env import app as env_app
from pipeline.cli.evolution import evolution
from pipeline.cli.export import export
from pipeline.cli.history import history
from pipeline.cli.imports import import_records
from pipeline.cli.libraries import app as libraries_app
from pipeline.cli.output import BAD_USAGE, PROBLEM, err, fail
from pipeline.cli.prompts import write_prompts
from pipeline.cli.publish import publish
from pipeline.cli.refresh import refresh
from pipeline.cli.report import write_report
from pipeline.cli.review import app as review_app
from pipeline.cli.score import score
from pipeline.cli.survive import survive_snapshots
from pipeline.cli.upload import upload
from pipeline.cli.validate import validate
from pipeline.cli.verify import verify
from pipeline.crawl import BadAnswer, NotFound, Unreachable
from pipeline.environments import SandboxUnavailable
from pipeline.lake.leases import LeaseLost
from pipeline.lake.objects import StoreError
from pipeline.logs import log_to
from pipeline.rules import RuleError
from pipeline.settings import SettingsError, settings

INTERRUPTED = 130
"""The status with which Typer ends on Ctrl-C, as shells count it: 128 and the number of SIGINT."""

app = typer.Typer(
    name="driftline",
    help="Live, execution-proven benchmarks of library-version-aware code.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(refresh)
app.command()(publish)
app.command()(diff)
app.command()(history)
app.command()(evolution)
app.command()(validate)
app.command()(export)
app.command("import")(import_records)
app.command()(verify)
app.command()(upload)
app.command()(compare)
app.command()(score)
app.command("survive")(survive_snapshots)
app.command("prompts")(write_prompts)
app.command()(drafts)
app.command("report")(write_report)
app.command("clean")(clean_up)
app.command()(doctor)
app.add_typer(env_app, name="env")
app.add_typer(libraries_app, name="libraries")
app.add_typer(review_app, name="review")
app.add_typer(airflow_app, name="airflow")


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        print(f"driftline {__version__}")  # noqa: T201 - the output itself
        raise typer.Exit
    log_to(sys.stderr, settings().log)


def main() -> None:
    """Run the command line; an error that is about the input or the world is a line, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names in the wild hold letters that not every terminal can show.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except (RuleError, SettingsError) as error:
        _end(str(error), BAD_USAGE)
    except (Unreachable, NotFound, BadAnswer, SandboxUnavailable, StoreError, LeaseLost, OSError) as error:
        _end(str(error), PROBLEM)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            err.print("interrupted; what was finished is kept, run the same command again to go on")
        raise


def _end(message: str, status: int) -> None:
    try:
        fail(message, status)
    except typer.Exit as end:
        sys.exit(end.exit_code)
