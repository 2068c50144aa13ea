"""The options `--view` and `--cutoff` of the commands that choose tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.output import BAD_USAGE, fail
from pipeline.core.errors import InputError
from pipeline.core.vocabularies.evaluation import View
from pipeline.evaluation.views import TaskView, task_view

ViewName = Annotated[View, typer.Option("--view", help="Which rows are tasks.")]
Cutoff = Annotated[
    str | None,
    typer.Option(
        "--cutoff", help=f"Last day of the training data, for --view {View.POST_CUTOFF}.", metavar="YYYY-MM-DD"
    ),
]


def view_of(view: View, cutoff: str | None) -> TaskView:
    """Return the view of both options; ends with status 2 if they do not go together."""
    try:
        return task_view(view, cutoff)
    except InputError as error:
        fail(error, BAD_USAGE)
