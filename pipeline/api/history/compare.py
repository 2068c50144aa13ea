"""The changes between two releases: two tables of symbols compared.

Of an API that came or went as a whole there is one row and none for its members. Where several public paths lead to
one definition (aliases, inherited members), its change is one row, at its preferred path. A path that can still be
used as an alias, as a re-export of another distribution, or through `__getattr__` has not gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property

from pipeline.api.history.index import Index, standard_members
from pipeline.api.history.matching import Match, match
from pipeline.api.history.missing import is_missing, unobservable
from pipeline.api.history.parameters import Difference
from pipeline.api.history.reach import farthest, reach_of
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.states import (
    compare_alike,
    compare_deprecation,
    compare_states,
    describe_state,
    only_declared,
)
from pipeline.api.surface.extract.stubs import STUB_MEMBER, STUB_ONLY
from pipeline.core.vocabularies.changes import OFFERED, ChangeKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind, SymbolKind
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ChangeRow, SymbolState

_OF_STUBS = frozenset({STUB_ONLY, STUB_MEMBER})
_ATTRIBUTES = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.PROPERTY})


def changes_of(comparison: Comparison, library: str, old_version: str, new_version: str) -> list[ChangeRow]:
    """Return the `changes` rows between two releases, by path, kind and parameter."""
    row = _Writer(library, old_version, new_version, comparison, comparison.rules)
    matches = comparison.matches
    rows = [row.match(pair) for pair in matches.values()]
    rows += [row.gone(path) for path in comparison.reported_gone if path not in matches]
    continued = {pair.new for pair in matches.values()}
    rows += [row.come(path) for path in comparison.reported_come if path not in continued]
    for path, differences in comparison.reported_differences():
        rows += [row.differs(path, difference) for difference in differences]
    return sorted(rows, key=lambda r: (r["path"], r["kind"], r["parameter"] or ""))


class Comparison:
    """Two releases side by side: removed, introduced and differing paths."""

    def __init__(self, old: Index, new: Index, rules: LifecycleRules, changed: Set[str] | None = None) -> None:
        """Compare two releases; `changed` are the paths whose rows differ, where they are known."""
        self.old, self.new, self.rules = old, new, rules
        self.changed = _changed(old, new) if changed is None else changed
        self.gone = _missing(self.changed, old, new, rules)
        self.come = _missing(self.changed, new, old, rules)
        self.reported_gone = _reported(self.gone, old, new)
        self.reported_come = _reported(self.come, new, old)
        arrived = [*self.reported_come, *self._inside_new_modules()]
        self.matches: dict[str, Match] = match(self.reported_gone, arrived, old, new, rules)
        self._compared: dict[tuple[str, str], tuple[SymbolState, SymbolState, list[Difference]]] = {}
        self._differences: dict[str, list[Difference]] = {}

    def _inside_new_modules(self) -> list[str]:
        """Return new members of new modules: candidates for moves."""
        introduced = set(self.come)
        above = (path.rpartition(".")[0] for path in self.come)
        modules = {path for path in above if path in introduced and self.new.rows[path]["kind"] == SymbolKind.MODULE}
        return [path for path in self.come if path.rpartition(".")[0] in modules]

    def held_back(self) -> dict[str, str]:
        """Return the paths that may have gone without being told as removed, each with the reason, without members."""
        absent = {path for path in self.changed if path in self.old.rows and path not in self.new.rows}
        absent = {path for path in absent - set(self.gone) if not self.new.alive(path)}
        reasons = {
            path: unobservable(path, self.old, self.new, self.rules) for path in absent if not _below(path, absent)
        }
        return {path: why for path, why in sorted(reasons.items()) if why}

    @cached_property
    def touched(self) -> frozenset[str]:
        """The paths whose state may differ: those whose rows do, and other names of the definitions of these."""
        both = (self.old, self.new)
        canonicals = {
            index.rows[path]["canonical_path"] for index in both for path in self.changed if path in index.rows
        }
        named = (index.named(canonical) for index in both for canonical in canonicals)
        return frozenset(self.changed).union(*named)

    def states(self, path: str) -> tuple[SymbolState | None, SymbolState | None]:
        """Return what a path leads to in both releases."""
        return self.old.find(path), self.new.find(path)

    def differences(self, path: str) -> list[Difference]:
        """Return what differs at a path that both releases have, wherever its definition stands."""
        differences = self._differences.get(path)
        if differences is None:
            between = self._between(*self.states(path))
            unknown = between and (self.old.unknown(path) or self.new.unknown(path))
            differences = self._differences[path] = [] if unknown else between
        return differences

    def _between(self, before: SymbolState | None, after: SymbolState | None) -> list[Difference]:
        if before is after or before is None or after is None:
            return []
        key = before["canonical_path"], after["canonical_path"]
        compared = self._compared.get(key)
        # a method that many classes inherit is compared once
        if compared is not None and compare_alike(compared[0], before) and compare_alike(compared[1], after):
            return compared[2]
        differences = list(compare_states(before, after, self.new, self.rules))
        self._compared[key] = before, after, differences
        return differences

    def reported_differences(self) -> Iterator[tuple[str, list[Difference]]]:
        """Yield what differs, each pair of definitions once, at its preferred path."""
        best: dict[tuple[str, str], str] = {}
        for path in self.touched & self.old.rows.keys():
            if not self.differences(path):
                continue
            before, after = self.states(path)
            if before is not None and after is not None:
                pair = before["canonical_path"], after["canonical_path"]
                if pair not in best or _rank(path, self.new) < _rank(best[pair], self.new):
                    best[pair] = path
        for path in sorted(best.values()):
            yield path, self.differences(path)
        yield from self._differences_of_aliases()

    def _differences_of_aliases(self) -> Iterator[tuple[str, list[Difference]]]:
        """Yield marks that stand on a second name itself, not on what it leads to."""
        for path in sorted(self.changed & self.old.rows.keys()):
            before, after = self.old.rows[path], self.new.rows.get(path)
            if after is not None and SymbolKind.ALIAS in {before["kind"], after["kind"]}:
                kinds = {difference.kind for difference in self.differences(path)}
                marks = [d for d in compare_deprecation(before, after) if d.kind not in kinds]
                if marks:
                    yield path, marks


def _changed(old: Index, new: Index) -> Set[str]:
    both = old.rows.keys() & new.rows.keys()
    return (old.rows.keys() ^ new.rows.keys()) | {path for path in both if old.rows[path] != new.rows[path]}


def _missing(changed: Set[str], here: Index, there: Index, rules: LifecycleRules) -> list[str]:
    only_here = (path for path in changed if path in here.rows and path not in there.rows)
    return sorted(path for path in only_here if is_missing(path, here, there, rules))


def _reported(missing: Sequence[str], here: Index, there: Index) -> list[str]:
    """Return those of the missing paths that get a row of their own."""
    absent = set(missing)
    top = [path for path in missing if not _below(path, absent)]
    groups: dict[str, list[str]] = {}
    for path in top:
        row = here.find(path)
        groups.setdefault(row["canonical_path"] if row else path, []).append(path)
    return sorted(
        path for canonical, paths in groups.items() for path in _of_definition(canonical, paths, here, there, absent)
    )


def _below(path: str, absent: set[str]) -> bool:
    return path.rpartition(".")[0] in absent


def _of_definition(canonical: str, paths: list[str], here: Index, there: Index, absent: set[str]) -> list[str]:
    """Return which of the missing paths of one definition are reported: one if all of it went, else each."""
    owner = here.owners.get(canonical)
    whole = owner is not None and owner["path"] in absent and canonical not in there.owners
    return [min(paths, key=lambda path: _rank(path, here))] if whole else paths


def _rank(path: str, index: Index) -> tuple[bool, bool, bool, int, str]:
    """Order the paths of one definition: what users are offered, where it stands itself, fewest segments, letters."""
    row = index.rows.get(path)
    alias = row is None or row["kind"] == SymbolKind.ALIAS
    inherited = row is not None and row["public_because"] == PublicBecause.INHERITED
    return reach_of(path, index) not in OFFERED, alias, inherited, path.count("."), path


def _described(row: SymbolState | None) -> str | None:
    return describe_state(row) if row is not None else None


class _Writer:
    """Writes rows of `changes` for one pair of releases."""

    def __init__(self, library: str, old: str, new: str, comparison: Comparison, rules: LifecycleRules) -> None:
        self.library, self.old, self.new = library, old, new
        self.comparison, self.rules = comparison, rules

    def match(self, pair: Match) -> ChangeRow:
        row = self._row(pair.old, self.comparison.old, pair.kind, Difference(pair.kind, pair.old, pair.new))
        return row | {"replacement": pair.new, "confidence": pair.confidence, "evidence": pair.evidence}

    def gone(self, path: str) -> ChangeRow:
        index = self.comparison.old
        state = index.find(path)
        mark = index.rows[path]["deprecation"] or (state["deprecation"] if state else None)
        row = self._row(path, index, ChangeKind.REMOVED, Difference(ChangeKind.REMOVED, _described(state)))
        replacement = (mark["replacement"] if mark else None) or self.comparison.new.advice(path)
        row["replacement"] = self._replacement(path, replacement)
        if row["replacement"]:
            row["gitchameleon_category"] = self.rules.removed_with_replacement
        elif state and state["kind"] in _ATTRIBUTES:
            row["gitchameleon_category"] = self.rules.attributes_that_come_or_go
        return row | {"confidence": self._sure(path, self.comparison.new, self.rules.confidence_removed_unseen)}

    def come(self, path: str) -> ChangeRow:
        index = self.comparison.new
        state = index.find(path)
        row = self._row(path, index, ChangeKind.INTRODUCED, Difference(ChangeKind.INTRODUCED, None, _described(state)))
        if state and state["kind"] in _ATTRIBUTES:
            row["gitchameleon_category"] = self.rules.attributes_that_come_or_go
        declared = state is not None and only_declared(state, index)
        sure = self._sure(path, self.comparison.old, self.rules.confidence_introduced_unseen)
        sure = min(sure, self.rules.confidence_introduced_declared if declared else 1.0)
        by_stub = state is not None and self._by_stub(state)
        return row | {"confidence": min(sure, self.rules.confidence_introduced_by_stub if by_stub else 1.0)}

    def _by_stub(self, state: SymbolState) -> bool:
        """Return whether only a stub shows an API, beside sources that run: it may have been there without one."""
        only = state["source"] == SourceKind.PYI or not _OF_STUBS.isdisjoint(state["labels"])
        return only and self.comparison.new.has_sources

    def differs(self, path: str, difference: Difference) -> ChangeRow:
        row = self._row(path, self.comparison.new, difference.kind, difference)
        # the replacement of a parameter is the name of another one
        replacement = difference.replacement
        row["replacement"] = replacement if difference.parameter else self._replacement(path, replacement)
        if difference.guessed:
            row["confidence"] = self.rules.confidence_parameter_renamed
        elif difference.unobservable:
            row["confidence"] = self._sure_of_signature(difference)
        return row

    def _sure_of_signature(self, difference: Difference) -> float:
        """Return how sure a claim about a parameter is where `*args` or `**kwargs` reached an unobservable callable."""
        text = difference.old or ""
        if difference.kind != ChangeKind.PARAMETER_REMOVED or text.startswith("**"):
            # measured for `**kwargs` that an added parameter follows, borrowed for those without one and for `*args`
            return self.rules.confidence_parameter_explicit
        of_args = text.startswith("*")
        return self.rules.confidence_args_removed if of_args else self.rules.confidence_parameter_handed_on

    def _sure(self, path: str, there: Index, if_unobservable: float) -> float:
        """Return how sure it is that a path is missing: a base we do not see may provide it."""
        modules = self.rules.known_bases
        unobservable_bases = [base for base in there.outside_bases(path) if standard_members(base, modules) is None]
        return if_unobservable if unobservable_bases or there.dynamic(path) or there.givers(path) else 1.0

    def _replacement(self, path: str, name: str | None) -> str | None:
        """Return a stated replacement as a public path of the new release if it is one, else as stated."""
        if not name:
            return None
        parent, top = path.rpartition(".")[0], path.split(".")[0]
        places = [f"{parent}.{name}", f"{parent.rpartition('.')[0]}.{name}", f"{top}.{name}"]
        # `np.float64` is `numpy.float64`
        places += [f"{top}.{name.partition('.')[2]}"] if "." in name and top.startswith(name[0]) else []
        public = (place for place in [name, *places] if place != path and self.comparison.new.alive(place))
        return next(public, name)

    def _row(self, path: str, index: Index, kind: ChangeKind, difference: Difference) -> ChangeRow:
        tags = self.rules.changes[kind]
        state = index.find(path)
        there = [release for release in (self.comparison.old, self.comparison.new) if path in release.rows]
        reach = farthest(reach_of(path, release) for release in there or [index])
        can_fail = tags.breaking if difference.breaking is None else difference.breaking
        return {
            "id": content_id(self.library, self.old, self.new, path, str(kind), difference.parameter),
            "library": self.library,
            "old_version": self.old,
            "new_version": self.new,
            "path": path,
            "canonical_path": state["canonical_path"] if state else path,
            "kind": kind,
            "parameter": difference.parameter,
            "old": difference.old,
            "new": difference.new,
            "breaking": can_fail and reach in OFFERED,
            "reach": reach,
            # griffe reports breakages only
            "griffe_kind": tags.griffe if difference.breaking is not False else None,
            "replacement": None,
            "confidence": 1.0,
            "evidence": Evidence.STATIC,
            "versicode_tag": tags.versicode,
            "libevolutioneval_tag": tags.libevolutioneval,
            "gitchameleon_category": tags.gitchameleon,
        }
