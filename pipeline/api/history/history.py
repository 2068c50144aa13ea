"""The history of one API: its lives, what it was in them, and what happened to it, not to others of its definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from packaging.version import Version

from pipeline.api.history.change_text import Phrase, phrases
from pipeline.api.history.index import hides_members
from pipeline.core.vocabularies.changes import RELOCATED, WHOLE, ChangeKind
from pipeline.core.vocabularies.surface import PublicBecause, SymbolKind
from pipeline.lake.rows import ChangeRow, LifecycleRow, R, SymbolRow

ABSENT, PRESENT, DEPRECATED = "░█▒"
"""How a timeline shows a release."""

_MARKS = frozenset({ChangeKind.DEPRECATED, ChangeKind.UNDEPRECATED})


@dataclass(frozen=True, slots=True)
class History:
    """The lives, states and changes of one public path, each in order of version.

    `leads_to` is the history of the definition's own path, where this is another name of it. `importable_names` are the
    states in which the path could be imported without being public; `public_as` are public paths of what it is.
    `unobservable` are states of the nearest path above one without a life whose members the sources do not show.
    """

    path: str
    lifetimes: tuple[LifecycleRow, ...] = ()
    states: tuple[SymbolRow, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    leads_to: History | None = None
    importable_names: tuple[SymbolRow, ...] = ()
    public_as: tuple[str, ...] = ()
    unobservable: tuple[SymbolRow, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether any release in the lake has the path as a public one."""
        return bool(self.lifetimes)


def history_of(
    symbols: Sequence[SymbolRow],
    lifecycles: Sequence[LifecycleRow],
    changes: Sequence[ChangeRow],
    path: str,
    importable_names: Sequence[SymbolRow] = (),
) -> History:
    """Collect what the tables know of a path; `importable_names` are the rows of paths that are not public."""
    rows = _in_order(row for row in [*symbols, *importable_names] if row["path"] == path)
    states = [row for row in rows if row["public_because"] != PublicBecause.IMPORTED]
    lifetimes = _in_order(row for row in lifecycles if row["path"] == path)
    meant = _meant(symbols, path, states)
    return History(
        path,
        tuple(lifetimes),
        tuple(states),
        tuple(_own(changes, path, lifetimes, states)),
        history_of(symbols, lifecycles, changes, meant) if meant else None,
        tuple(row for row in rows if row["public_because"] == PublicBecause.IMPORTED),
        () if lifetimes or meant else tuple(_public_as(symbols, path, rows)),
        () if lifetimes or meant else tuple(_unobservable([*symbols, *importable_names], path)),
    )


def _in_order(rows: Iterable[R]) -> list[R]:
    return sorted(rows, key=lambda row: Version(row["first_version"]))


def _meant(symbols: Sequence[SymbolRow], path: str, states: Sequence[SymbolRow]) -> str | None:
    """Return the path whose state counts, where this one is another name of it or a member of another name."""
    if states:
        alias = states[-1]["kind"] == SymbolKind.ALIAS
        return _owner(symbols, states[-1]["canonical_path"], path) if alias else None
    parent, _, name = path.rpartition(".")
    of_parent = _in_order(row for row in symbols if row["path"] == parent)
    above = _meant(symbols, parent, of_parent) if parent else None
    meant = f"{above}.{name}"
    return meant if above and any(row["path"] == meant for row in symbols) else None


def _owner(symbols: Sequence[SymbolRow], canonical: str, path: str) -> str | None:
    """Return the path that has the state of a definition: not inherited, then the one with the fewest dots."""
    owners = [
        (row["public_because"] == PublicBecause.INHERITED, row["path"].count("."), row["path"])
        for row in symbols
        if row["canonical_path"] == canonical and row["kind"] != SymbolKind.ALIAS and row["path"] != path
    ]
    return min(owners)[2] if owners else None


