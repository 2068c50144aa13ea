"""The life of each public path: followed from release to release, looking only at what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.api.history.compare import Comparison
from pipeline.api.history.index import Index
from pipeline.api.history.missing import is_missing
from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.lake.rows import LifecycleRow, SymbolState


class Lifetimes:
    """The `lifecycles` rows of a library's public paths through a run of releases without a gap.

    `living` has rows by path, `done` those of removed paths. The last_version of a living path is None while the newest
    release shows it, else the last release that showed it.
    """

    def __init__(self, library: str, rules: LifecycleRules) -> None:
        self.library, self.rules = library, rules
        self.living: dict[str, LifecycleRow] = {}
        self.done: list[LifecycleRow] = []
        self._unobservable: set[str] = set()
        modified = LibEvolutionEvalTag.MODIFIED
        self._modifying = frozenset(k for k, tags in rules.changes.items() if tags.libevolutioneval == modified)

    def begin(self, index: Index, version: str) -> None:
        """Start with a release whose predecessor is unknown: no path is introduced in it."""
        for path in index.rows:
            self._born(path, version, None)
            self._note(path, version, index)

    @property
    def unobservable(self) -> list[list[str]]:
        """The lifetimes that the newest release cannot show and that may continue: path and first version of each."""
        return [[path, self.living[path]["first_version"]] for path in sorted(self._unobservable)]

    def resume(self, rows: Iterable[LifecycleRow], index: Index) -> None:
        """Continue the unfinished rows of an earlier run of the stage, which ended at the release of this index."""
        self.living = {row["path"]: {**row} for row in rows}
        self._unobservable = self.living.keys() - index.rows.keys()

    def step(self, step: Comparison, before: str, version: str, replacements: Mapping[str, str]) -> None:
        """Continue with the next release; `replacements` are by removed path."""
        # an unobservable path that is in the very state of the release before needs no step
        waiting = {path for path in self._unobservable if not _goes_on(*step.states(path))}
        gone = {*step.gone, *(path for path in waiting if is_missing(path, step.old, step.new, self.rules))}
        for path in sorted((waiting | (step.old.rows.keys() & step.changed)) - step.new.rows.keys()):
            if path in self.living:
                self._absent(path, step, before, version, replacements.get(path), gone=path in gone)
        introduced = frozenset(step.come)
        for path in sorted(step.changed & step.new.rows.keys()):
            if path not in self.living:
                # a path that was unobservable before (its module did not parse) is not introduced
                self._born(path, version, version if path in introduced else None)
            elif self.living[path]["last_version"] is not None:
                self.living[path]["last_version"] = None
        self._unobservable = {path for path in self._unobservable if path in self.living} - step.new.rows.keys()
        for path in sorted((step.touched | waiting) & self.living.keys()):
            differences = step.differences(path)
            if differences and any(difference.kind in self._modifying for difference in differences):
                # the list may be that of the row it went on from
                self.living[path]["modified_in"] = [*self.living[path]["modified_in"], version]
            self._note(path, version, step.new)

    def gap(self, last: str) -> None:
        """End the run: what comes next is not the successor of the last release."""
        for life in self.living.values():
            life["last_version"] = life["last_version"] or last
        self.done += self.living.values()
        self.living = {}
        self._unobservable = set()

    def abandon(self, last: str, version: str) -> None:
        """End the run after a step to a version that broke off: nothing of it counts."""
        self.living = {path: life for path, life in self.living.items() if life["first_version"] != version}
        for life in (*self.done, *self.living.values()):
            if life["removed_in"] == version:
                life["removed_in"] = None
            if life["deprecated_in"] == version:
                life["deprecated_in"] = None
            life["modified_in"] = [each for each in life["modified_in"] if each != version]
        self.gap(last)

    def _absent(
        self, path: str, step: Comparison, before: str, version: str, replacement: str | None, *, gone: bool
    ) -> None:
        """Settle what became of a path that has no row in the new release."""
        life = self.living[path]
        if gone:
            # if it vanished while unobservable, the removal version is unknown
            observed = step.old.alive(path)
            self.done.append(self.living.pop(path))
            if observed:
                life["last_version"], life["removed_in"] = before, version
                life["replacement"] = replacement or life["replacement"]
            return
        self._unobservable.add(path)
        if step.new.alive(path):
            life["last_version"] = None
        elif life["last_version"] is None:
            life["last_version"] = before

    def _born(self, path: str, version: str, introduced_in: str | None) -> None:
        self.living[path] = {
            "library": self.library,
            "path": path,
            "kind": "",
            "first_version": version,
            "last_version": None,
            "introduced_in": introduced_in,
            "removed_in": None,
            "deprecated_in": None,
            "replacement": None,
            "modified_in": [],
        }

    def _note(self, path: str, version: str, index: Index) -> None:
        """Note what a path is in a release, and since when it has been marked as deprecated."""
        state = index.find(path)
        row = index.rows.get(path, state)
        if row is None:
            # not seen there: its module does not parse, or a base from outside provides it
            return
        life = self.living[path]
        mark = row["deprecation"] or (state["deprecation"] if state else None)
        life["kind"] = row["kind"]
        life["deprecated_in"] = (life["deprecated_in"] or version) if mark else None
        if mark and life["replacement"] is None:
            life["replacement"] = mark["replacement"]


def _goes_on(before: SymbolState | None, after: SymbolState | None) -> bool:
    return before is not None and before is after
