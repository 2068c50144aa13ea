"""A report as one self-contained page: its styles and pictures are in it, and it asks for nothing outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.core.vocabularies.drafts import DraftStatus
from pipeline.core.vocabularies.release_checks import CheckStatus
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.llm.client.tally import usd
from pipeline.orchestration.report.data import Report
from pipeline.orchestration.report.figures import Bar, Figure
from pipeline.orchestration.report.status import Status
from pipeline.orchestration.report.work import StageLine

COLOURS = 8
"""Colours of the page's style sheet; where there are more parts they begin again, and the numbers tell them apart."""

_UNTOLD = "not told"
_GREY = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar as it is drawn: where it begins and how long it is, in hundredths of the longest bar."""

    name: str
    number: int
    start: float
    width: float
    colour: int


def page_of(report: Report) -> str:
    """Return the page of a report. All text in it is escaped: libraries and crawled text are anybody's."""
    return _templates.get_template("page.html.jinja").render(report=report, pieces=pieces, funnel=funnel, colour=colour)


def status_page_of(current: Status | None, search: str, *, repeatable: bool = False) -> str:
    """Return the page of the state of runs, with the stages whose line has a text, and a button to repeat failures."""
    return _templates.get_template("status.html.jinja").render(status=current, search=search, repeatable=repeatable)


def pieces(figure: Figure, bar: Bar) -> Iterator[Piece]:
    """Yield the parts of a bar that have a length."""
    start = 0.0
    for part in figure.parts:
        number = bar.parts.get(part, 0)
        width = 100 * number / figure.most
        if number:
            yield Piece(part, number, round(start, 3), round(width, 3), colour(figure, part))
        start += width


def colour(figure: Figure, part: str) -> int:
    """Return the colour of a part: a family has the same one in every figure."""
    if part == _UNTOLD:
        return _GREY
    return (INSTANCE_TABLES.index(part) if part in INSTANCE_TABLES else list(figure.parts).index(part)) % COLOURS


def funnel(line: StageLine) -> Figure:
    """Return a stage as a figure of one bar, each stage against its own input."""
    parts = {"out": line.units_out, "rejected": line.refused, _UNTOLD: line.untold}
    return Figure(line.stage, line.stage, "", list(parts), [Bar(line.stage, "", parts)])


def _plain(text: object) -> str:
    """Return text without what cannot be printed: marks of writing direction could show a name as another one."""
    return "".join(character if character.isprintable() else " " for character in str(text))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _when(time: str | None) -> str:
    """Return a time as people read it, to the minute; a date alone is one already."""
    return (time or "")[:16].replace("T", " ")


def _percent(share: float | None) -> str:
    """Return a share (0 to 1) as per cent."""
    return "–" if share is None else f"{share:.1%}"


def _points(now: float, before: float | None) -> str:
    """Return the difference of two shares in points of per cent, with its sign."""
    difference = 0 if before is None else round(100 * (now - before), 1)
    return f"{difference:+.1f}" if difference else ""


def _change(now: float, before: float | None) -> str:
    """Return a difference with its sign; nothing where there is nothing to compare with, or no difference."""
    difference = 0 if before is None else round(now - before, 1)
    return (
        f"{difference:+,.0f}"
        if difference and float(difference).is_integer()
        else f"{difference:+,.1f}"
        if difference
        else ""
    )


_templates = Environment(
    loader=PackageLoader("pipeline.orchestration.report", "."),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=True,
    finalize=lambda value: _plain(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
)
_templates.filters |= {"number": _number, "percent": _percent, "when": _when, "usd": usd, "mb": lambda size: size >> 20}
_templates.globals |= {
    "change": _change,
    "points": _points,
    "statuses": list(DraftStatus),
    "families": INSTANCE_TABLES,
    "check_statuses": list(CheckStatus),
    "passed": (CheckStatus.PASSED, CheckStatus.NOT_MEASURED),
}
