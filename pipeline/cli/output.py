"""Output of commands: tables and progress for people, JSON for programs, one line for an error."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.control import Control
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from pipeline.cli.commands import as_typed
from pipeline.core.credentials import cut_message
from pipeline.core.errors import CodedError
from pipeline.core.printable import printable, printable_json
from pipeline.core.progress import ReportProgress

if TYPE_CHECKING:
    from pipeline.lake.stage import Reject


class _Visible(RenderHook):
    """Makes all output printable: names and comments from outside cannot move the cursor or set a title."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Return the same, in printable characters."""
        return [renderable if isinstance(renderable, Control) else _Printable(renderable) for renderable in renderables]


@dataclass(frozen=True, slots=True)
class _Printable:
    """A renderable whose text is made printable after layout."""

    inner: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.inner, options):
            text = segment.text if segment.control else printable(segment.text)
            yield Segment(text, segment.style, segment.control)


def _console(*, stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False, soft_wrap=True)
    console.push_render_hook(_Visible())
    return console


out = _console()
err = _console(stderr=True)

PROBLEM = 1
BAD_USAGE = 2

QUIET_S = 2.0
"""Seconds before a command that writes to a pipe reports progress."""

AGAIN_S = 20.0
"""Seconds after which a long step is reported again."""

_POLL_S = 0.5

_LONGEST_NAME = 60
"""Length in characters from which words in a table, such as paths, may be broken."""
LEFT_OUT = 5
"""Causes of rejects that are listed; often there are a hundred files of Python 2."""

_NAMED = 3
"""Rejects of one cause that are listed."""


def fail(error: str | Exception, status: int = PROBLEM) -> NoReturn:
    """Print an error as one paragraph, with its code at the end, and end with a status."""
    code = f" \\[{error.code}]" if isinstance(error, CodedError) and error.code else ""
    _show(f"[red]error:[/red] {escape(cut_message(as_typed(str(error))))}{code}")
    raise typer.Exit(status)


def notify(message: str) -> None:
    """Print a message on the standard error."""
    _show(escape(cut_message(as_typed(message))))


def _show(text: str) -> None:
    """Print a line; a terminal breaks it between words, never in the middle of a name, and a pipe gets it whole."""
    err.print(text, soft_wrap=not err.is_terminal, overflow="ignore", crop=False)


def print_left_out(rejects: Sequence[Reject]) -> None:
    """Print the first rejects, those of one cause in one line."""
    causes: dict[tuple[str, str], list[str]] = {}
    for reject in rejects:
        causes.setdefault((reject.reason, reject.detail), []).append(reject.key)
    listed = list(causes.items())[:LEFT_OUT]
    for (_, detail), keys in listed:
        notify(f"left out: {_counted(keys)}: {detail}")
    if more := len(rejects) - sum(len(keys) for _, keys in listed):
        notify(f"left out: {more} more, which --json lists")


def _counted(keys: Sequence[str]) -> str:
    """List the first rejects of one cause, and count the others."""
    others = len(keys) - _NAMED
    return ", ".join(keys) if others <= 0 else f"{', '.join(keys[:_NAMED])} and {others} more"


def print_json(value: Any) -> None:
    """Print a value as JSON for a program to read."""
    print(printable_json(json.dumps(value, indent=1, ensure_ascii=False, default=str)))  # noqa: T201 - the output itself


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers are aligned to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[number], int | float) for row in rows)
        # No narrower than its longest name, so that none is broken in the middle.
        longest = max((len(word) for row in rows for word in str(row[number]).split()), default=0)
        table.add_column(
            column, justify="right" if numeric else "left", overflow="fold", min_width=min(longest, _LONGEST_NAME)
        )
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row))
    out.print(table)


@contextmanager
def progress(step: str, total: int = 0) -> Iterator[ReportProgress]:
    """Show the progress of a command on the standard error: as a bar on a terminal, else in lines after two seconds.

    The block reports each step, the number of finished items, and of all items (0 if unknown).
    """
    if not err.is_terminal:
        lines = _Lines(step)
        lines.start()
        try:
            yield lines.report
        finally:
            lines.end()
        return
    # Only here: no pipe needs it.
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(printable(step), total=total or None)

        def report(step: str, done: int, total: int) -> None:
            counts = f", {done:,} of {total:,}" if total else ""
            bar.update(task, description=printable(step) + counts, completed=done, total=total or None)

        yield report


class _Lines(threading.Thread):
    """Prints each step in a line, and long ones again."""

    def __init__(self, step: str) -> None:
        super().__init__(daemon=True)
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._step, self._done, self._total = step, 0, 0
        self._unreported = deque([step])

    def report(self, step: str, done: int, total: int) -> None:
        if step != self._step:
            self._unreported.append(step)
        self._step, self._done, self._total = step, done, total

    def end(self) -> None:
        self._ended.set()
        self.join()
        if time.monotonic() - self._began >= QUIET_S:
            self._print_unreported()

    def run(self) -> None:
        if self._ended.wait(QUIET_S):
            return
        reported = time.monotonic()
        while True:
            if self._unreported:
                self._print_unreported()
                reported = time.monotonic()
            elif time.monotonic() - reported >= AGAIN_S:
                counts = f"{self._done:,} of {self._total:,}, " if self._total else ""
                notify(f"{self._step}: {counts}{time.monotonic() - self._began:.0f} s so far")
                reported = time.monotonic()
            if self._ended.wait(_POLL_S):
                return

    def _print_unreported(self) -> None:
        while self._unreported:
            notify(self._unreported.popleft())