def _public_as(symbols: Sequence[SymbolRow], path: str, states: Sequence[SymbolRow]) -> list[str]:
    """Return the public paths of a definition that is asked for by the place where it stands."""
    places = {path, *(row["canonical_path"] for row in states)}
    return sorted(
        {
            row["path"]
            for row in symbols
            if row["canonical_path"] in places and row["path"] != path and row["kind"] != SymbolKind.ALIAS
        }
    )


def _unobservable(rows: Sequence[SymbolRow], path: str) -> list[SymbolRow]:
    """Return the states in which the nearest path above another hides what is below it."""
    while path := path.rpartition(".")[0]:
        if hiding := [row for row in rows if row["path"] == path and hides_members(row)]:
            return _in_order(hiding)
    return []


def _own(
    changes: Iterable[ChangeRow], path: str, lifetimes: Sequence[LifecycleRow], states: Sequence[SymbolRow]
) -> list[ChangeRow]:
    """Return the changes that somebody who writes this path meets.

    A change is told once, at the preferred path of its definition; it is this path's own too where its state shows it.
    """
    turns = {
        turn for life in lifetimes for turn in (("introduced", life["introduced_in"]), ("removed", life["removed_in"]))
    }
    definitions = {row["canonical_path"] for row in states}
    own = [
        change
        for change in changes
        if change["path"] == path
        or (change["kind"] in RELOCATED and change["new"] == path)
        or (change["kind"] in WHOLE and _turned(change, path, turns, definitions))
        or (change["kind"] not in WHOLE and change["canonical_path"] in definitions and _shows(change, states))
    ]
    return sorted(own, key=lambda c: (Version(c["new_version"]), c["path"], c["kind"], c["parameter"] or ""))


def _turned(change: ChangeRow, path: str, turns: set[tuple[str, str | None]], definitions: set[str]) -> bool:
    """Return whether a path came or went with a change of what it stands in, or of its definition as a whole."""
    inside = {"removed": change["path"]} if change["kind"] != ChangeKind.INTRODUCED else {"introduced": change["path"]}
    if change["kind"] in RELOCATED:
        inside["introduced"] = str(change["new"])
    if any((turn, change["new_version"]) in turns and path.startswith(f"{top}.") for turn, top in inside.items()):
        return True
    removed = ("removed", change["new_version"]) in turns and change["kind"] != ChangeKind.INTRODUCED
    return removed and change["canonical_path"] in definitions


def _shows(change: ChangeRow, states: Sequence[SymbolRow]) -> bool:
    """Return whether the state from that release on shows a change: it begins there, or is told at another path."""
    version = Version(change["new_version"])
    state = next((row for row in reversed(states) if Version(row["first_version"]) <= version), None)
    if state is None or state["canonical_path"] != change["canonical_path"]:
        return False
    if state["kind"] == SymbolKind.ALIAS:
        return state["last_version"] is None or version <= Version(state["last_version"])
    marked = change["kind"] not in _MARKS or bool(state["deprecation"]) == (change["kind"] == ChangeKind.DEPRECATED)
    return state["first_version"] == change["new_version"] and marked


def events(history: History) -> list[tuple[str, Phrase]]:
    """Tell what happened to an API, as (version, words) in order; what a state does not show is no event."""
    texts = [*_turns(history), *_takeovers(history)]
    happened = (_short(c, history.lifetimes) for c in history.changes if c["kind"] not in WHOLE)
    for version, of_release in groupby(happened, key=lambda c: str(c["new_version"])):
        texts += [(version, phrase) for phrase in phrases(of_release)]
    return sorted(texts, key=lambda event: Version(event[0]))


def _short(change: ChangeRow, lifetimes: Iterable[LifecycleRow]) -> ChangeRow:
    """Leave out the words of a deprecation that stand at the head of a life."""
    repeated = change["kind"] == ChangeKind.DEPRECATED and any(
        life["deprecated_in"] == change["new_version"] for life in lifetimes
    )
    return change | {"new": None, "replacement": None} if repeated else change


