"""Libraries' own decorators for changes of signatures: what a caller can give, and what of it will end.

Which decorator has which effect, and where its arguments stand, is in `curation_rules/helpers.yaml`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from pydantic import model_validator

from pipeline.api.surface.extract.helper_calls import ALL, Helper, HelperCall, HelperExample, read_call
from pipeline.api.surface.extract.written_signatures import declared
from pipeline.api.surface.parse.module_model import Parameter, ParameterMark, parameter_row
from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.syntax_trees import parse_python
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
                result = tuple(show_parameter(p) for p in _applied(example, self))
            except SyntaxError:
                raise InputError(
                    f"@{example.decorator} on ({example.signature}) is not Python", code="rule_example_wrong"
                ) from None
            if result != example.gives:
                raise InputError(
                    f"@{example.decorator} on ({example.signature}) gives {list(result)}", code="rule_example_wrong"
                )
        return self


def apply_helpers(
    decorators: Sequence[ast.expr], parameters: Sequence[Parameter], rules: HelperRules
) -> list[Parameter]:
    """Return what a caller can give a function under its decorators, with what of it is deprecated.

    An old name that is still accepted is a keyword-only parameter more; what is still accepted by position is
    positional, whatever the signature says. A helper whose arguments are no literals changes nothing.
    """
    result = list(parameters)
    for decorator in reversed(decorators):
        for helper in rules.by_name.get(_last_name(decorator), ()):
            call = read_call(decorator, helper)
            if call is not None:
                result = _EFFECTS[helper.effect](result, call)
                for name, since in call.deprecated:
                    mark = call.mark(ParameterDeprecation.ENTIRELY, call.replacement, since)
                    result = _marked(result, name, mark)
                break
    return result


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
    details = [f"{word} {value}" for word, value in marked.items() if value]
    return f"{parameter['name']}: {', '.join([str(parameter['kind']), str(mark['what']), *details])}"


def _last_name(decorator: ast.expr) -> str:
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _marked(parameters: Sequence[Parameter], name: str, mark: ParameterMark) -> list[Parameter]:
    """Mark a parameter where it is; add it by its name if the signature has it no longer."""
    if any(parameter["name"] == name for parameter in parameters):
        return [{**p, "deprecation": mark} if p["name"] == name else p for p in parameters]
    accepted = parameter_row(name, ParameterKind.KEYWORD_ONLY, "...", None, ParameterSource.HELPER, mark)
    end = len(parameters) - sum(p["kind"] == ParameterKind.VAR_KEYWORD for p in parameters)
    return [*parameters[:end], accepted, *parameters[end:]]


def _rename(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    for old, new in call.renames:
        extent = ParameterDeprecation.ENTIRELY if new is None else ParameterDeprecation.NAME
        parameters = _marked(parameters, old, call.mark(extent, new or call.replacement))
    return parameters


def _deprecate(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    names = call.names or ()
    if ALL in names:
        names = tuple(p["name"] for p in parameters if p["kind"] not in _VARIADIC and p["name"] not in _BOUND)
    for name in names:
        if name in call.allowed:
            continue
        parameters = _marked(parameters, name, call.mark(ParameterDeprecation.ENTIRELY, call.replacement))
    return parameters


def _by_position(
    parameters: Sequence[Parameter], chosen: Collection[str], kinds: Collection[ParameterKind], call: HelperCall
) -> list[Parameter]:
    """Let the chosen parameters of these kinds be given by position, which is deprecated."""
    mark = call.mark(ParameterDeprecation.BY_POSITION)
    return [
        {**p, "kind": ParameterKind.POSITIONAL_OR_KEYWORD, "deprecation": p["deprecation"] or mark}
        if p["name"] in chosen and p["kind"] in kinds and p["known_from"] in _WRITTEN
        else p
        for p in parameters
    ]


_FREE = (ParameterKind.POSITIONAL_OR_KEYWORD,)
_NAMED = (ParameterKind.KEYWORD_ONLY,)


def _from(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    names = [p["name"] for p in parameters]
    first = names.index(call.names[0]) if call.names and call.names[0] in names else len(names)
    return _by_position(parameters, names[first:], _FREE, call)


def _of(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    return _by_position(parameters, call.names or (), _FREE, call)


def _but(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    allowed = call.names if call.names is not None else [p["name"] for p in parameters if p["default"] is None]
    return _by_position(parameters, {p["name"] for p in parameters} - set(allowed), _FREE, call)


def _rest(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    if any(p["kind"] == ParameterKind.VAR_POSITIONAL for p in parameters):
        return parameters
    return _by_position(parameters, {p["name"] for p in parameters}, _NAMED, call)


def _order(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    order = list(call.names or ())
    result = _by_position(parameters, order, _NAMED, call)
    positional = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)

    def place(parameter: Parameter) -> tuple[int, int]:
        if parameter["name"] in order:
            return 1, order.index(parameter["name"])
        return (0, 0) if parameter["kind"] in positional else (2, 0)

    return sorted(result, key=place)


def _add(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    names = {p["name"] for p in parameters}
    added = [p for p in _replace([], call) if p["name"] not in names]
    end = len(parameters) - sum(p["kind"] == ParameterKind.VAR_KEYWORD for p in parameters)
    return [*parameters[:end], *added, *parameters[end:]]


def _replace(parameters: list[Parameter], call: HelperCall) -> list[Parameter]:
    assert call.adds is not None
    written = read_parameters(call.adds)
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
    (function,) = parse_python(f"def _({example.signature}): ...").body
    decorator = parse_python(example.decorator, mode="eval").body
    assert isinstance(function, ast.FunctionDef)
    return apply_helpers([decorator], read_parameters(function.args), rules)


def read_parameters(arguments: ast.arguments) -> list[Parameter]:
    """Return the parameters of a signature as it is written, self included."""
    return [
        parameter_row(
            argument.arg,
            kind,
            ast.unparse(default) if default else None,
            ast.unparse(argument.annotation) if argument.annotation else None,
        )
        for argument, kind, default in declared(arguments)
    ]
