"""The command line `driftline`: the same functions that the DAGs call."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from pipeline.cli.commands import NAME, Commands, program
from pipeline.cli.output import BAD_USAGE, PROBLEM, err, fail
from pipeline.core.build import build_version

INTERRUPTED = 130
"""The status with which Typer ends on Ctrl-C, as shells count it: 128 and the number of SIGINT."""

app = typer.Typer(
    name=NAME,
    cls=Commands,
    help="Live, execution-proven benchmarks of library-version-aware code.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        print(f"{NAME} {build_version()}")  # noqa: T201 - the output itself
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    # Eager, so that it ends before Typer imports what checks values.
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    # Only here: neither help nor version need them.
    from pipeline.core.logs import log_to
    from pipeline.core.settings import settings

    log_to(sys.stderr, settings().log)


def main() -> None:
    """Run the command line; errors of input or environment are one line, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Not every terminal supports all characters of crawled names.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name=program())
    except SystemExit as end:
        if end.code == INTERRUPTED:
            err.print("interrupted; finished work is stored, run the same command again to go on")
        raise
    except Exception as error:
        missing = _missing(error)
        status = BAD_USAGE if missing else _status(error)
        if status is None:
            raise
        try:
            fail(missing or error, status)
        except typer.Exit as end:
            sys.exit(end.exit_code)


def _missing(error: Exception) -> str | None:
    """Return what to install for a command that the installed requirements do not reach, None for other errors."""
    package = error.name if isinstance(error, ModuleNotFoundError) and error.name else NAME
    if package.partition(".")[0] in (NAME, __package__.partition(".")[0]):
        return None
    return (
        f"this command needs the package {package}, which is not installed: `make install`, or the extra `refresh` of"
        f" {NAME}, brings all that makes snapshots"
    )


def _status(error: Exception) -> int | None:
    """Return the status for an error of input or environment, None for an internal error."""
    # Only here: the code that raised one of these has imported it.
    from pipeline.core.errors import FatalError
    from pipeline.core.rules.load import RuleError
    from pipeline.core.settings import SettingsError
    from pipeline.index.http import BadAnswer, NotFound, Unreachable
    from pipeline.snapshots.format.manifest import SnapshotError

    if isinstance(error, RuleError | SettingsError | SnapshotError):
        return BAD_USAGE
    world = (Unreachable, NotFound, BadAnswer, FatalError, OSError)
    return PROBLEM if isinstance(error, world) else None
