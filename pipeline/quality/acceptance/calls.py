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
    """So many positional arguments, and arguments by these names; `place` is the position of the one it is about."""

    positional: int
    names: frozenset[str]
    place: int | None = None

    def lands(self, signature: inspect.Signature) -> str | None:
        """Return which parameter gets the positional argument at `place`, "" without one; None if it does not bind."""
        try:
            bound = signature.bind(*range(self.positional), **dict.fromkeys(self.names))
        except TypeError:
            return None
        if self.place is None:
            return ""
        found = bound.arguments.items()
        return first(
            name for name, value in found if value == self.place or (type(value) is tuple and self.place in value)
        )


def positions(signature: inspect.Signature) -> list[str]:
    """Return the names of the parameters that can be given by position, in order."""
    return [p.name for p in signature.parameters.values() if p.kind in POSITIONAL]


def takes(signature: inspect.Signature, kind: inspect._ParameterKind) -> str | None:
    """Return the name of the parameter of that kind (`*args`, `**kwargs`), if there is one."""
    return next((p.name for p in signature.parameters.values() if p.kind == kind), None)


def breaks(old: inspect.Signature, new: inspect.Signature, before: str, after: str) -> bool | None:
    """Say whether a call that is about a parameter fits the old signature and does not fit the new one.

    `before` and `after` are its names in the two. The calls give what either signature requires, and the parameter
    not at all, by name, and by position; a value that lands in another parameter does not fit. None where no such call
    fails, and other changes of the signature are in the way of one.
    """
    calls = list(_calls(old, new, before, after))
    wrong = [call for call in calls if call and call.lands(old) is not None and not _same(call, old, new, after)]
    if wrong:
        return True
    return None if None in calls else False


def _same(call: Call, old: inspect.Signature, new: inspect.Signature, after: str) -> bool:
    """Say whether a call that fits the old signature fits the new one, with the value in the same parameter."""
    lands = call.lands(new)
    return lands is not None and lands in (call.lands(old), after, takes(new, Kind.VAR_POSITIONAL))


def _calls(old: inspect.Signature, new: inspect.Signature, before: str, after: str) -> Iterator[Call | None]:
    """Yield the calls, and None for one that another change is in the way of."""
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
    """Return the call that gives a parameter by position, if the same ones stand before it in both signatures."""
    here, there = positions(old), positions(new)
    place = here.index(before) if before in here else len(here)
    if here[:place] != there[:place]:
        return None
    count = max(place, base.positional) + 1
    return Call(count, base.names - set(here[:count]), place)


def _both(old: inspect.Signature, new: inspect.Signature) -> Call:
    """Return the smallest call that gives what either signature requires; by name what can be."""
    fixed = [p for s in (old, new) for p in s.parameters.values() if p.kind in (*POSITIONAL, *NAMED)]
    required = [p for p in fixed if p.default is p.empty]
    by_place = [positions(s).index(p.name) + 1 for s in (old, new) for p in required if _only_placed(s, p)]
    count = max(by_place, default=0)
    given = {name for s in (old, new) for name in positions(s)[:count]}
    return Call(count, frozenset(p.name for p in required if p.kind in NAMED) - given)


def _only_placed(signature: inspect.Signature, parameter: inspect.Parameter) -> bool:
    return parameter.kind == Kind.POSITIONAL_ONLY and signature.parameters.get(parameter.name) is parameter


def _without(signature: inspect.Signature, name: str) -> inspect.Signature:
    return signature.replace(parameters=[p for p in signature.parameters.values() if p.name != name])
