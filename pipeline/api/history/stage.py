"""The changes of a library over all its releases, and the life of each public path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from pipeline.api.history.compare import Comparison, changes_of
from pipeline.api.history.index import Index
from pipeline.api.history.lifetimes import Lifetimes
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.surface.stage import identity, in_order
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.collector import without_collector
from pipeline.lake.guard import attempt
from pipeline.lake.intervals import holds_at
from pipeline.lake.place import at_release
from pipeline.lake.rows import ChangeRow, LifecycleRow, ReleaseRow, SymbolRow, SymbolState, Tables
from pipeline.lake.stage import Output, Reject, Update


@without_collector()
def lifecycle_stage(
    tables: Tables,
    rules: LifecycleRules,
    progress: dict[str, Any] | None = None,
) -> Output:
    """Make the `changes` and `lifecycles` rows of a library out of its interval-coded symbols.

    The unit counted is a release. One whose predecessor is not in the lake cannot be compared and is rejected; the
    first release of all has none to be compared with, and everything is just there; so it is in a release whose
    comparison raised an exception, or that comes after one of which nothing was read. With the `progress` of an earlier
    output whose releases are the first of these, and the `lifecycles` it left in the lake, only the later ones are
    compared; then only rows of symbols that hold in the last of those or later need be given.
    """
    ordered = in_order(tables["releases"])
    library = ordered[0]["library"] if ordered else ""
    done = len(progress["releases"]) if progress else 0
    if progress is None or progress["releases"] != [identity(release) for release in ordered[:done]]:
        done = 0
    followed = Lifetimes(library, rules)
    changes: list[ChangeRow] = []
    unfinished = (
        _unfinished(tables["lifecycles"], ordered[:done], progress["out_of_sight"]) if progress and done else []
    )
    if done:
        followed.resume(
            unfinished, _index_at(ordered[done - 1]["version"], tables["symbols"], tables["importable_names"])
        )
    # what an earlier run refused stays refused when only the later releases are compared
    refused = (
        [Reject(key, RejectReason(reason), text) for key, reason, text in progress["refused"]]
        if progress and done
        else []
    )

    def compare(step: _Step, old: Index, new: Index) -> list[ChangeRow]:
        comparison = Comparison(old, new, rules, step.changed)
        rows = changes_of(comparison, library, step.before, step.version)
        replacements = {change["path"]: change["replacement"] for change in rows if change["replacement"]}
        followed.step(comparison, step.before, step.version, replacements)
        return rows

    for step in _steps(ordered, done, tables["symbols"], tables["importable_names"]):
        with at_release(step.version):
            if step.new is None:
                followed.gap(step.before)
                detail = "nothing of it was read (see the rejects of the stage surface)"
                refused.append(Reject(step.version, RejectReason.NOTHING_READ, detail))
            elif step.old is None:
                followed.gap(step.before)
                followed.begin(step.new, step.version)
                if step.after_unread:
                    detail = "nothing was read of the release just before"
                    refused.append(Reject(step.version, RejectReason.NO_PREDECESSOR, detail))
            else:
                result = attempt(step.version, compare, step, step.old, step.new)
                if isinstance(result, Reject):
                    followed.abandon(step.before, step.version)
                    followed.begin(step.new, step.version)
                    refused.append(result)
                else:
                    changes += result
    lifecycles = [*followed.done, *followed.living.values()]
    rejects = [*_without_predecessor(tables["releases"]), *refused]
    return Output(
        {} if done else {"changes": changes, "lifecycles": lifecycles},
        units_in=len(tables["releases"]),
        units_out=len(tables["releases"]) - len(rejects),
        rejects=rejects,
        updates={"changes": Update(changes, {}), "lifecycles": _update(lifecycles, unfinished)} if done else {},
        progress={
            "releases": [identity(release) for release in ordered],
            "out_of_sight": followed.unobservable,
            "refused": [[reject.key, reject.reason, reject.detail] for reject in refused],
        },
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """From a release to the next; `old` is None where it is not in the lake or was not read, `new` where not read."""

    before: str
    version: str
    old: Index | None
    new: Index | None
    changed: frozenset[str]
    after_unread: bool = False


def _steps(
    ordered: Sequence[ReleaseRow], done: int, symbols: Sequence[SymbolRow], importable_names: Sequence[SymbolRow]
) -> Iterator[_Step]:
    """Yield the steps after the first `done` releases; an index is made out of the one before and what differs."""
    begun, ended = _events(symbols)
    begun_importable, ended_importable = _events(importable_names)
    before = ordered[done - 1]["version"] if done else ""
    unread = _unread(ordered, (*symbols, *importable_names))
    index = _index_at(before, symbols, importable_names) if done and before not in unread else None
    for release in ordered[done:]:
        version = release["version"]
        if version in unread:
            yield _Step(before, version, None, None, frozenset())
            index = None
            continue
        if index is None or release["predecessor"] != before:
            index = Index(begun.get(version, ()), begun_importable.get(version, ()))
            yield _Step(before, version, None, index, frozenset(), release["predecessor"] in unread)
        else:
            gone = {row["path"] for row in ended.get(before, ())}
            come = begun.get(version, [])
            imported: dict[str, SymbolState | None] = {
                **dict.fromkeys(row["path"] for row in ended_importable.get(before, ())),
                **{row["path"]: row for row in begun_importable.get(version, ())},
            }
            following = index.advance(gone, come, imported)
            changed = frozenset(gone | {row["path"] for row in come})
            yield _Step(before, version, index, following, changed)
            index = following
        before = version


def _unread(ordered: Sequence[ReleaseRow], rows: Iterable[SymbolRow]) -> set[str]:
    """Return the releases of which no row holds: those that could not be put together."""
    versions = [release["version"] for release in ordered]
    places = {version: place for place, version in enumerate(versions)}
    read: set[int] = set()
    for first, last in {(row["first_version"], row["last_version"]) for row in rows}:
        read.update(range(places[first], places[last] + 1 if last is not None else len(versions)))
    return {version for place, version in enumerate(versions) if place not in read}


def _events(rows: Iterable[SymbolRow]) -> tuple[dict[str, list[SymbolRow]], dict[str, list[SymbolRow]]]:
    """Group interval-coded rows by the release in which they begin, and by the last in which they hold."""
    begun: dict[str, list[SymbolRow]] = {}
    ended: dict[str, list[SymbolRow]] = {}
    for row in rows:
        begun.setdefault(row["first_version"], []).append(row)
        if row["last_version"] is not None:
            ended.setdefault(row["last_version"], []).append(row)
    return begun, ended


def _index_at(version: str, symbols: Sequence[SymbolRow], importable_names: Sequence[SymbolRow]) -> Index:
    parsed = Version(version)
    return Index(
        (row for row in symbols if holds_at(row, parsed)), (row for row in importable_names if holds_at(row, parsed))
    )


def _unfinished(
    lifetimes: Iterable[LifecycleRow], ordered: Sequence[ReleaseRow], out_of_sight: Sequence[list[str]]
) -> list[LifecycleRow]:
    """Return the lives of the last run of releases without a gap that go on, unobservable ones among them.

    Of the others that have an end and no `removed_in`, nobody knows when they went; but they went.
    """
    gaps = (n for n in range(len(ordered) - 1, 0, -1) if ordered[n]["predecessor"] != ordered[n - 1]["version"])
    begin = Version(ordered[next(gaps, 0)]["version"])
    waiting = {tuple(key) for key in out_of_sight}
    return [
        life
        for life in lifetimes
        if life["removed_in"] is None
        and Version(life["first_version"]) >= begin
        and (life["last_version"] is None or (life["path"], life["first_version"]) in waiting)
    ]


def _update(rows: Sequence[LifecycleRow], unfinished: Sequence[LifecycleRow]) -> Update:
    """Return what became of known lives, and the new ones."""
    before = {(life["path"], life["first_version"]): life for life in unfinished}
    after = {(life["path"], life["first_version"]): life for life in rows}
    changed: dict[tuple[str, ...], LifecycleRow] = {
        key: life for key, life in after.items() if life != before.get(key, life)
    }
    return Update([life for key, life in after.items() if key not in before], changed)


def _without_predecessor(releases: Sequence[ReleaseRow]) -> list[Reject]:
    present = {release["version"] for release in releases}
    return [
        Reject(
            release["version"],
            RejectReason.NO_PREDECESSOR,
            f"release {release['predecessor']} comes just before and is not in the lake",
        )
        for release in in_order(releases)
        if release["predecessor"] is not None and release["predecessor"] not in present
    ]
