"""Changes judged by the observations of probes in both releases: one pure predicate for each kind of change."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.probe_result import Default, ProbeResult
from pipeline.lake.rows import ChangeRow
from pipeline.quality.acceptance.calls import (
    NAMED,
    POSITIONAL,
    Kind,
    breaks,
    fits_by_name,
    fits_by_position,
    fits_without,
    positions,
    takes,
    takes_more,
)

_KINDS = {kind.name.lower(): kind for kind in (*POSITIONAL, Kind.KEYWORD_ONLY)}
# Bases that are about types only: losing one of them breaks no `isinstance`.
_OF_TYPING = frozenset({"typing.Generic", "typing.Protocol", "typing_extensions.Protocol"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a change holds by two descriptions, and whether it is breaking; None where they do not decide."""

    held: bool | None
    breaking: bool | None = None
    reason: str = "the descriptions of both releases do not show it"
    """Why they do not decide."""


UNDECIDED = Finding(None)
Predicate = Callable[[ProbeResult, ProbeResult, ChangeRow], Finding]


def judge(old: ProbeResult, new: ProbeResult, change: ChangeRow) -> Finding:
    """Return the finding on a change by the descriptions of its path, which both releases have."""
    predicate = PREDICATES.get(change["kind"])
    return predicate(old, new, change) if predicate else UNDECIDED


def _kind(old: ProbeResult, new: ProbeResult, change: ChangeRow) -> Finding:
    if old.kind == new.kind:
        return Finding(held=False)
    return Finding(held=True) if (old.kind, new.kind) == (change["old"], change["new"]) else UNDECIDED


def _bases(old: ProbeResult, new: ProbeResult, _: ChangeRow) -> Finding:
    """Names without their modules are compared, since a class that only moved is the same base."""
    if not old.kind == new.kind == SymbolKind.CLASS:
        return UNDECIDED
    if _last_names(old.bases) == _last_names(new.bases):
        return Finding(held=False)
    lost = _last_names(old.mro) - _last_names(new.mro)
    public = {name for name in lost if not name.startswith("_")} - _last_names(_OF_TYPING)
    return Finding(held=True, breaking=bool(public))


def _async(old: ProbeResult, new: ProbeResult, change: ChangeRow) -> Finding:
    if old.is_async == new.is_async:
        # a wrapper of the library may hide what it wraps
        return UNDECIDED if old.wrappers or new.wrappers else Finding(held=False)
    return Finding(held=new.is_async == (change["new"] != "not async"))


def _attribute_value(old: ProbeResult, new: ProbeResult, _: ChangeRow) -> Finding:
    """A short literal certainly differs from a value that is none."""
    if old.value is None and new.value is None:
        return UNDECIDED
    return Finding(held=old.value != new.value)


def _deprecated(old: ProbeResult, new: ProbeResult, _: ChangeRow) -> Finding:
    """Most marks appear only in a call, which no probe makes: a missing mark refutes nothing."""
    if not new.deprecated:
        return UNDECIDED
    return Finding(held=not old.deprecated)


_Bound = tuple[bool | None, ...]
"""Whether a call binds to the parameter in question, in the old and in the new release; None if that is not decided."""


@dataclass(frozen=True, slots=True)
class _ParameterPair:
    """The parameter that a change is about, in both signatures, under the name that it has in each."""

    signatures: tuple[inspect.Signature, inspect.Signature]
    names: tuple[str, str]
    parameters: tuple[inspect.Parameter | None, inspect.Parameter | None]
    change: ChangeRow

    def breaks(self) -> bool | None:
        names = [each.name for each in self.parameters if each is not None]
        return breaks(*self.signatures, names[0], names[-1])

    def by_name(self, name: str) -> _Bound:
        """Bind a keyword in both releases, which is one of the names of the parameter, in place of the other."""
        other = self.names[name == self.names[0]]
        return tuple(fits_by_name(signature, name, other) for signature in self.signatures)

    def by_position(self, names: tuple[str, str]) -> _Bound:
        """Bind an argument at the position of the parameter in both releases, for the parameters of these names."""
        here, there = (positions(signature) for signature in self.signatures)
        places = [order.index(name) for order, name in zip((here, there), self.names, strict=True) if name in order]
        if not places:
            return (False, False)
        return tuple(fits_by_position(s, name, places[0]) for s, name in zip(self.signatures, names, strict=True))

    def fits(self) -> _Bound:
        """Bind the parameter in both releases, by name where a release takes it so, else by position."""
        parameters = [each for each in self.parameters if each is not None]
        variadic = [each.kind for each in parameters if each.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)]
        if variadic:
            return tuple(takes_more(signature, variadic[0]) for signature in self.signatures)
        if all(each.kind == Kind.POSITIONAL_ONLY for each in parameters) and parameters:
            return self.by_position(self.names)
        return self.by_name(self.names[0])


_UNFOLLOWED = Finding(None, reason="`**kwargs` or `*args` may take it, and where they go cannot be followed")


def _as_claimed(*claims: tuple[_Bound, _Bound]) -> Finding:
    """Return the finding on calls that were bound, and how they bind if the change holds."""
    pairs = [each for bound, claimed in claims for each in zip(bound, claimed, strict=True)]
    if any(observed is not None and observed != claimed for observed, claimed in pairs):
        return Finding(held=False)
    return Finding(held=True) if all(observed is not None for observed, _ in pairs) else _UNFOLLOWED


