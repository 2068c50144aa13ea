"""`driftline evolution`: numbers of APIs that each release introduced, deprecated, removed and modified; a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from packaging.version import InvalidVersion, Version
from rich.text import Text

from pipeline.api.history.change_text import counted_releases
from pipeline.api.history.evolution import Step, as_rows, evolution_of, since
from pipeline.cli.options import Json, Named
from pipeline.cli.output import BAD_USAGE, fail, notify, out, print_json, print_left_out, progress
from pipeline.orchestration.adhoc import NoAnswerError, Tables, tables_from_index

BAR = 24
"""Cells of the longest bar."""

NARROWEST = 8
"""Cells of the shortest useful bar."""

_PARTS = (("removed", "red"), ("moved", "magenta"), ("breaking", "bright_red"), ("deprecated", "yellow"))
_COLUMNS = {name: name for name in ("introduced", "deprecated", "removed", "moved", "modified", "breaking")} | {
    "size": "   API"
}

Since = Annotated[str | None, typer.Option("--since", help="Only releases from this version on.", metavar="VERSION")]
Svg = Annotated[Path | None, typer.Option(help="Write a picture to this file.", metavar="FILE")]


def evolution(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    svg: Svg = None,
    since: Since = None,
    release: Named = None,
    json: Json = False,
) -> None:
    """Count what each final release of a library introduced, deprecated, removed and modified, and draw it.

    Other releases are included if named.

    Example: driftline evolution flask --since 2.0 --svg flask.svg
    """
    tables = _tables(library, since, release or ())
    steps = _steps(library, since, tables)
    if svg is not None:
        # slow to import, and needed for the picture alone
        from pipeline.api.history.timeline_svg import evolution_svg

        svg.write_text(evolution_svg(library, steps), encoding="utf-8")
        notify(f"wrote {svg}")
    if json:
        rejects = [asdict(reject) for reject in tables.rejects]
        print_json({"library": library, "releases": as_rows(steps), "rejects": rejects})
        return
    for line in table_lines(library, steps, out.width if out.is_terminal else 0):
        out.print(line)
    print_left_out(tables.rejects)


def _tables(library: str, first: str | None, named: Sequence[str]) -> Tables:
    try:
        since = [Version(first)] if first else []
    except InvalidVersion:
        fail(f"--since {first!r} is not a version by PEP 440; write for example 2.0", BAD_USAGE)
    try:
        with progress(f"reading {library}") as report:
            return tables_from_index(library, report, named, since)
    except NoAnswerError as error:
        fail(error, BAD_USAGE)


def _steps(library: str, first: str | None, tables: Tables) -> list[Step]:
    steps = evolution_of(tables.releases, tables.changes, tables.lifecycles, tables.uncompared)
    selected = since(steps, first) if first else steps
    if not selected:
        fail(
            f"--since {first}: {library} has no final release from there on; the newest is {steps[-1].version}",
            BAD_USAGE,
        )
    return selected


def table_lines(library: str, steps: Sequence[Step], room: int = 0) -> Iterator[Text]:
    """Yield a line for each release, newest last; with `room`, the width of a terminal, also a bar."""
    broad = max(len("version"), *(len(step.version) for step in steps))
    yield Text(
        f"{library}: {counted_releases([step.version for step in steps])}, {steps[0].version} to {steps[-1].version}",
        "bold",
    )
    heads = "".join(f"  {name}" for name in _COLUMNS.values())
    head = f"{'version':<{broad}}  {'date':<10}{heads}"
    yield Text(head, "bold")
    cells = min(room - len(head) - 2, BAR)
    most = max(step.total for step in steps)
    for step in steps:
        named = f"{step.version:<{broad}}  {step.release_time:%Y-%m-%d}"
        counts = "".join(f"  {_count_text(step, column):>{len(name)}}" for column, name in _COLUMNS.items())
        bar = _bar(step, most, cells) if cells >= NARROWEST else Text()
        yield Text.assemble((named, "bold" if step.major else ""), counts, "  " if bar else "", bar)
    yield Text("moved: or renamed. breaking: of the modified, those that can break calls. API: public paths.", "dim")


def _count_text(step: Step, column: str) -> str:
    """Return a count as text: `?` for releases that were not compared, a dot for zero."""
    if column != "size" and not step.compared:
        return "?"
    count = getattr(step, column)
    return f"{count:,}" if count else "·"


def _bar(step: Step, most: int, cells: int) -> Text:
    """Draw the changes, breaking ones first; every part that is not empty has a cell."""
    counts = [(getattr(step, name), style) for name, style in _PARTS]
    counts += [(step.modified - step.breaking, "bright_black"), (step.introduced, "blue")]
    bar = Text.assemble(*(("█" * max(1, round(count / most * cells)), style) for count, style in counts if count))
    bar.truncate(cells)
    return bar
