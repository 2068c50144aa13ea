"""How commands speak: tables and progress for people, JSON for programs, one line for an error."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
from pipeline.core.printable import printable, printable_json

if TYPE_CHECKING:
    from pipeline.lake.stage import Reject


class _Visible(RenderHook):
    """Shows whatever is printed as text: a name, an id or a comment from outside moves no cursor and sets no title."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Return the same, in printable characters."""
        return [one if isinstance(one, Control) else _Printable(one) for one in renderables]


@dataclass(frozen=True, slots=True)
class _Printable:
    """Something to print, whose texts are made printable once they are laid out."""

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

Tell = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and how much there is."""

QUIET_S = 2.0
"""Seconds in which a command that writes to a pipe need not say what it is doing."""

AGAIN_S = 20.0
"""Seconds after which a step that lasts is told of again."""

_POLL_S = 0.5

_LONGEST_NAME = 60
"""Characters of a word in a table from which it may be broken, as a path is."""
LEFT_OUT = 5
"""What had to be left out is often a hundred files of Python 2; a few tell the story."""

_NAMED = 3
"""Of what was left out for one cause so many are named."""


def fail(message: str, status: int = PROBLEM) -> NoReturn:
    """Print an error as one paragraph and end with a status."""
    _show(f"[red]error:[/red] {escape(cut_message(as_typed(message)))}")
    raise typer.Exit(status)


def say(message: str) -> None:
    """Tell what is being done, beside the output."""
    _show(escape(cut_message(as_typed(message))))


def _show(text: str) -> None:
    """Print a line, which a terminal breaks between words and never in the middle of a name; a pipe has it whole."""
    err.print(text, soft_wrap=not err.is_terminal, overflow="ignore", crop=False)


def say_left_out(rejects: Sequence[Reject]) -> None:
    """Tell what could not be read, the first few of many; what has one cause is counted in one line."""
    causes: dict[tuple[str, str], list[str]] = {}
    for reject in rejects:
        causes.setdefault((reject.reason, reject.detail), []).append(reject.key)
    shown = list(causes.items())[:LEFT_OUT]
    for (_, detail), keys in shown:
        say(f"left out: {_counted(keys)}: {detail}")
    if more := len(rejects) - sum(len(keys) for _, keys in shown):
        say(f"left out: {more} more, which --json lists")


def _counted(keys: Sequence[str]) -> str:
    """Name what has one cause, the first few, and count the others."""
    others = len(keys) - _NAMED
    return ", ".join(keys) if others <= 0 else f"{', '.join(keys[:_NAMED])} and {others} more"


def print_json(value: Any) -> None:
    """Print a value as JSON for a program to read."""
    print(printable_json(json.dumps(value, indent=1, ensure_ascii=False, default=str)))  # noqa: T201 - the output itself


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers stand on the right."""
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
def progress(what: str, total: int = 0) -> Iterator[Tell]:
    """Show on the standard error what a command does that may take long: as a bar on a terminal, else in lines.

    The block hears of each step by calling what it is given: what is done, how much of it, and of how much. Lines begin
    after two seconds: what is quick needs none. A total of 0 is one that is not known.
    """
    if not err.is_terminal:
        lines = _Lines(what)
        lines.start()
        try:
            yield lines.tell
        finally:
            lines.end()
        return
    # Only here: no pipe needs it.
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(printable(what), total=total or None)

        def tell(what: str, done: int, total: int) -> None:
            counts = f", {done:,} of {total:,}" if total else ""
            bar.update(task, description=printable(what) + counts, completed=done, total=total or None)

        yield tell


class _Lines(threading.Thread):
    """Tells of each step in a line, and again of one that lasts."""

    def __init__(self, what: str) -> None:
        super().__init__(daemon=True)
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._step, self._done, self._total = what, 0, 0
        self._untold = deque([what])

    def tell(self, what: str, done: int, total: int) -> None:
        if what != self._step:
            self._untold.append(what)
        self._step, self._done, self._total = what, done, total

    def end(self) -> None:
        self._ended.set()
        self.join()
        if time.monotonic() - self._began >= QUIET_S:
            self._say_untold()

    def run(self) -> None:
        if self._ended.wait(QUIET_S):
            return
        said = time.monotonic()
        while True:
            if self._untold:
                self._say_untold()
                said = time.monotonic()
            elif time.monotonic() - said >= AGAIN_S:
                counts = f"{self._done:,} of {self._total:,}, " if self._total else ""
                say(f"{self._step}: {counts}{time.monotonic() - self._began:.0f} s so far")
                said = time.monotonic()
            if self._ended.wait(_POLL_S):
                return

    def _say_untold(self) -> None:
        while self._untold:
            say(self._untold.popleft())
