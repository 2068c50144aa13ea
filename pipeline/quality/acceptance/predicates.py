"""Changes judged by the observations of probes in both releases: one pure predicate for each kind of change."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.execution.probe_result import Default, ProbeResult
from pipeline.lake.rows import ChangeRow
from pipeline.quality.acceptance.calls import NAMED, Kind, breaks, positions, takes

# Bases that are about types only: losing one of them breaks no `isinstance`.
_OF_TYPING = frozenset({"typing.Generic", "typing.Protocol", "typing_extensions.Protocol"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a change holds by two descriptions, and whether it is breaking; None where they do not decide."""

    held: bool | None
    breaking: bool | None = None


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
    if "class" not in (old.kind, new.kind) or old.kind != new.kind:
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


@dataclass(frozen=True, slots=True)
class _Two:
    """The parameter that a change is about, in both signatures."""

    old_signature: inspect.Signature
    new_signature: inspect.Signature
    old: inspect.Parameter | None
    new: inspect.Parameter | None
    change: ChangeRow

    def breaks(self) -> bool | None:
        names = [each.name for each in (self.old, self.new) if each is not None]
        return breaks(self.old_signature, self.new_signature, names[0], names[-1])

    def may_hide(self, *, in_old: bool, in_new: bool) -> bool:
        """Return whether `**kwargs` of a release may take the parameter that its signature does not have."""
        parameter = self.old or self.new
        if parameter is None or parameter.kind not in NAMED:
            return False
        sides = [self.old_signature] * in_old + [self.new_signature] * in_new
        return any(takes(side, Kind.VAR_KEYWORD) for side in sides)


def _of_parameter(predicate: Callable[[_Two], Finding]) -> Predicate:
    """Turn a predicate on one parameter of both signatures into one on descriptions."""

    def on_descriptions(old: ProbeResult, new: ProbeResult, change: ChangeRow) -> Finding:
        before, after = old.callable_as(), new.callable_as()
        if before is None or after is None:
            return UNDECIDED
        renamed = change["kind"] == ChangeKind.PARAMETER_RENAMED
        name = change["new"] if renamed else change["parameter"]
        two = _Two(
            before,
            after,
            _find(before, change["parameter"], change["old"]),
            _find(after, name, change["new"]),
            change,
        )
        return predicate(two)

    return on_descriptions


def _find(signature: inspect.Signature, name: str | None, text: str | None) -> inspect.Parameter | None:
    """Return a parameter; the names of `*args` and `**kwargs`, whose texts have their stars, do not matter."""
    if text and text.startswith("*"):
        kind = Kind.VAR_KEYWORD if text.startswith("**") else Kind.VAR_POSITIONAL
        return signature.parameters.get(takes(signature, kind) or "")
    return signature.parameters.get(name or "")


def _added(two: _Two) -> Finding:
    if two.old is None and two.new is None:
        unknown = takes(two.new_signature, Kind.VAR_KEYWORD)
        return UNDECIDED if unknown else Finding(held=False)
    if two.new is None or two.old is not None:
        return Finding(held=False)
    if two.may_hide(in_old=True, in_new=False):
        return UNDECIDED
    variadic = two.new.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)
    required = two.new.default is two.new.empty and not variadic
    held = required == (two.change["kind"] == ChangeKind.PARAMETER_ADDED_REQUIRED)
    return Finding(held, two.breaks())


def _removed(two: _Two) -> Finding:
    if two.old is None and two.new is None:
        unknown = takes(two.old_signature, Kind.VAR_KEYWORD)
        return UNDECIDED if unknown else Finding(held=False)
    if two.old is None or two.new is not None:
        return Finding(held=False)
    return UNDECIDED if two.may_hide(in_old=False, in_new=True) else Finding(True, two.breaks())


def _renamed(two: _Two) -> Finding:
    old_name, new_name = two.change["parameter"], two.change["new"]
    still_there = old_name in two.new_signature.parameters
    there_before = new_name in two.old_signature.parameters
    if two.may_hide(in_old=two.old is None, in_new=True):
        return UNDECIDED
    if two.old is None or two.new is None or still_there or there_before:
        return Finding(held=False)
    here, there = positions(two.old_signature), positions(two.new_signature)
    if old_name in here and new_name in there and here.index(old_name) != there.index(new_name):
        return UNDECIDED
    return Finding(True, two.breaks())


def _moved(two: _Two) -> Finding:
    here, there = positions(two.old_signature), positions(two.new_signature)
    if two.old is None or two.new is None:
        return UNDECIDED
    if two.old.name not in here or two.new.name not in there:
        return UNDECIDED
    moved = here.index(two.old.name) != there.index(two.new.name)
    return Finding(moved, breaking=True if moved else None)


def _parameter_kind(two: _Two) -> Finding:
    if two.old is None or two.new is None:
        return UNDECIDED
    kinds = two.old.kind.name.lower(), two.new.kind.name.lower()
    if kinds[0] == kinds[1]:
        return Finding(held=False)
    return Finding(True, two.breaks()) if kinds == (two.change["old"], two.change["new"]) else UNDECIDED


def _default(two: _Two) -> Finding:
    if two.old is None or two.new is None:
        return UNDECIDED
    was, is_ = (parameter.default for parameter in (two.old, two.new))
    comparable = isinstance(was, Default) and isinstance(is_, Default) and (was.text or is_.text)
    return Finding(held=was != is_) if comparable else UNDECIDED


def _required_or_not(two: _Two) -> Finding:
    if two.old is None or two.new is None:
        return UNDECIDED
    was, is_ = (parameter.default is parameter.empty for parameter in (two.old, two.new))
    becomes_required = two.change["kind"] == ChangeKind.PARAMETER_REQUIRED
    held = (was, is_) == (not becomes_required, becomes_required)
    return Finding(held, two.breaks() if held else None)


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