def _turns(history: History) -> Iterator[tuple[str, Phrase]]:
    for life in history.lifetimes:
        if life["introduced_in"]:
            yield life["introduced_in"], Phrase(_introduction(history, life), False)
        if life["removed_in"]:
            yield life["removed_in"], Phrase(_removal(history, life), True)


def _introduction(history: History, life: LifecycleRow) -> str:
    if origin := moved_from(history, life):
        return f"introduced: it was {origin} before"
    here = [c for c in history.changes if c["new_version"] == life["introduced_in"] and c["path"] == history.path]
    own = [c for c in here if c["kind"] == ChangeKind.INTRODUCED]
    return phrases(own)[0].text if own else "introduced"


def _removal(history: History, life: LifecycleRow) -> str:
    here = [c for c in history.changes if c["new_version"] == life["removed_in"] and c["kind"] in WHOLE]
    own = [c for c in here if c["path"] == history.path and c["kind"] != ChangeKind.INTRODUCED]
    if own:
        return phrases(own)[0].text
    above = next((c["path"] for c in here if history.path.startswith(f"{c['path']}.")), None)
    instead = relocated_to(history, life) or life["replacement"]
    return f"removed{f' with {above}' if above else ''}{f'; use {instead}' if instead else ''}"


def relocated_to(history: History, life: LifecycleRow) -> str | None:
    """Return the path under which an API can be had after a life ended, where it was renamed or moved."""
    for change in history.changes:
        if change["new_version"] == life["removed_in"] and change["kind"] in RELOCATED:
            if history.path == change["path"] or not history.path.startswith(f"{change['path']}."):
                return str(change["new"])
            return f"{change['new']}{history.path.removeprefix(change['path'])}"
    return None


def moved_from(history: History, life: LifecycleRow) -> str | None:
    """Return the path that an API had before a life began, where it was renamed or moved."""
    for change in history.changes:
        ours, new = change["kind"] in RELOCATED and change["new_version"] == life["introduced_in"], change["new"]
        if ours and new is not None and (history.path == new or history.path.startswith(f"{new}.")):
            return f"{change['path']}{history.path.removeprefix(new)}"
    return None


def _takeovers(history: History) -> Iterator[tuple[str, Phrase]]:
    """Tell when a name came to be taken from another distribution, which no comparison of sources can go into."""
    born = {life["first_version"] for life in history.lifetimes}
    for before, after in pairwise(history.states):
        was, is_ = (_origin(row) for row in (before, after))
        lazy = SymbolKind.LAZY in {before["kind"], after["kind"]}
        if was != is_ and not lazy and after["first_version"] not in born:
            source = f"taken from {is_} now" if is_ else "defined by the library itself now"
            yield after["first_version"], Phrase(source + (f", was taken from {was}" if was else ""), False)


def _origin(row: SymbolRow) -> str | None:
    """Return where a name that is defined in another distribution is taken from."""
    return row["canonical_path"] if row["kind"] == SymbolKind.EXTERNAL else None


def timeline(history: History, versions: Sequence[str]) -> str:
    """Draw one character a release: absent, present or deprecated."""
    return "".join(_drawn(history.lifetimes, Version(version)) for version in versions)


def _drawn(lifetimes: Iterable[LifecycleRow], version: Version) -> str:
    for life in lifetimes:
        last = life["last_version"]
        if Version(life["first_version"]) <= version and (last is None or version <= Version(last)):
            marked = life["deprecated_in"] and Version(life["deprecated_in"]) <= version
            return DEPRECATED if marked else PRESENT
    return ABSENT


def fitted(bar: str, width: int) -> str:
    """Draw a timeline in at most `width` characters; of several releases in one, what is rarest in all is shown."""
    if len(bar) <= width:
        return bar
    cuts = [len(bar) * at // width for at in range(width + 1)]
    return "".join(min(bar[start:end], key=lambda drawn: (bar.count(drawn), drawn)) for start, end in pairwise(cuts))
