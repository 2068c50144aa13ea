"""Calls that a change of a parameter is about, bound to the signatures of both releases."""

from __future__ import annotations

import ast
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
    """A number of positional arguments, and named ones; `argument` is the position or name of the one in question."""

    positional: int
    names: frozenset[str]
    argument: int | str | None = None

    def lands(self, signature: inspect.Signature) -> str | None:
        """Return the parameter that the argument binds to, "" without an argument; None if the call does not bind."""
        try:
            bound = signature.bind(*range(self.positional), **{name: name for name in self.names})
        except TypeError:
            return None
        if self.argument is None:
            return ""
        values = bound.arguments.items()
        return first(
            name
            for name, value in values
            if value == self.argument or (isinstance(value, (tuple, dict)) and self.argument in value)
        )


def fits_by_name(signature: inspect.Signature, name: str, in_place_of: str | None = None) -> bool | None:
    """Return whether a call with all required arguments binds a keyword to the parameter of that name.

    It may be given in place of another one, a new name of the same. The result is None where `**kwargs` takes it: only
    what they are handed on to can refuse it.
    """
    base = _smallest(_without(_without(signature, name), in_place_of or name))
    lands = Call(base.positional, base.names | {name}, name).lands(signature)
    return _landed(signature, name, lands, Kind.VAR_KEYWORD)


def fits_by_position(signature: inspect.Signature, name: str, place: int) -> bool | None:
    """Return whether an argument at a position binds to the parameter of that name; None where `*args` takes it."""
    base = _smallest(signature)
    count = max(place + 1, base.positional)
    lands = Call(count, base.names - set(positions(signature)[:count]), place).lands(signature)
    return _landed(signature, name, lands, Kind.VAR_POSITIONAL)


def _landed(signature: inspect.Signature, name: str, lands: str | None, rest: inspect._ParameterKind) -> bool | None:
    """Return whether an argument reached a parameter; None if `*args` or `**kwargs` took it in that one's place."""
    is_other = rest == Kind.VAR_KEYWORD or name not in signature.parameters
    if lands is not None and lands == takes(signature, rest) and is_other:
        return None
    return lands == name


def fits_without(signature: inspect.Signature, name: str) -> bool:
    """Return whether a call with all other required arguments binds without the parameter of that name."""
    return _smallest(_without(signature, name)).lands(signature) is not None


def takes_more(signature: inspect.Signature, kind: inspect._ParameterKind) -> bool:
    """Return whether one more argument by position, or one under a name that no parameter has, binds."""
    base = _smallest(signature)
    if kind == Kind.VAR_KEYWORD:
        return Call(base.positional, base.names | {_ANY_OTHER}, _ANY_OTHER).lands(signature) is not None
    place = len(positions(signature))
    return Call(place + 1, base.names - set(positions(signature)), place).lands(signature) is not None


def takes_call(signature: inspect.Signature, call: ast.Call) -> bool:
    """Return whether the arguments of a written call bind to a signature; those after stars are not counted."""
    positional = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    names = frozenset(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    return Call(len(positional), names).lands(signature) is not None


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
    rest = (takes(new, Kind.VAR_POSITIONAL), takes(new, Kind.VAR_KEYWORD))
    return lands is not None and lands in (call.lands(old), after, *rest)


def _calls(old: inspect.Signature, new: inspect.Signature, before: str, after: str) -> Iterator[Call | None]:
    """Yield the calls, and None for one that another change of the signature prevents."""
    rest_old, rest_new = _without(old, before), _without(new, after)
    base = _smallest(rest_old, rest_new)
    if base.lands(rest_old) is None or base.lands(rest_new) is None:
        yield None
        return
    yield base
    parameter = old.parameters.get(before)
    if parameter is None:
        return
    if parameter.kind == Kind.VAR_KEYWORD:
        yield Call(base.positional, base.names | {_ANY_OTHER}, _ANY_OTHER)
    elif parameter.kind in NAMED:
        yield Call(base.positional, base.names | {before}, before)
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


def _smallest(*signatures: inspect.Signature) -> Call:
    """Return the smallest call with every argument that one of the signatures requires, by name where possible."""
    fixed = [p for s in signatures for p in s.parameters.values() if p.kind in (*POSITIONAL, *NAMED)]
    required = [p for p in fixed if p.default is p.empty]
    by_place = [positions(s).index(p.name) + 1 for s in signatures for p in required if _only_placed(s, p)]
    count = max(by_place, default=0)
    positional = {name for s in signatures for name in positions(s)[:count]}
    return Call(count, frozenset(p.name for p in required if p.kind in NAMED) - positional)


def _only_placed(signature: inspect.Signature, parameter: inspect.Parameter) -> bool:
    return parameter.kind == Kind.POSITIONAL_ONLY and signature.parameters.get(parameter.name) is parameter


def _without(signature: inspect.Signature, name: str) -> inspect.Signature:
    return signature.replace(parameters=[p for p in signature.parameters.values() if p.name != name])
