"""Signatures as they are written: the parameters of a `def`, and an overload as it is shown to people."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from pipeline.api.surface.parse.expressions import expression_text
from pipeline.api.surface.parse.module_model import Parameter, parameter_row
from pipeline.api.surface.parse.scopes import Bound, Scope, annotation_text
from pipeline.api.surface.parse.syntax import Function
from pipeline.core.vocabularies.surface import ParameterKind

_POSITIONAL = {ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD}


def written_parameters(node: Function, scope: Scope) -> list[Parameter]:
    """Return the parameters of a function, self included, in the order in which they are written."""
    return [
        parameter_row(
            argument.arg,
            kind,
            None if default is None else expression_text(default),
            annotation_text(argument.annotation, scope),
        )
        for argument, kind, default in declared(node.args)
    ]


def declared(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ParameterKind, ast.expr | None]]:
    """Yield the parameters of a signature with kind and default, in the order in which they are written."""
    # defaults belong to the last of the positional ones
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    defaults = chain(repeat(None, required), arguments.defaults)
    # `zip` takes no default more than there are arguments, as those stand first
    for argument, default in zip(arguments.posonlyargs, defaults, strict=False):
        yield argument, ParameterKind.POSITIONAL_ONLY, default
    for argument, default in zip(arguments.args, defaults, strict=True):
        yield argument, ParameterKind.POSITIONAL_OR_KEYWORD, default
    if arguments.vararg is not None:
        yield arguments.vararg, ParameterKind.VAR_POSITIONAL, None
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument, ParameterKind.KEYWORD_ONLY, default
    if arguments.kwarg is not None:
        yield arguments.kwarg, ParameterKind.VAR_KEYWORD, None


def overload_text(overload: Bound) -> str:
    """Return the signature of an overload as people write it: `(a: int, b: str = ...) -> X`, without self."""
    node, scope = overload.node, overload.scope
    assert isinstance(node, Function)
    assert scope is not None
    parameters = written_parameters(node, scope)
    in_class = isinstance(scope.owner, ast.ClassDef) and "staticmethod" not in overload.labels
    if in_class and parameters and parameters[0]["kind"] in _POSITIONAL:
        parameters = parameters[1:]
    returns = annotation_text(node.returns, scope)
    return f"({', '.join(_parameter_texts(parameters))})" + (f" -> {returns}" if returns else "")


def _parameter_texts(parameters: Sequence[Parameter]) -> list[str]:
    texts: list[str] = []
    for position, parameter in enumerate(parameters):
        kind, before = parameter["kind"], parameters[position - 1]["kind"] if position else None
        if before == ParameterKind.POSITIONAL_ONLY and kind != before:
            texts.append("/")
        if kind == ParameterKind.KEYWORD_ONLY and before not in {kind, ParameterKind.VAR_POSITIONAL}:
            texts.append("*")
        texts.append(_parameter_text(parameter))
    if parameters and parameters[-1]["kind"] == ParameterKind.POSITIONAL_ONLY:
        texts.append("/")
    return texts


def _parameter_text(parameter: Parameter) -> str:
    stars: dict[str, str] = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
    name = stars.get(parameter["kind"], "") + parameter["name"]
    annotation, default = parameter["annotation"], parameter["default"]
    if annotation is None:
        return name if default is None else f"{name}={default}"
    return f"{name}: {annotation}" + ("" if default is None else f" = {default}")
