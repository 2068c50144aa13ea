"""How the life of an API is laid out: at a glance, its signature, and what happened to it, in lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import more_itertools
from packaging.version import Version
from rich.text import Text

from pipeline.api.history.change_text import signature
from pipeline.api.history.history import (
    ABSENT,
    DEPRECATED,
    PRESENT,
    History,
    events,
    fitted,
    moved_from,
    relocated_to,
    timeline,
)
from pipeline.core.vocabularies.change_words import one_line
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import LifecycleRow, ReleaseRow, SymbolRow

_LABEL = 14
_NARROWEST = 30
_STYLES = {ABSENT: "bright_black", PRESENT: "green", DEPRECATED: "yellow"}


@dataclass(frozen=True, slots=True)
class Page:
    """Where a life is written to: `width` columns; `drawn` says that it is a terminal, which can show a timeline."""

    width: int
    drawn: bool


def life_lines(history: History, releases: Sequence[ReleaseRow], page: Page) -> Iterator[Text]:
    """Write the life of a path that releases have, or have as another name of what has one."""
    subject = history.leads_to or history
    times = {row["version"]: row["release_time"] for row in releases}
    if history.lifetimes and (history is subject or _turns(history) != _turns(subject)):
        yield from _life(history, times, page)
    if history.leads_to:
        yield Text(f"{history.path} is another name of {subject.path}, whose life is this", "bold")
        yield from _life(subject, times, page)
    yield from _signature(subject, page)
    yield from _changes(subject, times, page)


def _turns(history: History) -> list[tuple[str | None, ...]]:
    return [
        tuple(life[turn] for turn in ("first_version", "introduced_in", "deprecated_in", "removed_in"))
        for life in history.lifetimes
    ]


def _life(history: History, times: Mapping[str, datetime], page: Page) -> Iterator[Text]:
    for at, life in enumerate(history.lifetimes):
        if at:
            yield Text()
        for label, told, style in _glance(history, life, times):
            first, *more = _wrap(told, page.width - _LABEL - 2)
            yield Text.assemble(f"  {label:<{_LABEL}}", (first, style))
            yield from (Text(" " * (_LABEL + 2) + line, style) for line in more)
    if page.drawn and history.lifetimes:
        yield Text()
        yield from _timeline(history, list(times), page.width)
    yield Text()


def _glance(history: History, life: LifecycleRow, times: Mapping[str, datetime]) -> Iterator[tuple[str, str, str]]:
    """Yield label, words and style of each fact of one life."""
    first = life["first_version"]
    origin = moved_from(history, life)
    came = f", where it was {origin} before" if origin else ""
    if life["introduced_in"]:
        yield "introduced in", f"{_dated(first, times)}{came}", "green"
    elif first == more_itertools.first(times):
        yield "there since", f"{_dated(first, times)}, the first release", ""
    else:
        yield "there in", f"{_dated(first, times)}; whether it was before is not known", ""
    if life["deprecated_in"]:
        yield "deprecated", f"since {_dated(life['deprecated_in'], times)}{_library_says(history, life)}", "yellow"
    if life["removed_in"]:
        yield (
            "removed in",
            f"{_dated(life['removed_in'], times)}; {life['last_version']} is the last that has it",
            "red",
        )
    elif not _lives_on(life, times):
        yield "last seen in", f"{_dated(str(life['last_version']), times)}; whether it is gone is not known", ""
    instead = relocated_to(history, life) or life["replacement"]
    if instead:
        yield "use instead", instead, "bold"
    yield "lived", _lived(life, times), ""


def _library_says(history: History, life: LifecycleRow) -> str:
    """Return what the library says of a deprecation, at the end of the life."""
    marks = [row["deprecation"] for row in history.states if row["deprecation"] and _within(row, life)]
    if not marks:
        return ""
    said = f": “{one_line(marks[-1]['message'])}”" if marks[-1]["message"] else ""
    ends = marks[-1]["removal"]
    return said + (f" (removal announced for {ends})" if ends and ends not in said else "")


def _within(state: SymbolRow, life: LifecycleRow) -> bool:
    last = life["last_version"]
    first = Version(state["first_version"])
    return Version(life["first_version"]) <= first and (last is None or first <= Version(last))


def _dated(version: str, times: Mapping[str, datetime]) -> str:
    return f"{version} ({times[version]:%Y-%m-%d})" if version in times else version


def _lived(life: LifecycleRow, times: Mapping[str, datetime]) -> str:
    versions = list(times)
    last = life["last_version"] or versions[-1]
    count = versions.index(last) - versions.index(life["first_version"]) + 1
    span = duration(times[life["first_version"]], times[life["removed_in"] or last])
    return f"{span}, {count} release{'s' if count > 1 else ''}{', and lives on' if _lives_on(life, times) else ''}"


def _lives_on(life: LifecycleRow, times: Mapping[str, datetime]) -> bool:
    return life["removed_in"] is None and life["last_version"] in {None, list(times)[-1]}


def duration(start: datetime, end: datetime) -> str:
    """Write the time between two moments in years and months, or in days where it is short."""
    days = max((end - start).days, 0)
    years, months = divmod(round(days / 30.4375), 12)
    parts = [(years, "year"), (months, "month")] if days >= 60 else [(days, "day")]
    return " ".join(f"{n} {unit}{'s' if n != 1 else ''}" for n, unit in parts if n or unit == "day")


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, _NARROWEST), break_long_words=False, break_on_hyphens=False)


def _timeline(history: History, versions: Sequence[str], width: int) -> Iterator[Text]:
    ends = f"  {versions[0]} ", f" {versions[-1]}"
    bar = fitted(timeline(history, versions), max(width - sum(map(len, ends)), 10))
    yield Text.assemble(ends[0], *((drawn, _STYLES[drawn]) for drawn in bar), ends[1])
    legend = {PRESENT: "there", DEPRECATED: "deprecated", ABSENT: "not there"}
    shown = "   ".join(f"{drawn} {word}" for drawn, word in legend.items() if drawn in bar)
    yield Text(" " * len(ends[0]) + shown, "dim")


def _signature(history: History, page: Page) -> Iterator[Text]:
    if not history.states:
        return
    state = history.states[-1]
    if state["kind"] in {SymbolKind.MODULE, SymbolKind.ALIAS, SymbolKind.LAZY}:
        return
    ended = history.lifetimes and history.lifetimes[-1]["removed_in"]
    yield Text(f"Last signature, {state['last_version']}" if ended else "Signature", "bold")
    for line in signature(state, page.width - 2):
        yield Text(f"  {line}")
    for overload in state["overloads"]:
        yield Text(f"  overload {one_line(overload)}")
    yield Text()


def _changes(history: History, times: Mapping[str, datetime], page: Page) -> Iterator[Text]:
    happened = events(history)
    if not happened:
        return
    yield Text("What happened   (! can break code that was right)", "bold")
    broad = max(len(version) for version, _ in happened)
    shown = ""
    for version, phrase in happened:
        head = f"{version:<{broad}}  {times[version]:%Y-%m-%d}" if version != shown else ""
        shown = version
        margin = 2 + broad + 2 + 10 + 2
        first, *more = _wrap(phrase.text, page.width - margin - 2) if page.drawn else [phrase.text]
        mark = "! " if phrase.breaking else "  "
        yield Text.assemble(f"  {head:<{margin - 2}}", (mark + first, "red" if phrase.breaking else ""))
        yield from (Text(" " * (margin + 2) + line, "red" if phrase.breaking else "") for line in more)
