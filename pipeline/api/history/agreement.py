"""Whether what a docstring states of a version agrees with what the comparison of the releases found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.api.history.occurrences import Occurrence, Occurrences, is_observable
from pipeline.api.surface.extract.directives import Directive
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.vocabularies.changes import Agreement, ChangeKind, DirectiveKind, DirectiveOwner, Disagreement
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind, PublicBecause, SymbolKind
from pipeline.lake.rows import SymbolParameter, SymbolRow

_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
_NAMED = frozenset(ParameterKind) - _VARIADIC


@dataclass(slots=True)
class Statement:
    """A directive at a public path, over the releases whose docstrings have it."""

    library: str
    path: str
    canonical_path: str
    first_version: str
    last_version: str | None
    directive: Directive


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a statement compares with what was found: when that was, and what a disagreement looks like."""

    agreement: Agreement
    found_version: str | None = None
    disagreement: Disagreement | None = None


def judge(statement: Statement, occurrences: Occurrences, rules: DirectiveRules) -> Verdict:
    """Compare a statement with what was found.

    A version agrees with the first release that can have it: 1.2 with 1.2.0, or with the next one where that was
    skipped. What was found under another path of the definition, or under the one it was moved from, counts too.
    """
    directive = statement.directive
    if directive.version is None:
        return Verdict(Agreement.UNREADABLE)
    about_part = directive.kind is not DirectiveKind.VERSIONCHANGED and rules.about_part(directive.text)
    if directive.owner is DirectiveOwner.PART or about_part:
        return Verdict(Agreement.NOT_COMPARABLE)
    case = _Case(statement, directive.version, occurrences, rules)
    return case.of_change() if directive.kind is DirectiveKind.VERSIONCHANGED else case.of_event()


