"""Libraries' own decorators for changes of signatures: what a caller can give, and what of it will end.

Which decorator has which effect, and where its arguments stand, is in `curation_rules/helpers.yaml`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from pydantic import model_validator

from pipeline.api.surface.extract.helper_calls import ALL, Helper, HelperCall, HelperExample, read_call
from pipeline.api.surface.parse.module_model import Parameter, ParameterMark
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.surface import HelperEffect, ParameterDeprecation, ParameterKind, ParameterSource

_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
_BOUND = frozenset({"self", "cls"})
_WRITTEN = frozenset({ParameterSource.SIGNATURE, ParameterSource.SYNTHESISED})


class HelperRules(Rule):
    """The rules of `curation_rules/helpers.yaml`: of the helpers of one name, the first that fits the call counts."""

    helpers: tuple[Helper, ...]

    @cached_property
    def by_name(self) -> dict[str, list[Helper]]:
        """The helpers of each name, in the order of the file."""
        names = {name for helper in self.helpers for name in helper.names}
        return {name: [helper for helper in self.helpers if name in helper.names] for name in names}

    @model_validator(mode="after")
    def _examples_hold(self) -> HelperRules:
        for example in (example for helper in self.helpers for example in helper.examples):
            try:
                found = tuple(show_parameter(p) for p in _applied(example, self))
            except SyntaxError:
                raise ValueError(f"@{example.decorator} on ({example.signature}) is not Python") from None
            if found != example.gives:
                raise ValueError(f"@{example.decorator} on ({example.signature}) gives {list(found)}")
        return self


def apply_helpers(
    decorators: Sequence[ast.expr], parameters: Sequence[Parameter], rules: HelperRules
) -> list[Parameter]:
    """Return what a caller can give a function under its decorators, with what of it is deprecated.

    An old name that is still accepted is a keyword-only parameter more; what is still accepted by position is
    positional, whatever the signature says. A helper whose arguments are no literals changes nothing.
    """
    found = list(parameters)
    for decorator in reversed(decorators):
        for helper in rules.by_name.get(_last_name(decorator), ()):
            said = read_call(decorator, helper)
            if said is not None:
                found = _EFFECTS[helper.effect](found, said)
                for name, since in said.deprecated:
                    mark = said.mark(ParameterDeprecation.ENTIRELY, said.replacement, since)
                    found = _marked(found, name, mark)
                break
    return found


def show_parameter(parameter: Parameter) -> str:
    """Write a parameter with its mark: `b: keyword_only, name, since 3.1, removed in 3.3, use c`; unmarked its name.

    One that a decorator adds has its default too: `axis: keyword_only, added, 0`.
    """
    mark = parameter["deprecation"]
    if mark is None and parameter["known_from"] == ParameterSource.DECORATOR:
        return f"{parameter['name']}: {parameter['kind']}, added, {parameter['default']}"
    if mark is None:
        return str(parameter["name"])
    marked = {"since": mark["since"], "removed in": mark["removal"], "use": mark["replacement"]}
    told = [f"{word} {value}" for word, value in marked.items() if value]
    return f"{parameter['name']}: {', '.join([str(parameter['kind']), str(mark['what']), *told])}"


def _last_name(decorator: ast.expr) -> str:
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _marked(parameters: Sequence[Parameter], name: str, mark: ParameterMark) -> list[Parameter]:
    """ParameterMark a parameter in its place; one that no longer stands in the signature comes back, by name only."""
    if any(parameter["name"] == name for parameter in parameters):
        return [{**p, "deprecation": mark} if p["name"] == name else p for p in parameters]
    accepted: Parameter = {
        "name": name,
        "kind": ParameterKind.KEYWORD_ONLY,
        "default": "...",
        "annotation": None,
        "known_from": ParameterSource.HELPER,
        "deprecation": mark,
    }
    end = len(parameters) - sum(p["kind"] == ParameterKind.VAR_KEYWORD for p in parameters)
    return [*parameters[:end], accepted, *parameters[end:]]


def _rename(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    for old, new in said.renames:
        what = ParameterDeprecation.ENTIRELY if new is None else ParameterDeprecation.NAME
        parameters = _marked(parameters, old, said.mark(what, new or said.replacement))
    return parameters


def _deprecate(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    names = said.names or ()
    if ALL in names:
        names = tuple(p["name"] for p in parameters if p["kind"] not in _VARIADIC and p["name"] not in _BOUND)
    for name in names:
        if name in said.allowed:
            continue
        parameters = _marked(parameters, name, said.mark(ParameterDeprecation.ENTIRELY, said.replacement))
    return parameters


def _by_position(
    parameters: Sequence[Parameter], chosen: Collection[str], kinds: Collection[ParameterKind], said: HelperCall
) -> list[Parameter]:
    """Let the chosen parameters of these kinds be given by position, which is deprecated."""
    mark = said.mark(ParameterDeprecation.BY_POSITION)
    return [
        {**p, "kind": ParameterKind.POSITIONAL_OR_KEYWORD, "deprecation": p["deprecation"] or mark}
        if p["name"] in chosen and p["kind"] in kinds and p["known_from"] in _WRITTEN
        else p
        for p in parameters
    ]


_FREE = (ParameterKind.POSITIONAL_OR_KEYWORD,)
_NAMED = (ParameterKind.KEYWORD_ONLY,)


def _from(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    names = [p["name"] for p in parameters]
    first = names.index(said.names[0]) if said.names and said.names[0] in names else len(names)
    return _by_position(parameters, names[first:], _FREE, said)


def _of(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    return _by_position(parameters, said.names or (), _FREE, said)


def _but(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    allowed = said.names if said.names is not None else [p["name"] for p in parameters if p["default"] is None]
    return _by_position(parameters, {p["name"] for p in parameters} - set(allowed), _FREE, said)


def _rest(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    if any(p["kind"] == ParameterKind.VAR_POSITIONAL for p in parameters):
        return parameters
    return _by_position(parameters, {p["name"] for p in parameters}, _NAMED, said)


def _order(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    order = list(said.names or ())
    found = _by_position(parameters, order, _NAMED, said)
    positional = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)

    def place(parameter: Parameter) -> tuple[int, int]:
        if parameter["name"] in order:
            return 1, order.index(parameter["name"])
        return (0, 0) if parameter["kind"] in positional else (2, 0)

    return sorted(found, key=place)


def _add(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    known = {p["name"] for p in parameters}
    added = [p for p in _replace([], said) if p["name"] not in known]
    end = len(parameters) - sum(p["kind"] == ParameterKind.VAR_KEYWORD for p in parameters)
    return [*parameters[:end], *added, *parameters[end:]]


def _replace(parameters: list[Parameter], said: HelperCall) -> list[Parameter]:
    assert said.adds is not None
    written = read_parameters(said.adds)
    return [p if p["name"] in _BOUND else p | {"known_from": ParameterSource.DECORATOR} for p in written]


_EFFECTS: dict[HelperEffect, Callable[[list[Parameter], HelperCall], list[Parameter]]] = {
    HelperEffect.RENAMED: _rename,
    HelperEffect.DEPRECATED: _deprecate,
    HelperEffect.POSITION_FROM: _from,
    HelperEffect.POSITION_OF: _of,
    HelperEffect.POSITION_BUT: _but,
    HelperEffect.POSITION_REST: _rest,
    HelperEffect.POSITION_ORDER: _order,
    HelperEffect.ADDED: _add,
    HelperEffect.REPLACED: _replace,
}


def _applied(example: HelperExample, rules: HelperRules) -> list[Parameter]:
    (function,) = ast.parse(f"def _({example.signature}): ...").body
    decorator = ast.parse(example.decorator, mode="eval").body
    assert isinstance(function, ast.FunctionDef)
    return apply_helpers([decorator], read_parameters(function.args), rules)


def read_parameters(arguments: ast.arguments) -> list[Parameter]:
    """Return the parameters of a signature as it is written, self included."""
    free = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(free) - len(arguments.defaults)), *arguments.defaults]
    only = len(arguments.posonlyargs)
    found = [
        _parameter(a, ParameterKind.POSITIONAL_ONLY if n < only else ParameterKind.POSITIONAL_OR_KEYWORD, d)
        for n, (a, d) in enumerate(zip(free, defaults, strict=True))
    ]
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, ParameterKind.VAR_POSITIONAL, None))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [_parameter(a, ParameterKind.KEYWORD_ONLY, d) for a, d in named]
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, ParameterKind.VAR_KEYWORD, None))
    return found


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    return {
        "name": argument.arg,
        "kind": kind,
        "default": ast.unparse(default) if default else None,
        "annotation": ast.unparse(argument.annotation) if argument.annotation else None,
        "known_from": ParameterSource.SIGNATURE,
        "deprecation": None,
    }
