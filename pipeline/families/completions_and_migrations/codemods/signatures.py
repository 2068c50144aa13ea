"""A call that is right for one signature, written for another one so that every parameter keeps its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.api.history.normalize import literal, same_value
from pipeline.api.history.parameters import UNKNOWN
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind
from pipeline.lake.rows import SymbolParameter

_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_BY_NAME = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)


class Unfit(ValueError):
    """No rule writes it for the other release so that it does the same."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a signature; `default` as written, None where it is required."""

    name: str
    kind: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenArgument:
    """An argument of a call as written; `star` is empty, `*` or `**`."""

    value: str
    keyword: str | None = None
    star: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument of the new call: the given one at `source`, or an added one with its `value`."""

    parameter: str
    keyword: str | None
    source: int | None = None
    value: str = ""


def signature_of(parameters: Iterable[SymbolParameter], *, current: bool) -> tuple[Parameter, ...]:
    """Return the signature that a state of `symbols` has.

    With `current` it is as the release wants to be called: without names that are only still accepted, and by name
    where giving it by position is deprecated.
    """
    rows = [row for row in parameters if not (current and _is_old_name(row))]
    return tuple(
        Parameter(row["name"], _current_kind(row) if current else str(row["kind"]), row["default"]) for row in rows
    )


def _is_old_name(parameter: SymbolParameter) -> bool:
    mark = parameter["deprecation"]
    return mark is not None and mark["what"] == ParameterDeprecation.NAME and mark["replacement"] is not None


def _current_kind(parameter: SymbolParameter) -> str:
    mark = parameter["deprecation"]
    by_name = mark is not None and mark["what"] == ParameterDeprecation.BY_POSITION
    return ParameterKind.KEYWORD_ONLY if by_name else str(parameter["kind"])


def bind(arguments: Sequence[WrittenArgument], signature: Sequence[Parameter]) -> list[str]:
    """Return the parameter that takes each argument, `*` or `**` where it is collected.

    Errors: Unfit where the call does not fit, or unpacks what only running shows.
    """
    places = [p.name for p in signature if p.kind in _BY_POSITION]
    names = {p.name for p in signature if p.kind in _BY_NAME}
    kinds = {p.kind for p in signature}
    bound: list[str] = []
    for at, argument in enumerate(arguments):
        if argument.star:
            raise Unfit(f"unpacks {argument.value}: only running shows what it gives")
        if argument.keyword is None:
            bound.append(places[at] if at < len(places) else _collected("*", ParameterKind.VAR_POSITIONAL, kinds))
        elif argument.keyword in names:
            bound.append(argument.keyword)
        else:
            bound.append(_collected("**", ParameterKind.VAR_KEYWORD, kinds, argument.keyword))
    named = [name for name in bound if name not in {"*", "**"}]
    if len(named) != len(set(named)):
        raise Unfit("gives a parameter twice")
    return bound


def _collected(stars: str, kind: ParameterKind, kinds: set[str], name: str = "so many by position") -> str:
    if kind not in kinds:
        raise Unfit(f"the signature takes no {name}")
    return stars


def adapt(
    arguments: Sequence[WrittenArgument],
    before: Sequence[Parameter],
    after: Sequence[Parameter],
    renamed: Mapping[str, str],
    replaced: Mapping[str, str] | None = None,
) -> list[Passed]:
    """Write the arguments of a call that is right for `before` for `after`; `renamed` are new names of parameters.

    An argument keeps its way of being given where it can. One whose parameter is gone is left out if it gives what
    `before` takes anyway; one is added where `after` requires it, or takes another value by default. `replaced` are
    parameters that both have and the library says to give instead: only a text is taken to mean the same there, as
    False may mean True.

    Errors: Unfit.
    """
    target = _Target(after)
    takers = bind(arguments, before)
    of_texts = {
        name: replaced[name]
        for argument, name in zip(arguments, takers, strict=True)
        if replaced and name in replaced and isinstance((literal(argument.value) or (None,))[0], str)
    }
    renamed = {**of_texts, **renamed}
    bound = _collected_now(arguments, takers, before, target, renamed)
    values = dict(_passed_on(arguments, bound, before, target, renamed))
    values |= dict(_missing(values, before, after, renamed))
    by_position = list(_by_position(values, arguments, target))
    rest = [at for at, name in enumerate(bound) if name == "*"]
    if rest and (len(by_position) < len(target.places) or ParameterKind.VAR_POSITIONAL not in target.kinds):
        raise Unfit("further arguments by position have no place")
    by_source = sorted(values.items(), key=lambda item: (item[1].source is None, item[1].source or 0))
    by_name = [passed for name, passed in by_source if name not in by_position]
    for passed in by_name:
        if passed.parameter in target.only_by_position:
            raise Unfit(f"{passed.parameter} can be given by position only, and what stands before it is not given")
    collected = [
        Passed(arguments[at].keyword or "", arguments[at].keyword, at) for at, name in enumerate(bound) if name == "**"
    ]
    named = sorted([*by_name, *collected], key=lambda p: (p.source is None, p.source or 0))
    if len({passed.keyword for passed in named}) < len(named):
        raise Unfit("an argument would be given twice")
    first = [Passed(name, None, values[name].source, values[name].value) for name in by_position]
    return [*first, *(Passed("*", None, at) for at in rest), *named]


def is_unchanged(arguments: Sequence[WrittenArgument], passed: Iterable[Passed]) -> bool:
    """Say whether every argument is passed on as it was given, and no other."""
    return {(each.source, each.keyword) for each in passed} == {(at, each.keyword) for at, each in enumerate(arguments)}


class _Target:
    """The signature that a call is written for, looked up."""

    def __init__(self, signature: Sequence[Parameter]) -> None:
        self.by_name = {p.name: p for p in signature if p.kind in (*_BY_POSITION, ParameterKind.KEYWORD_ONLY)}
        self.places = [p.name for p in signature if p.kind in _BY_POSITION]
        self.only_by_position = {p.name for p in signature if p.kind == ParameterKind.POSITIONAL_ONLY}
        self.kinds = {p.kind for p in signature}


def _collected_now(
    arguments: Sequence[WrittenArgument],
    bound: Sequence[str],
    before: Sequence[Parameter],
    target: _Target,
    renamed: Mapping[str, str],
) -> list[str]:
    """Return what takes each argument, where new `*args` take what parameters behind all others took, and are gone."""
    defaults = {p.name: p.default for p in before}
    rest = list(bound)
    if ParameterKind.VAR_POSITIONAL not in target.kinds or any(p.kind == ParameterKind.VAR_POSITIONAL for p in before):
        return rest
    for at, (argument, name) in enumerate(zip(arguments, bound, strict=True)):
        other = renamed.get(name, name)
        if argument.keyword is not None or (other in target.by_name and other not in target.places):
            break
        is_default = defaults.get(name) is not None and same_value(argument.value, defaults[name])
        if other not in target.by_name and at >= len(target.places) and not is_default:
            rest[at] = "*"
    return rest


def _passed_on(
    arguments: Sequence[WrittenArgument],
    bound: Sequence[str],
    before: Sequence[Parameter],
    target: _Target,
    renamed: Mapping[str, str],
) -> Iterable[tuple[str, Passed]]:
    """Yield what each argument becomes, by the name of its parameter in the target."""
    defaults = {p.name: p.default for p in before}
    assigned: set[str] = set()
    for at, (argument, name) in enumerate(zip(arguments, bound, strict=True)):
        collects = ParameterKind.VAR_KEYWORD in target.kinds
        if name == "*":
            continue
        if name == "**":
            if not collects and argument.keyword not in target.by_name:
                raise Unfit(f"nothing takes {argument.keyword}")
            continue
        other = renamed.get(name, name)
        if other not in target.by_name and not collects:
            if not same_value(argument.value, defaults[name]):
                raise Unfit(f"{name} is gone, and {argument.value} is not what is taken without it")
            continue
        if other != name and other in bound and same_value(argument.value, defaults[name]):
            continue
        if other in assigned:
            raise Unfit(f"{other} would be given twice")
        assigned.add(other)
        yield other, Passed(other, other, at)


def _missing(
    values: Mapping[str, Passed],
    before: Sequence[Parameter],
    after: Sequence[Parameter],
    renamed: Mapping[str, str],
) -> Iterable[tuple[str, Passed]]:
    """Yield what must be added so that each parameter has the value that it had."""
    defaults = {renamed.get(p.name, p.name): p.default for p in before}
    for parameter in after:
        if parameter.name in values or parameter.kind in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD):
            continue
        was = defaults.get(parameter.name)
        if was == UNKNOWN or literal(was) is None:
            if parameter.default is None:
                raise Unfit(f"{parameter.name} is required, and nothing tells what it was before")
        elif parameter.default is None or _certainly_other(was, parameter.default):
            yield parameter.name, Passed(parameter.name, parameter.name, None, was or "")


def _certainly_other(was: str | None, is_: str) -> bool:
    """Say whether two defaults mean different things: None stands for what is not given, whatever that comes to."""
    is_literal = literal(is_) is not None and is_ != UNKNOWN
    return is_literal and "None" not in (was, is_) and not same_value(was, is_)


def _by_position(values: Mapping[str, Passed], arguments: Sequence[WrittenArgument], target: _Target) -> Iterable[str]:
    """Yield the parameters that are given by position: from the first place on, as they were or as they must be."""
    for name in target.places:
        passed = values.get(name)
        if passed is None:
            return
        was_by_position = passed.source is not None and arguments[passed.source].keyword is None
        if not was_by_position and name not in target.only_by_position:
            return
        yield name
