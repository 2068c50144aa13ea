"""`driftline report`: one page on a run and its snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, fail, out, print_json, progress
from pipeline.orchestration.report.source import PAGE, NoReportError, find, report, write_page

Subject = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN|SNAPSHOT]",
        help="Name of a run, folder of a run or snapshot, or a profile for its latest snapshot. Default: the last run.",
        show_default=False,
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="File to write; default: in the run's folder.", metavar="FILE")]


def write_report(name: Subject = None, page: Out = None, json: Json = False) -> None:
    """Write a page on a run: its funnel, published rows and their proofs, pending reviews, cost and time.

    A refresh writes one too. The page loads nothing from elsewhere; --json prints the same figures instead.

    Example: driftline report starter --out report.html
    """
    if page and page.is_dir():
        fail(f"--out {page} is a folder: name a file in it, such as {page / PAGE}", BAD_USAGE)
    try:
        subject = find(name)
        with progress("counting"):
            content = report(subject)
    except (NoReportError, ValueError) as error:
        fail(error, BAD_USAGE)
    if json:
        print_json(content.as_json())
        return
    path = page or (subject.run / PAGE if subject.run else Path(PAGE))
    write_page(content, path)
    out.print(str(path), markup=False)
