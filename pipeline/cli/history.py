"""`driftline history`: introduction, changes and removal of an API."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated

import more_itertools
import typer
from packaging.version import Version
from rich.markup import escape
from rich.text import Text

from pipeline.api.history.change_text import counted_releases, signature
from pipeline.api.history.history import (
    ABSENT,
    DEPRECATED,
    PRESENT,
    History,
    events,
    fitted,
    history_of,
    moved_from,
    relocated_to,
    timeline,
)
from pipeline.cli.options import Json, Named
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_left_out, progress
from pipeline.core.vocabularies.change_words import one_line
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import LifecycleRow, ReleaseRow, SymbolRow
from pipeline.orchestration.adhoc import NoAnswerError, Tables, behaviours_of, tables_from_index

PIPED = 100
"""Width of signatures without a terminal."""


def history(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    api: Annotated[str, typer.Argument(help="Public path, as code would write it.")],
    release: Named = None,
    json: Json = False,
) -> None:
    """Show the history of an API over all final releases of its library, and further ones that are named.

    Ends with status 1 if the path is public in no release.

    Example: driftline history flask flask.Markup
    """
    try:
        with progress(f"reading {library}") as report:
            tables = tables_from_index(library, report, release or ())
    except NoAnswerError as error:
        fail(error, BAD_USAGE)
    changes = [*tables.changes, *behaviours_of(library, notify)]
    life = history_of(tables.symbols, tables.lifecycles, changes, api, tables.importable_names)
    if json:
        print_json(as_json(library, life, tables))
    else:
        _print(library, life, tables)
    raise typer.Exit(0 if life.exists or life.leads_to else PROBLEM)


def _print(library: str, history: History, tables: Tables) -> None:
    first, last = (f"{r['version']} ({r['release_time']:%Y-%m-%d})" for r in (tables.releases[0], tables.releases[-1]))
    counted = counted_releases([row["version"] for row in tables.releases])
    read = f"{counted} of {escape(library)}, {first} to {last}"
    out.print(f"[bold]{escape(history.path)}[/bold] in {read}\n")
    for line in life_lines(history, tables.releases, Page(out.width if out.is_terminal else PIPED, out.is_terminal)):
        out.print(line)
    for reason in _not_public(history, tables.paths):
        out.print(reason, markup=False)
    print_left_out(tables.rejects)


def _not_public(history: History, paths: tuple[str, ...]) -> Iterator[str]:
    """Explain a path without a history, and suggest others."""
    if history.exists or history.leads_to:
        return
    if history.importable_names:
        first, last = history.importable_names[0]["first_version"], history.importable_names[-1]["last_version"]
        yield f"{history.path}: can be imported in {first}{f' to {last}' if last else ' and since'}, but is not public"
    elif private := next((part for part in history.path.split(".") if part[:1] == "_" and part[:2] != "__"), None):
        yield f"{history.path}: private by its name, `{private}`; only public paths have histories"
    elif history.public_as:
        yield f"{history.path}: not public there; it is the place of the definition"
    elif hiding := history.unobservable:
        last = hiding[-1]["last_version"]
        yield f"{history.path}: whether it exists is unknown; the sources do not show the members of"
        yield f"  {hiding[0]['path']} in {hiding[0]['first_version']}{f' to {last}' if last else ' and since'}"
    else:
        yield f"{history.path}: no final release has it"
    near = history.public_as or near_paths(history.path, paths)
    if history.public_as:
        yield f"  its public path{'s are' if len(near) > 1 else ' is'} {', '.join(near)}"
    else:
        yield f"  did you mean {', '.join(near)}?" if near else f"  it offers {len(paths)} other paths"


def near_paths(path: str, paths: tuple[str, ...]) -> list[str]:
    """Return up to three public paths of the same name as `path`, or similar to it."""
    name = path.rpartition(".")[2]
    same_name = sorted((p for p in paths if name and p.rpartition(".")[2] == name), key=lambda p: (p.count("."), p))
    alike = get_close_matches(path, paths, n=3)
    return list(dict.fromkeys([*alike[:1], *same_name, *alike]))[:3]


def as_json(library: str, history: History, tables: Tables) -> dict[str, object]:
    """Return a history in the documented form of `driftline history --json`."""
    return {
        "library": library,
        "path": history.path,
        "alias_of": history.leads_to.path if history.leads_to else None,
        "public_as": history.public_as,
        "unobservable": history.unobservable,
        "releases": [row["version"] for row in tables.releases],
        "release_times": {row["version"]: row["release_time"].isoformat() for row in tables.releases},
        "lives": history.lifetimes,
        "states": history.states,
        "changes": history.changes,
        "alias_history": _rows(history.leads_to),
        "rejects": [asdict(reject) for reject in tables.rejects],
    }


def _rows(history: History | None) -> dict[str, object] | None:
    return {"lives": history.lifetimes, "states": history.states, "changes": history.changes} if history else None


_LABEL = 14
_NARROWEST = 30
_STYLES = {ABSENT: "bright_black", PRESENT: "green", DEPRECATED: "yellow"}


@dataclass(frozen=True, slots=True)
class Page:
    """The output: `width` in columns; `drawn` if it is a terminal, which can show a timeline."""

    width: int
    drawn: bool


def life_lines(history: History, releases: Sequence[ReleaseRow], page: Page) -> Iterator[Text]:
    """Yield the lines on a path, or on the path that it is another name of."""
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
        for label, text, style in _glance(history, life, times):
            first, *more = _wrap(text, page.width - _LABEL - 2)
            yield Text.assemble(f"  {label:<{_LABEL}}", (first, style))
            yield from (Text(" " * (_LABEL + 2) + line, style) for line in more)
    if page.drawn and history.lifetimes:
        yield Text()
        yield from _timeline(history, list(times), page.width)
    yield Text()


def _glance(history: History, life: LifecycleRow, times: Mapping[str, datetime]) -> Iterator[tuple[str, str, str]]:
    """Yield label, text and style of each fact of one lifetime."""
    first = life["first_version"]
    origin = moved_from(history, life)
    earlier_path = f", where it was {origin} before" if origin else ""
    if life["introduced_in"]:
        yield "introduced in", f"{_dated(first, times)}{earlier_path}", "green"
    elif first == more_itertools.first(times):
        yield "there since", f"{_dated(first, times)}, the first release", ""
    else:
        yield "there in", f"{_dated(first, times)}; whether it was before is not known", ""
    if life["deprecated_in"]:
        yield "deprecated", f"since {_dated(life['deprecated_in'], times)}{_deprecation(history, life)}", "yellow"
    if life["removed_in"]:
        yield (
            "removed in",
            f"{_dated(life['removed_in'], times)}; {life['last_version']} is the last that has it",
            "red",
        )
    elif not _is_present(life, times):
        yield "last seen in", f"{_dated(str(life['last_version']), times)}; whether it is gone is not known", ""
    instead = relocated_to(history, life) or life["replacement"]
    if instead:
        yield "use instead", instead, "bold"
    yield "lived", _lived(life, times), ""


def _deprecation(history: History, life: LifecycleRow) -> str:
    """Return the library's last message on a deprecation."""
    marks = [row["deprecation"] for row in history.states if row["deprecation"] and _within(row, life)]
    if not marks:
        return ""
    message = f": “{one_line(marks[-1]['message'])}”" if marks[-1]["message"] else ""
    ends = marks[-1]["removal"]
    return message + (f" (removal announced for {ends})" if ends and ends not in message else "")


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
    return f"{span}, {count} release{'s' if count > 1 else ''}{', and lives on' if _is_present(life, times) else ''}"


def _is_present(life: LifecycleRow, times: Mapping[str, datetime]) -> bool:
    return life["removed_in"] is None and life["last_version"] in {None, list(times)[-1]}


def duration(start: datetime, end: datetime) -> str:
    """Return the time between two moments in years and months, or in days if it is short."""
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
    legend_text = "   ".join(f"{drawn} {word}" for drawn, word in legend.items() if drawn in bar)
    yield Text(" " * len(ends[0]) + legend_text, "dim")


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
    last_version = ""
    for version, phrase in happened:
        head = f"{version:<{broad}}  {times[version]:%Y-%m-%d}" if version != last_version else ""
        last_version = version
        margin = 2 + broad + 2 + 10 + 2
        first, *more = _wrap(phrase.text, page.width - margin - 2) if page.drawn else [phrase.text]
        mark = "! " if phrase.breaking else "  "
        yield Text.assemble(f"  {head:<{margin - 2}}", (mark + first, "red" if phrase.breaking else ""))
        yield from (Text(" " * (margin + 2) + line, "red" if phrase.breaking else "") for line in more)
