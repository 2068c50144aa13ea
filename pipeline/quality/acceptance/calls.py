"""Calls that a change of a parameter is about, bound to the signatures of both releases."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from more_itertools import first

Kind = inspect.Parameter
POSITIONAL = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL_OR_KEYWORD)
NAMED = (Kind.POSITIONAL_OR_KEYWORD, Kind.KEYWORD_ONLY)
_ANY_OTHER = "a_name_that_no_parameter_has"


@dataclass(frozen=True, slots=True)
class Call:
    """A number of positional arguments, and named ones; `place` is the position of the argument in question."""

    positional: int
    names: frozenset[str]
    place: int | None = None

    def lands(self, signature: inspect.Signature) -> str | None:
        """Return the parameter that the argument at `place` binds to, "" without a place; None if it does not bind."""
        try:
            bound = signature.bind(*range(self.positional), **dict.fromkeys(self.names))
        except TypeError:
            return None
        if self.place is None:
            return ""
        values = bound.arguments.items()
        return first(
            name for name, value in values if value == self.place or (type(value) is tuple and self.place in value)
        )


def positions(signature: inspect.Signature) -> list[str]:
    """Return the names of the parameters that can be passed by position, in order."""
    return [p.name for p in signature.parameters.values() if p.kind in POSITIONAL]


def takes(signature: inspect.Signature, kind: inspect._ParameterKind) -> str | None:
    """Return the name of the parameter of that kind (`*args`, `**kwargs`), if there is one."""
    return next((p.name for p in signature.parameters.values() if p.kind == kind), None)


def breaks(old: inspect.Signature, new: inspect.Signature, before: str, after: str) -> bool | None:
    """Return whether a call about a parameter fits the old signature and does not fit the new one.

    `before` and `after` are its names in the two. The calls pass every argument that either signature requires. The
    parameter is passed by name, by position, and not at all; a value bound to another parameter does not fit. The
    result is None where no such call fails and another change of the signature prevents one.
    """
    calls = list(_calls(old, new, before, after))
    wrong = [call for call in calls if call and call.lands(old) is not None and not _same(call, old, new, after)]
    if wrong:
        return True
    return None if None in calls else False


def _same(call: Call, old: inspect.Signature, new: inspect.Signature, after: str) -> bool:
    """Return whether a call that fits the old signature binds the value to the same parameter of the new one."""
    lands = call.lands(new)
    return lands is not None and lands in (call.lands(old), after, takes(new, Kind.VAR_POSITIONAL))


def _calls(old: inspect.Signature, new: inspect.Signature, before: str, after: str) -> Iterator[Call | None]:
    """Yield the calls, and None for one that another change of the signature prevents."""
    rest_old, rest_new = _without(old, before), _without(new, after)
    base = _both(rest_old, rest_new)
    if base.lands(rest_old) is None or base.lands(rest_new) is None:
        yield None
        return
    yield base
    parameter = old.parameters.get(before)
    if parameter is None:
        return
    if parameter.kind == Kind.VAR_KEYWORD:
        yield Call(base.positional, base.names | {_ANY_OTHER})
    elif parameter.kind in NAMED:
        yield Call(base.positional, base.names | {before})
    if parameter.kind in (*POSITIONAL, Kind.VAR_POSITIONAL):
        yield _by_position(old, new, before, base)


def _by_position(old: inspect.Signature, new: inspect.Signature, before: str, base: Call) -> Call | None:
    """Return the call that passes a parameter by position, if both signatures have the same parameters before it."""
    here, there = positions(old), positions(new)
    place = here.index(before) if before in here else len(here)
    if here[:place] != there[:place]:
        return None
    count = max(place, base.positional) + 1
    return Call(count, base.names - set(here[:count]), place)


def _both(old: inspect.Signature, new: inspect.Signature) -> Call:
    """Return the smallest call with every argument that either signature requires, by name where possible."""
    fixed = [p for s in (old, new) for p in s.parameters.values() if p.kind in (*POSITIONAL, *NAMED)]
    required = [p for p in fixed if p.default is p.empty]
    by_place = [positions(s).index(p.name) + 1 for s in (old, new) for p in required if _only_placed(s, p)]
    count = max(by_place, default=0)
    positional = {name for s in (old, new) for name in positions(s)[:count]}
    return Call(count, frozenset(p.name for p in required if p.kind in NAMED) - positional)


def _only_placed(signature: inspect.Signature, parameter: inspect.Parameter) -> bool:
    return parameter.kind == Kind.POSITIONAL_ONLY and signature.parameters.get(parameter.name) is parameter


def _without(signature: inspect.Signature, name: str) -> inspect.Signature:
    return signature.replace(parameters=[p for p in signature.parameters.values() if p.name != name])
