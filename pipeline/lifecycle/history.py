"""The history of one API, as a person asks for it: when it came, what it was, how it changed, when it went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.lake import Row
from pipeline.lifecycle.states import describe_state
from pipeline.terms import ChangeKind

_WHOLE = frozenset({ChangeKind.INTRODUCED, ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})


@dataclass(frozen=True, slots=True)
class History:
    """The lives, states and changes of one public path, each in order of version."""

    path: str
    lives: tuple[Row, ...]
    states: tuple[Row, ...]
    changes: tuple[Row, ...]

    @property
    def known(self) -> bool:
        """Whether any release in the lake has the path."""
        return bool(self.lives)


def history_of(symbols: Sequence[Row], lifecycles: Sequence[Row], changes: Sequence[Row], path: str) -> History:
    """Collect what the tables know of a path; changes of what it is another name of are among them."""
    states = sorted((r for r in symbols if r["path"] == path), key=lambda r: Version(r["first_version"]))
    definitions = {row["canonical_path"] for row in states}
    about = [
        change
        for change in changes
        if path in {change["path"], change["new"]}
        or change["canonical_path"] in definitions
        # where a class or module went as a whole, its members have no changes of their own
        or (path.startswith(change["path"] + ".") and change["kind"] in _WHOLE)
    ]
    return History(
        path,
        tuple(sorted((r for r in lifecycles if r["path"] == path), key=lambda r: Version(r["first_version"]))),
        tuple(states),
        tuple(sorted(about, key=lambda c: (Version(c["new_version"]), c["path"], c["kind"], c["parameter"] or ""))),
    )


def describe(history: History) -> list[str]:
    """Write a history in lines for people, in order of version; one line says so if nothing is known."""
    if not history.known:
        return [f"{history.path}: no release in the lake has it"]
    lines = [(Version(version), order, text) for version, order, text in _lines(history)]
    return [text for _, _, text in sorted(lines)]


def _lines(history: History) -> Iterator[tuple[str, int, str]]:
    for life in history.lives:
        first, last = life["first_version"], life["last_version"]
        came = "introduced" if life["introduced_in"] else "there; whether it was before is not known"
        yield first, 0, f"{first}: {came}"
        if life["removed_in"]:
            instead = f"; use {life['replacement']}" if life["replacement"] else ""
            yield life["removed_in"], 0, f"{life['removed_in']}: gone; {last} is the last that has it{instead}"
    for state in history.states:
        first, last = state["first_version"], state["last_version"]
        span = first if first == last else f"{first} to {last}"
        yield first, 1, f"{span}: {describe_state(state)}, defined at {state['canonical_path']}"
    for change in history.changes:
        if change["path"] != history.path or change["kind"] not in {ChangeKind.INTRODUCED, ChangeKind.REMOVED}:
            yield change["new_version"], 2, f"{change['new_version']}: {describe_change(change)}"


def describe_change(change: Row) -> str:
    """Write a `changes` row in a line, for people: what changed, from what, to what, and whether it breaks code."""
    what = next(kind.meaning for kind in ChangeKind if kind == change["kind"])
    parameter = f" [{change['parameter']}]" if change["parameter"] else ""
    states = " -> ".join(part for part in (change["old"], change["new"]) if part)
    instead = f"; use {change['replacement']}" if change["replacement"] else ""
    breaking = " (breaking)" if change["breaking"] else ""
    return f"{change['path']}{parameter}: {what}{': ' if states else ''}{states}{instead}{breaking}"