def _of_parameter(predicate: Callable[[_ParameterPair], Finding]) -> Predicate:
    """Turn a predicate on one parameter of both signatures into one on descriptions."""

    def on_descriptions(old: ProbeResult, new: ProbeResult, change: ChangeRow) -> Finding:
        before, after = old.callable_as(), new.callable_as()
        if before is None or after is None:
            return Finding(None, reason=(old if before is None else new).uncallable())
        renamed = change["kind"] == ChangeKind.PARAMETER_RENAMED
        names = change["parameter"] or "", (change["new"] if renamed else change["parameter"]) or ""
        parameters = _find(before, names[0], change["old"]), _find(after, names[1], change["new"])
        return predicate(_ParameterPair((before, after), names, parameters, change))

    return on_descriptions


def _find(signature: inspect.Signature, name: str | None, text: str | None) -> inspect.Parameter | None:
    """Return a parameter; the names of `*args` and `**kwargs`, whose texts have their stars, do not matter."""
    if text and text.startswith("*"):
        kind = Kind.VAR_KEYWORD if text.startswith("**") else Kind.VAR_POSITIONAL
        return signature.parameters.get(takes(signature, kind) or "")
    return signature.parameters.get(name or "")


def _added(pair: _ParameterPair) -> Finding:
    finding = _as_claimed((pair.fits(), (False, True)))
    if not finding.held:
        return finding
    required = not fits_without(pair.signatures[1], pair.names[1])
    held = required == (pair.change["kind"] == ChangeKind.PARAMETER_ADDED_REQUIRED)
    return Finding(held, pair.breaks())


def _removed(pair: _ParameterPair) -> Finding:
    finding = _as_claimed((pair.fits(), (True, False)))
    return Finding(True, pair.breaks()) if finding.held else finding


def _renamed(pair: _ParameterPair) -> Finding:
    before, after = pair.names
    if all(each and each.kind == Kind.POSITIONAL_ONLY for each in pair.parameters):
        finding = _as_claimed((pair.by_position(pair.names), (True, True)))
    else:
        finding = _as_claimed((pair.by_name(before), (True, False)), (pair.by_name(after), (False, True)))
        is_positional = all(each and each.kind in POSITIONAL for each in pair.parameters)
        if finding.held and is_positional and pair.by_position(pair.names) != (True, True):
            return UNDECIDED
    return Finding(True, pair.breaks()) if finding.held else finding


def _moved(pair: _ParameterPair) -> Finding:
    if not all(each and each.kind in POSITIONAL for each in pair.parameters):
        return UNDECIDED
    finding = _as_claimed((pair.by_position(pair.names), (True, False)))
    return Finding(finding.held, breaking=True if finding.held else None)


def _parameter_kind(pair: _ParameterPair) -> Finding:
    """A claim is refuted where calls bind alike in both releases: there are more kinds than ways to call."""
    kinds = [_KINDS.get(str(pair.change[side])) for side in ("old", "new")]
    observed = pair.by_position(pair.names), pair.by_name(pair.names[0])
    if all(None not in each and each[0] == each[1] for each in observed):
        return Finding(held=False)
    claimed = tuple(tuple(kind in of for kind in kinds) for of in (POSITIONAL, NAMED))
    if any(None in each for each in observed):
        return _UNFOLLOWED
    return Finding(True, pair.breaks()) if observed == claimed else UNDECIDED


def _default(pair: _ParameterPair) -> Finding:
    """What a call without the argument gets is the default, as far as its value is known."""
    was, is_ = (each.default if each else None for each in pair.parameters)
    if not isinstance(was, Default) or not isinstance(is_, Default) or not (was.text or is_.text):
        return UNDECIDED
    return Finding(held=was != is_) if was.has_value() and is_.has_value() else UNDECIDED


def _required_or_not(pair: _ParameterPair) -> Finding:
    if None in pair.parameters:
        return UNDECIDED
    observed = tuple(fits_without(s, name) for s, name in zip(pair.signatures, pair.names, strict=True))
    becomes_required = pair.change["kind"] == ChangeKind.PARAMETER_REQUIRED
    finding = _as_claimed((observed, (becomes_required, not becomes_required)))
    return Finding(True, pair.breaks()) if finding.held else finding


PREDICATES: Mapping[str, Predicate] = {
    ChangeKind.KIND: _kind,
    ChangeKind.BASES: _bases,
    ChangeKind.ASYNC: _async,
    ChangeKind.ATTRIBUTE_VALUE: _attribute_value,
    ChangeKind.DEPRECATED: _deprecated,
    ChangeKind.PARAMETER_ADDED_REQUIRED: _of_parameter(_added),
    ChangeKind.PARAMETER_ADDED_OPTIONAL: _of_parameter(_added),
    ChangeKind.PARAMETER_REMOVED: _of_parameter(_removed),
    ChangeKind.PARAMETER_RENAMED: _of_parameter(_renamed),
    ChangeKind.PARAMETER_MOVED: _of_parameter(_moved),
    ChangeKind.PARAMETER_KIND: _of_parameter(_parameter_kind),
    ChangeKind.PARAMETER_DEFAULT: _of_parameter(_default),
    ChangeKind.PARAMETER_REQUIRED: _of_parameter(_required_or_not),
    ChangeKind.PARAMETER_OPTIONAL: _of_parameter(_required_or_not),
}


def _last_names(names: frozenset[str] | tuple[str, ...]) -> set[str]:
    return {name.rpartition(".")[2] for name in names}
