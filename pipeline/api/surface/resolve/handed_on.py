"""The parameters that a callable has by the calls that it hands its `**kwargs` on to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import takewhile
from typing import NamedTuple

from pipeline.api.surface.extract.handed_on import CONSTRUCTORS
from pipeline.api.surface.extract.kwargs import UNKNOWN
from pipeline.api.surface.parse.module_model import KWARGS_UNSEEN, HandedOn, Parameter
from pipeline.api.surface.resolve.dependency_keys import content_fact
from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.resolver import Distribution
from pipeline.api.surface.resolve.signatures import (
    assigned_signature,
    class_parameters,
    constructor_of,
    method_parameters,
    named_parameters,
    outside_bases,
    passed_owners,
)
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource

_POSITIONAL = frozenset({ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD})
_BY_NAME = frozenset({ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY})
_BOUND = frozenset({"classmethod", "staticmethod"})


class Called(NamedTuple):
    """The parameters of a callable, and whether its `**kwargs` go where nobody sees which names are taken."""

    parameters: list[Parameter]
    unobservable: bool = False

    @property
    def labels(self) -> list[str]:
        """The labels of a row that has these parameters."""
        return [KWARGS_UNSEEN] if self.unobservable else []


def called_function(function: Resolution, distribution: Distribution, visited: Set[str] = frozenset()) -> Called:
    """Return the parameters of a function as it is written, with those that its `**kwargs` stand for."""
    definition = function.definition
    assert definition is not None
    own = named_parameters(definition.called, function, distribution)
    return _extended(own, definition.hands_on, function, distribution, visited)


def called_method(method: Resolution, distribution: Distribution, visited: Set[str] = frozenset()) -> Called:
    """Return the same of a method of a class, as a caller sees it: without its first parameter."""
    definition = method.definition
    assert definition is not None
    own = named_parameters(method_parameters(definition), method, distribution)
    return _extended(own, definition.hands_on, method, distribution, visited)


def called_constructor(
    parameters: list[Parameter], owners: list[Resolution], distribution: Distribution, visited: Set[str] = frozenset()
) -> Called:
    """Return the parameters of a class with those that its constructor hands on to other than constructors."""
    constructor = constructor_of(owners)
    if constructor is None or constructor.definition is None or assigned_signature(owners) is not None:
        return Called(parameters)
    if constructor.definition.passes_kwargs is not None:
        open_ = bool(parameters) and parameters[-1]["kind"] == ParameterKind.VAR_KEYWORD
        return Called(parameters, open_ and _base_unobservable(constructor, owners, distribution, visited))
    calls = constructor.definition.hands_on
    others = [call for call in calls if call.to.rpartition(".")[2] not in CONSTRUCTORS]
    extended = _extended(parameters, others, constructor, distribution, visited)
    return Called(extended.parameters, extended.unobservable or len(others) < len(calls))


def _base_unobservable(
    constructor: Resolution, owners: list[Resolution], distribution: Distribution, visited: Set[str]
) -> bool:
    """Return whether the `**kwargs` of a constructor reach an unobservable one, by way of its bases."""
    assert constructor.definition is not None
    assert constructor.definition.passes_kwargs is not None
    around = constructor.path.rpartition(".")[0]
    above = passed_owners(constructor.definition.passes_kwargs, around, owners, distribution)
    if above is None:
        return True
    taker = constructor_of(above)
    taker_class = taker.path.rpartition(".")[0] if taker is not None else None
    before = takewhile(lambda owner: owner.path != taker_class, above)
    if any(outside_bases(owner, distribution) for owner in before):
        return True
    if taker is None or taker.path in visited:
        return False
    parameters, _ = class_parameters(above, distribution)
    return called_constructor(parameters, above, distribution, visited | {taker.path}).unobservable


def _class_around(function: Resolution) -> str | None:
    """Return the path of the class that a function is a member of."""
    parent = function.path.rpartition(".")[0]
    return None if function.module is None or parent == function.module.name else parent


def _extended(
    own: list[Parameter],
    calls: Sequence[HandedOn],
    function: Resolution,
    distribution: Distribution,
    visited: Set[str],
) -> Called:
    if not calls or not own or own[-1]["kind"] != ParameterKind.VAR_KEYWORD:
        return Called(own)
    added: dict[str, Parameter] = {}
    names = {parameter["name"] for parameter in own}
    unobservable = False
    for call in calls:
        target = _target(call, function, distribution)
        if target is None or target.path in visited:
            unobservable = unobservable or target is None
            continue
        called = _called(target, distribution, visited | {function.path, target.path})
        unobservable = unobservable or called is None or called.unobservable
        for parameter in _left(call, target, called.parameters) if called is not None else ():
            if parameter["name"] not in names:
                added.setdefault(parameter["name"], parameter)
    return Called([*own[:-1], *added.values(), own[-1]], unobservable)


def _target(call: HandedOn, function: Resolution, distribution: Distribution) -> Resolution | None:
    """Return what a call leads to, if a class or function of the distribution stands there."""
    if function.module is None or call.of == "?":
        return None
    if not call.of:
        target = distribution.within(function.module, call.to)
        return target if target.definition is not None and target.definition.kind in {"class", "function"} else None
    around = _class_around(function)
    class_ = distribution.follow(around) if around else None
    if class_ is None or not class_.is_class:
        return None
    owners = distribution.ancestry(class_)
    if not call.to:
        return class_
    for owner in owners[1:] if call.of == "super" else owners:
        member = owner.definition.members.get(call.to) if owner.definition else None
        if member is not None:
            is_function = member.kind == "function"
            return Resolution("definition", f"{owner.path}.{call.to}", owner.module, member) if is_function else None
    return None


def _called(target: Resolution, distribution: Distribution, visited: Set[str]) -> Called | None:
    distribution.trace.ask(content_fact(target))
    if not target.is_class:
        of_class = _class_around(target) is not None
        return (called_method if of_class else called_function)(target, distribution, visited)
    owners = distribution.ancestry(target)
    for owner in owners:
        distribution.trace.ask(content_fact(owner))
    parameters, _ = class_parameters(owners, distribution)
    if not parameters:
        # nothing, or what a base takes that no source shows
        return None
    return called_constructor(parameters, owners, distribution, visited)


def _left(call: HandedOn, target: Resolution, parameters: list[Parameter]) -> Iterator[Parameter]:
    """Yield what the keywords of a caller can reach: what the call does not give itself, optional and by name only."""
    assert target.definition is not None
    unbound = (
        not call.of and not target.is_class and _class_around(target) and _BOUND.isdisjoint(target.definition.labels)
    )
    positional = [p["name"] for p in parameters if p["kind"] in _POSITIONAL]
    excluded = {*call.names, *positional[: max(call.positional - bool(unbound), 0)]}
    for parameter in parameters:
        if parameter["name"] not in excluded and parameter["kind"] in _BY_NAME:
            yield parameter | {
                "kind": ParameterKind.KEYWORD_ONLY,
                "default": UNKNOWN if parameter["default"] is None else parameter["default"],
                "known_from": ParameterSource.PASSED_ON,
                "deprecation": None,
            }
