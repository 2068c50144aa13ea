"""How commands speak: tables and progress for people, JSON for programs, one line for an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipeline.cli.commands import as_typed

if TYPE_CHECKING:
    from rich.progress import Progress

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

PROBLEM = 1
BAD_USAGE = 2


def fail(message: str, status: int = PROBLEM) -> NoReturn:
    """Print an error as one paragraph and end with a status."""
    err.print(f"[red]error:[/red] {escape(as_typed(message))}")
    raise typer.Exit(status)


def say(message: str) -> None:
    """Tell what is being done, beside the output."""
    err.print(escape(as_typed(message)))


def print_json(value: Any) -> None:
    """Print a value as JSON for a program to read."""
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))  # noqa: T201 - the output itself


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers stand on the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[number], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row))
    out.print(table)


def teller(bar: Progress) -> Callable[[str, int, int], None]:
    """Return what a long piece of work tells how far it is: what it does, how much is done, how much there is."""

    def tell(what: str, done: int, total: int) -> None:
        bar.update(bar.task_ids[0], description=what, completed=done, total=total)

    return tell


@contextmanager
def progress(total: int, what: str) -> Iterator[Progress]:
    """Show a bar on a terminal, nothing elsewhere; task 0 is the bar."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        bar.add_task(what, total=total)
        yield bar
