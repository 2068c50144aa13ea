"""What a release wants otherwise than its neighbour, looked up for one use of an API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.instances.codemods.moves import Move
from pipeline.instances.codemods.rewrite import Recall, Task
from pipeline.instances.codemods.signatures import signature_of
from pipeline.instances.history import History
from pipeline.instances.replacements import resolve
from pipeline.lake import Row
from pipeline.terms import ChangeKind, Direction, MigrationBasis, SymbolKind, UsageForm

_RENAMED = {ChangeKind.RENAMED, ChangeKind.MOVED}
_REPLACED = {ChangeKind.REMOVED, ChangeKind.DEPRECATED}
_CALLED_OTHERWISE = {
    ChangeKind.PARAMETER_ADDED_REQUIRED,
    ChangeKind.PARAMETER_ADDED_OPTIONAL,
    ChangeKind.PARAMETER_REMOVED,
    ChangeKind.PARAMETER_RENAMED,
    ChangeKind.PARAMETER_MOVED,
    ChangeKind.PARAMETER_KIND,
    ChangeKind.PARAMETER_DEFAULT,
    ChangeKind.PARAMETER_REQUIRED,
    ChangeKind.PARAMETER_OPTIONAL,
    ChangeKind.PARAMETER_DEPRECATED,
}
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


@dataclass(frozen=True, slots=True)
class Followed:
    """Where an API is to be found in the other release, what connects the two, and the change that says so."""

    path: str
    basis: MigrationBasis
    change_id: str


@dataclass(slots=True)
class Called:
    """What changed about calls of an API: new names of parameters by the old ones, and the changes that say so."""

    renamed: dict[str, str] = field(default_factory=dict)
    change_ids: list[str] = field(default_factory=list)
    breaking: bool = False

    @property
    def basis(self) -> MigrationBasis:
        """Where nothing breaks, the library only states what it prefers."""
        return MigrationBasis.PARAMETERS if self.breaking else MigrationBasis.REPLACEMENT


@dataclass(frozen=True, slots=True)
class Step:
    """What one use becomes: the task, its path in the other release, what connects the two, and the changes."""

    task: Task
    path: str
    basis: MigrationBasis
    change_ids: tuple[str, ...]


class Transition:
    """What changes on the way from one release to its neighbour: upwards, or downwards by the inverse."""

    def __init__(self, changes: Sequence[Row], stated: Mapping[str, str], history: History, direction: Direction) -> None:
        self.history = history
        self.direction = direction
        up = direction == Direction.OLD_TO_NEW
        versions = changes[0]["old_version"], changes[0]["new_version"]
        self.source, self.target = versions if up else versions[::-1]
        self._moves: dict[str, Followed] = {}
        self._definitions: dict[str, Followed] = {}
        self._calls: dict[str, Called] = {}
        for change in changes:
            self._enter(change, stated)

    def _enter(self, change: Row, stated: Mapping[str, str]) -> None:
        if change["kind"] in _CALLED_OTHERWISE:
            self._enter_call(change)
            return
        found = destination(change, stated, self.history)
        if found is None:
            return
        path, basis = found
        # a new path that the older release has as well is right there, and nothing has to be undone
        new_is_old = self.history.is_public(path, change["old_version"])
        if self.direction == Direction.OLD_TO_NEW:
            followed = Followed(path, basis, change["id"])
            self._moves.setdefault(change["path"], followed)
            self._definitions.setdefault(change["canonical_path"], followed)
        elif self.history.is_public(path, change["new_version"]) and not new_is_old:
            self._moves.setdefault(path, Followed(change["path"], basis, change["id"]))

    def _enter_call(self, change: Row) -> None:
        for place in (change["path"], change["canonical_path"]):
            called = self._calls.setdefault(place, Called())
            called.change_ids.append(change["id"])
            called.breaking |= change["breaking"] or self.direction == Direction.NEW_TO_OLD
            new = change["new"] if change["kind"] == ChangeKind.PARAMETER_RENAMED else change["replacement"]
            if new and change["parameter"]:
                names = change["parameter"], new
                called.renamed.update([names if self.direction == Direction.OLD_TO_NEW else names[::-1]])

    def step(self, usage: Row) -> Step | None:
        """Return what a use becomes; None where nothing about it changes."""
        path = usage["path"]
        before = self.history.definition(path, self.source)
        if before is None:
            return None
        if moved := self._moved(path):
            return self._moved_step(usage, before, *moved)
        called = self._calls.get(path) or self._calls.get(before["canonical_path"])
        after = self.history.definition(path, self.target)
        if called is None or after is None:
            return None
        return Step(Task(usage, None, _recall(before, after, called.renamed)), path, called.basis, tuple(dict.fromkeys(called.change_ids)))

    def _moved(self, path: str) -> tuple[str, Followed] | None:
        """Return the part of a path that has moved, and where it is; a second path of the same definition too."""
        for part in _prefixes(path):
            if found := self._moves.get(part):
                return part, found
            state = self.history.definition(part, self.source)
            if state is not None and not self.history.is_public(part, self.target):
                if found := self._definitions.get(state["canonical_path"]):
                    return part, found
        return None

    def _moved_step(self, usage: Row, before: Row, part: str, followed: Followed) -> Step | None:
        new = followed.path + usage["path"][len(part) :]
        after = self.history.definition(new, self.target)
        target = self.history.definition(followed.path, self.target)
        is_module = target is not None and target["kind"] == SymbolKind.MODULE
        module = self.history.module_of(followed.path, self.target)
        recall = None
        if after is not None and usage["form"] == UsageForm.CALL:
            called = self._calls.get(part, Called())
            recall = _recall(before, after, called.renamed, may_keep=True)
        task = Task(usage, Move(part, followed.path, module, is_module), recall)
        return Step(task, new, followed.basis, (followed.change_id,))


def _recall(before: Row, after: Row, renamed: Mapping[str, str], *, may_keep: bool = False) -> Recall:
    old = signature_of(before["parameters"], current=False)
    new = signature_of(after["parameters"], current=True)
    return Recall(old, new, dict(renamed), may_keep)


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def destination(change: Row, stated: Mapping[str, str], history: History) -> tuple[str, MigrationBasis] | None:
    """Return where an API lives on after a change, and what says so; None where nothing does.

    `stated` are replacements by path that an earlier mark stated. One in another distribution counts where it is
    written as a whole path, as Flask's `markupsafe.escape`.
    """
    kind = change["kind"]
    if kind in _RENAMED:
        return change["new"], MigrationBasis.RENAMED
    words = change["replacement"] or stated.get(change["path"])
    if kind not in _REPLACED or not words:
        return None
    path = resolve(words, change["path"], change["new_version"], history)
    if path is None and _PATH.fullmatch(words) and not history.is_root(words.partition(".")[0]):
        path = words
    return (path, MigrationBasis.REPLACEMENT) if path else None


def transitions(changes: Iterable[Row], lifecycles: Iterable[Row], history: History) -> Iterator[Transition]:
    """Yield both directions between each pair of releases in which something changed that code can follow."""
    stated = {row["path"]: row["replacement"] for row in lifecycles if row["replacement"]}
    by_release: dict[str, list[Row]] = {}
    for change in sorted(changes, key=lambda row: row["id"]):
        if change["kind"] in _RENAMED | _REPLACED | _CALLED_OTHERWISE:
            by_release.setdefault(change["new_version"], []).append(change)
    for version in sorted(by_release, key=history.rank):
        for direction in Direction:
            yield Transition(by_release[version], stated, history, direction)
