"""What a release wants otherwise than its neighbour, looked up for one use of an API."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.api.history.normalize import literal
from pipeline.core.vocabularies.changes import CALLED_OTHERWISE, RELOCATED, REPLACEABLE_APIS, ChangeKind
from pipeline.core.vocabularies.samples import Direction, MigrationBasis, UsageForm
from pipeline.core.vocabularies.surface import ParameterDeprecation, SymbolKind
from pipeline.corpus.witnesses.written import type_names
from pipeline.families.completions_and_migrations.codemods.moves import Move, Receiver
from pipeline.families.completions_and_migrations.codemods.rewrite import Recall, Task
from pipeline.families.completions_and_migrations.codemods.signatures import signature_of
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.replacements import resolve
from pipeline.lake.guard import attempt
from pipeline.lake.rows import ChangeRow, LifecycleRow, SymbolRow, UsageRow
from pipeline.lake.stage import Reject

_SEVERAL = frozenset({"Collection", "Iterable", "List", "Sequence", "list"})
"""Types of parameters that take several things of one kind."""
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


@dataclass(frozen=True, slots=True)
class Followed:
    """Where an API is to be found in the other release, what connects the two, and the change that says so."""

    path: str
    basis: MigrationBasis
    change_id: str
    breaking: bool


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
    breaking: bool


@dataclass(frozen=True, slots=True)
class Replacements:
    """What the library has said before it took something away: replacements by path, and by path and parameter.

    Of parameters only other names of the same one count: what replaces a parameter need not take the same values.
    """

    paths: Mapping[str, str]
    parameters: Mapping[tuple[str, str | None], str | None]

    @classmethod
    def of(cls, changes: Iterable[ChangeRow], lifecycles: Iterable[LifecycleRow]) -> Replacements:
        """Collect them."""
        names = {
            (row["path"], row["parameter"]): row["replacement"] or row["new"]
            for row in changes
            if row["kind"] == ChangeKind.PARAMETER_RENAMED
            or (row["kind"] == ChangeKind.PARAMETER_DEPRECATED and row["new"] == ParameterDeprecation.NAME)
        }
        return cls({row["path"]: row["replacement"] for row in lifecycles if row["replacement"]}, names)


class Transition:
    """What changes on the way from one release to its neighbour: upwards, or downwards by the inverse.

    `failed` are the rejects of changes at which an exception was raised.
    """

    def __init__(
        self, changes: Sequence[ChangeRow], replacements: Replacements, history: History, direction: Direction
    ) -> None:
        self.history = history
        self.direction = direction
        up = direction == Direction.OLD_TO_NEW
        versions = changes[0]["old_version"], changes[0]["new_version"]
        self.source: str = versions[0 if up else 1]
        self.target: str = versions[1 if up else 0]
        self._moves: dict[str, Followed] = {}
        self._definitions: dict[str, Followed] = {}
        self._calls: dict[str, Called] = {}
        self.failed: list[Reject] = []
        for change in changes:
            if failed := attempt(f"{change['id']} {direction}", self._enter, change, replacements):
                self.failed.append(failed)

    def between(self, source: str, target: str) -> Transition:
        """Return the same from an earlier release, or to a later one, for what is the same there as at the change."""
        if (source, target) == (self.source, self.target):
            return self
        other = copy.copy(self)
        other.source, other.target = source, target
        return other

    def _enter(self, change: ChangeRow, replacements: Replacements) -> None:
        if change["kind"] in CALLED_OTHERWISE:
            self._enter_call(change, replacements)
            return
        successor = destination(change, replacements.paths, self.history)
        if successor is None:
            return
        path, basis = successor
        # a new path that the older release has as well is right there, and nothing has to be undone
        new_is_old = self.history.is_public(path, change["old_version"])
        if self.direction == Direction.OLD_TO_NEW:
            followed = Followed(path, basis, change["id"], change["breaking"])
            self._moves.setdefault(change["path"], followed)
            self._definitions.setdefault(change["canonical_path"], followed)
        elif (new := self.history.definition(path, change["new_version"])) is not None and not new_is_old:
            followed = Followed(change["path"], basis, change["id"], True)
            self._moves.setdefault(path, followed)
            self._definitions.setdefault(new["canonical_path"], followed)

    def _enter_call(self, change: ChangeRow, replacements: Replacements) -> None:
        path, parameter = change["path"], change["parameter"]
        new = replacements.parameters.get((path, parameter))
        for place in (change["path"], change["canonical_path"]):
            called = self._calls.setdefault(place, Called())
            called.change_ids.append(change["id"])
            called.breaking |= change["breaking"] or self.direction == Direction.NEW_TO_OLD
            if new and parameter:
                names = parameter, new
                called.renamed.update([names if self.direction == Direction.OLD_TO_NEW else names[::-1]])

    def step(self, usage: UsageRow) -> Step | None:
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
        task = Task(usage, None, _recall(before, after, called.renamed))
        return Step(task, path, called.basis, tuple(dict.fromkeys(called.change_ids)), called.breaking)

    def _moved(self, path: str) -> tuple[str, Followed] | None:
        """Return the part of a path that has moved, and where it is; a second path of the same definition too."""
        for part in _prefixes(path):
            if followed := self._moves.get(part):
                return part, self._beside(part, followed)
            state = self.history.definition(part, self.source)
            other = self._definitions.get(state["canonical_path"]) if state else None
            if other is not None and not self.history.is_public(part, self.target):
                return part, self._beside(part, other)
        return None

    def _beside(self, path: str, followed: Followed) -> Followed:
        """Return the same API below the class of a path, where that has it too: a class has what its bases have."""
        owner = path.rpartition(".")[0]
        beside = f"{owner}.{followed.path.rpartition('.')[2]}"
        there, here, class_ = (self.history.definition(each, self.target) for each in (followed.path, beside, owner))
        is_same = there is not None and here is not None and there["canonical_path"] == here["canonical_path"]
        is_inherited = is_same and class_ is not None and class_["kind"] == SymbolKind.CLASS
        return replace(followed, path=beside) if is_inherited and beside != path else followed

    def _refusal(self, before: SymbolRow, new: str) -> str | None:
        """Say why code cannot use the new path in place of the old one, as far as the surface of the target tells."""
        after = self.history.definition(new, self.target)
        if after is None:
            is_of_library = self.history.is_root(new.partition(".")[0])
            return f"{new} is no public path of {self.target}" if is_of_library else None
        of_object = after["kind"] == SymbolKind.METHOD and not {"classmethod", "staticmethod"} & set(after["labels"])
        if of_object and before["kind"] != SymbolKind.METHOD:
            return f"{new} is a method, and nothing tells of which object"
        return None

    def _moved_step(self, usage: UsageRow, before: SymbolRow, part: str, followed: Followed) -> Step | None:
        new = followed.path + usage["path"][len(part) :]
        after = self.history.definition(new, self.target)
        target = self.history.definition(followed.path, self.target)
        is_module = target is not None and target["kind"] == SymbolKind.MODULE
        module = self.history.module_of(followed.path, self.target)
        recall = None
        if after is not None and usage["form"] == UsageForm.CALL:
            called = self._calls.get(part, Called())
            recall = _recall(before, after, called.renamed, may_keep=True)
        receiver = _receiver(before, after) if usage["form"] == UsageForm.CALL and part == usage["path"] else None
        move = Move(part, followed.path, module, is_module, receiver, self._refusal(before, new))
        return Step(Task(usage, move, recall), new, followed.basis, (followed.change_id,), followed.breaking)


def _receiver(before: SymbolRow, after: SymbolRow | None) -> Receiver | None:
    """Return where the object stands if a function replaces a method: `pandas.concat` takes a list of several."""
    of_object = before["kind"] == SymbolKind.METHOD and not {"classmethod", "staticmethod"} & set(before["labels"])
    if not of_object or after is None or after["kind"] != SymbolKind.FUNCTION or not after["parameters"]:
        return None
    return Receiver.FIRST if _SEVERAL.isdisjoint(type_names(after["parameters"][0]["annotation"])) else Receiver.IN_LIST


def _recall(before: SymbolRow, after: SymbolRow, renamed: Mapping[str, str], *, may_keep: bool = False) -> Recall:
    old = signature_of(before["parameters"], current=False)
    new = signature_of(after["parameters"], current=True)
    replaced = _replaced_parameters(before, after)
    same = {name: other for name, other in replaced.items() if _takes_the_same(name, other, before)}
    return Recall(old, new, {**same, **renamed}, may_keep, replaced)


def _replaced_parameters(before: SymbolRow, after: SymbolRow) -> dict[str, str]:
    """Return the parameters that are gone, with those beside them that the library told to give instead."""
    had = {each["name"] for each in before["parameters"]}
    has = {each["name"] for each in after["parameters"]}
    return {
        each["name"]: str(each["deprecation"]["replacement"])
        for each in before["parameters"]
        if each["name"] not in has and each["deprecation"] and each["deprecation"]["replacement"] in has & had
    }


def _takes_the_same(name: str, other: str, api: SymbolRow) -> bool:
    """Return whether a parameter takes the values of one that it replaces, and they mean the same.

    They need not, and may mean the opposite. With the same annotation and the same default they do, if that is a value
    of the library: a literal such as None or False says little.
    """
    had = {each["name"]: (each["default"], each["annotation"]) for each in api["parameters"]}
    default = had[name][0]
    return had[name] == had[other] and default is not None and literal(default) is None


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def destination(
    change: ChangeRow, replacements: Mapping[str, str], history: History
) -> tuple[str, MigrationBasis] | None:
    """Return where an API lives on after a change, and what says so; None where nothing does.

    `replacements` are those by path that an earlier mark stated. One in another distribution counts where it is
    written as a whole path, as Flask's `markupsafe.escape`.
    """
    kind = change["kind"]
    if kind in RELOCATED:
        return str(change["new"]), MigrationBasis.RENAMED
    words = change["replacement"] or replacements.get(change["path"])
    if kind not in REPLACEABLE_APIS or not words:
        return None
    path = _replacement_path(words, change["path"], change["new_version"], history)
    return (path, MigrationBasis.REPLACEMENT) if path else None


def _replacement_path(words: str, path: str, version: str, history: History) -> str | None:
    """Return the path that words mean: `np.isin` begins with the name under which everybody imports the library."""
    first, _, rest = words.partition(".")
    resolution = resolve(words, path, version, history)
    if resolution is None and rest and first not in sys.stdlib_module_names:
        resolution = resolve(rest, path, version, history)
    foreign = _PATH.fullmatch(words) is not None and not history.is_root(first)
    return words if resolution is None and foreign else resolution


def transitions(
    changes: Iterable[ChangeRow], lifecycles: Iterable[LifecycleRow], history: History
) -> Iterator[Transition]:
    """Yield both directions between each pair of releases in which something changed that code can follow."""
    ordered = sorted(changes, key=lambda row: row["id"])
    replacements = Replacements.of(ordered, lifecycles)
    by_release: dict[str, list[ChangeRow]] = {}
    for change in ordered:
        if change["kind"] in RELOCATED | REPLACEABLE_APIS | CALLED_OTHERWISE:
            by_release.setdefault(change["new_version"], []).append(change)
    for version in sorted(by_release, key=history.rank):
        for direction in Direction:
            yield Transition(by_release[version], replacements, history, direction)