class _Case:
    """A statement that can be compared, with the release that it means and the paths that its API had."""

    def __init__(self, statement: Statement, version: Version, occurrences: Occurrences, rules: DirectiveRules) -> None:
        self.statement, self.directive, self.version = statement, statement.directive, version
        self.occurrences, self.timeline, self.rules = occurrences, occurrences.timeline, rules
        self.release = self.timeline.release_of(version)
        self.paths = occurrences.paths_of(statement.path, statement.canonical_path)
        if self.directive.owner is DirectiveOwner.ATTRIBUTE:
            self.paths = [f"{path}.{self.directive.name}" for path in self.paths]
        self.parameter = self.directive.name if self.directive.owner is DirectiveOwner.PARAMETER else None

    def of_event(self) -> Verdict:
        """Judge what says that something came, is deprecated, or went."""
        occurrences = self._occurrences()
        if not occurrences:
            return self._nothing()
        if any(occurrence == Occurrence(self.release, True) for occurrence in occurrences if self.release):
            return Verdict(Agreement.AGREES, self.release)
        for occurrence in occurrences:
            # what is there already in the first release that is seen came with it or before
            if not occurrence.exact and self.release and not self.timeline.before(occurrence.version, self.release):
                return Verdict(Agreement.NOT_COVERED, occurrence.version)
        first = occurrences[0].version
        if self._behind_kwargs(first):
            return Verdict(Agreement.NOT_FOUND, first, Disagreement.BEHIND_KWARGS)
        if self._set_by_base(first):
            return Verdict(Agreement.NOT_FOUND, first, Disagreement.SET_BY_BASE)
        return Verdict(Agreement.CONTRADICTS, first, self._disagreement(first))

    def of_change(self) -> Verdict:
        """Judge `versionchanged`: any change in the stated release will do, but where the text names its kind."""
        if self.release is None or not self.timeline.covers(self.release):
            return Verdict(Agreement.NOT_COVERED)
        named = self.rules.kinds_in(self.directive.text)
        occurrences = self.occurrences.changes(self.paths, named or frozenset(ChangeKind), self.parameter)
        if any(occurrence.version == self.release for occurrence in occurrences):
            return Verdict(Agreement.AGREES, self.release)
        if not named:
            return Verdict(Agreement.NOT_COMPARABLE)
        if not occurrences:
            return Verdict(Agreement.NOT_FOUND, None, Disagreement.NO_SUCH_CHANGE)
        placeholder = named == {ChangeKind.PARAMETER_DEFAULT} and self._placeholder()
        first = occurrences[0].version
        reason = Disagreement.PLACEHOLDER if placeholder else self._disagreement(first)
        return Verdict(Agreement.CONTRADICTS, first, reason)

    def _occurrences(self) -> list[Occurrence]:
        """Return when what the statement is about came, was marked, or went; what the path itself shows is first."""
        kind, occurrences = self.directive.kind, self.occurrences
        if self.parameter is not None:
            if kind is DirectiveKind.VERSIONREMOVED:
                return occurrences.changes(self.paths, {ChangeKind.PARAMETER_REMOVED}, self.parameter)
            # `**options` that becomes `options` is a new parameter; what `**options` is called is nobody's business
            named = occurrences.states_with(self.paths, self._has_named())
            if named or not self._is_variadic():
                return named
            return occurrences.states_with(
                self.paths, lambda row: any(p["kind"] in _VARIADIC for p in row["parameters"])
            )
        if kind is DirectiveKind.VERSIONADDED:
            return occurrences.arrivals(self.paths)
        if kind is DirectiveKind.VERSIONREMOVED:
            return occurrences.removals(self.paths)
        return occurrences.states_with(self.paths, lambda row: row["deprecation"] is not None)

    def _has_named(self) -> Callable[[SymbolRow], bool]:
        """Return the question whether a state has the parameter and, for a deprecation, whether it is marked there."""
        marked = self.directive.kind is DirectiveKind.DEPRECATED

        def has(row: SymbolRow) -> bool:
            same = (p for p in row["parameters"] if p["name"] == self.parameter)
            return any(_is_marked(p) if marked else p["kind"] in _NAMED for p in same)

        return has

    def _state(self) -> SymbolRow | None:
        """Return the state of the path where the statement appeared."""
        return self.occurrences.state_at(self.statement.path, self.statement.first_version)

    def _is_variadic(self) -> bool:
        state = self._state()
        parameters: Sequence[SymbolParameter] = state["parameters"] if state else ()
        added = self.directive.kind is DirectiveKind.VERSIONADDED
        return added and any(p["name"] == self.parameter and p["kind"] in _VARIADIC for p in parameters)

    def _nothing(self) -> Verdict:
        """Return the verdict where nothing was found: why it may not be seen."""
        directive, state = self.directive, self._state()
        if directive.kind is DirectiveKind.VERSIONREMOVED and self.release is None:
            return Verdict(Agreement.NOT_COVERED)
        if directive.owner is DirectiveOwner.ATTRIBUTE:
            has_states = any(self.occurrences.states.get(path) for path in self.paths)
            return _unmatched(Disagreement.NO_MARK if has_states else Disagreement.NO_SUCH_MEMBER)
        if self.parameter is None:
            marked = directive.kind is DirectiveKind.DEPRECATED
            return _unmatched(Disagreement.NO_MARK if marked else Disagreement.NO_SUCH_CHANGE)
        if state is None or not is_observable(state):
            return _unmatched(Disagreement.UNSEEN)
        if any(p["name"] == self.parameter for p in state["parameters"]):
            marked = directive.kind is DirectiveKind.DEPRECATED
            return _unmatched(Disagreement.NO_MARK if marked else Disagreement.NO_SUCH_CHANGE)
        return _unmatched(Disagreement.BEHIND_KWARGS if _takes_more(state) else Disagreement.NOT_IN_SIGNATURE)

    def _behind_kwargs(self, version: str) -> bool:
        """Return whether **kwargs may have taken the parameter in the stated release, before it was found."""
        if self.parameter is None or self.release is None or not self.timeline.before(self.release, version):
            return False
        state = self.occurrences.state_at(self.statement.path, self.release)
        return state is not None and _takes_more(state)

    def _set_by_base(self, version: str) -> bool:
        """Return whether a base class set the attribute then: whether this class had it depends on what it calls."""
        state = self.occurrences.state_at(self.paths[0], version)
        if self.directive.owner is not DirectiveOwner.ATTRIBUTE or state is None:
            return False
        return bool(state["kind"] == SymbolKind.ATTRIBUTE and state["public_because"] == PublicBecause.INHERITED)

    def _placeholder(self) -> bool:
        """Return whether a default of the parameter was ever one that only says that none was given."""
        rows = (row for path in self.paths for row in self.occurrences.states.get(path, ()))
        defaults = (p["default"] or "" for row in rows for p in row["parameters"] if p["name"] == self.parameter)
        return any(self.rules.placeholders.search(default) for default in defaults)

    def _disagreement(self, version: str) -> Disagreement:
        """Return what a contradiction looks like: which came first, what was found, stated, or written."""
        written = self.statement.first_version
        if self.directive.kind is DirectiveKind.VERSIONADDED and self._overrides():
            return Disagreement.INHERITED_BEFORE
        if Version(version).release[:2] == self.version.release[:2]:
            return Disagreement.SAME_SERIES
        if Version(version) < self.version:
            if Version(written) >= self.version:
                return Disagreement.THERE_BEFORE
            backport = written == version and self.timeline.covers(version)
            return Disagreement.BACKPORT if backport else Disagreement.ANNOUNCED
        if self.timeline.before(written, version):
            return Disagreement.FOUND_LATER
        next_ = self.timeline.next_series(self.version, version)
        return Disagreement.MISSED_RELEASE if next_ else Disagreement.LIVED_ELSEWHERE

    def _overrides(self) -> bool:
        """Return whether the definition took the place of another one at its path in the stated release."""
        place, canonical = self.statement.path, self.statement.canonical_path
        own = self.occurrences.states_with([place], lambda row: bool(row["canonical_path"] == canonical))
        return self.parameter is None and any(o.exact and o.version == self.release for o in own)


def _unmatched(disagreement: Disagreement) -> Verdict:
    return Verdict(Agreement.NOT_FOUND, None, disagreement)


def _is_marked(parameter: SymbolParameter) -> bool:
    """Return whether a parameter is deprecated, or its name: not just giving it by position."""
    mark = parameter["deprecation"]
    return mark is not None and mark["what"] != ParameterDeprecation.BY_POSITION


def _takes_more(row: SymbolRow) -> bool:
    return any(p["kind"] == ParameterKind.VAR_KEYWORD for p in row["parameters"])
