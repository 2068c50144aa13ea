"""Signatures that code assigns: `__signature__` in a class, or of a function, which `inspect.signature` reports.

Read are a literal `inspect.Signature([inspect.Parameter(…), …])` and `inspect.signature(other)` of the same file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from pipeline.api.surface.parse.expressions import canonical_path, expression_text
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE, Definition, Parameter, parameter_row
from pipeline.api.surface.parse.scopes import Scope, annotation_text
from pipeline.api.surface.parse.syntax import statements, text_of
from pipeline.core.vocabularies.surface import ParameterKind

ASSIGNED = "__signature__"
"""What stands in a text that assigns signatures."""

_EMPTY = "inspect.Parameter.empty"
_KINDS = {f"inspect.Parameter.{kind.name}": kind for kind in ParameterKind}


class _Signature(NamedTuple):
    """A signature that code writes; the parameters are None where another file has them."""

    parameters: list[Parameter] | None
    returns: str | None = None


def apply_assigned(members: dict[str, Definition], scope: Scope) -> None:
    """Give the functions and classes that a scope binds the parameters that assignments in it write for them."""
    if isinstance(scope.owner, ast.Module | ast.ClassDef):
        for name, value in _assignments(scope.owner.body):
            definition = members.get(name)
            signature = _read(value, members, scope) if definition is not None else None
            if definition is not None and signature is not None:
                members[name] = _with(definition, signature)


def signature_of_class(body: Sequence[ast.stmt], scope: Scope) -> list[Parameter] | None:
    """Return the parameters that a class body writes as its `__signature__`, None if it writes none."""
    for statement in reversed(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == ASSIGNED:
                signature = _read(value, {}, scope)
                return signature.parameters if signature is not None else None
    return None


def _assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in statements(body):
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attribute)], value=value):
                if attribute == ASSIGNED:
                    yield name, value


def _with(definition: Definition, signature: _Signature) -> Definition:
    parameters = signature.parameters
    if definition.kind == "class":
        return definition if parameters is None else replace(definition, signature=parameters)
    if definition.kind != "function":
        return definition
    if parameters is None:
        return replace(definition, labels=sorted({*definition.labels, UNSEEN_SIGNATURE}))
    return replace(definition, called=parameters, returns=signature.returns, hands_on=[])


def _read(value: ast.expr, members: Mapping[str, Definition], scope: Scope) -> _Signature | None:
    match value:
        case ast.Call(func=func, args=arguments, keywords=keywords):
            maker = canonical_path(func, scope.resolve)
            options = {keyword.arg: keyword.value for keyword in keywords}
            if maker == "inspect.Signature":
                return _of_literal(arguments, options, scope)
            if maker == "inspect.signature" and not options:
                match arguments:
                    case [ast.Name(id=name)]:
                        return _of_other(members.get(name))
    return None


def _of_other(other: Definition | None) -> _Signature | None:
    if other is None or other.kind == "import":
        return _Signature(None)
    if other.kind == "function" and UNSEEN_SIGNATURE not in other.labels:
        return _Signature(other.called, other.returns)
    return _Signature(other.signature)


def _of_literal(
    arguments: Sequence[ast.expr], options: Mapping[str | None, ast.expr], scope: Scope
) -> _Signature | None:
    returns = annotation_text(options.get("return_annotation"), scope)
    match [*arguments, *([options["parameters"]] if "parameters" in options else [])]:
        case []:
            return _Signature([], returns)
        case [ast.List(elts=elements) | ast.Tuple(elts=elements)]:
            parameters = [_parameter(element, scope) for element in elements]
            complete = [parameter for parameter in parameters if parameter is not None]
            return _Signature(complete, returns) if len(complete) == len(parameters) else None
    return None


def _parameter(element: ast.expr, scope: Scope) -> Parameter | None:
    match element:
        case ast.Call(func=func, args=arguments, keywords=keywords):
            if canonical_path(func, scope.resolve) != "inspect.Parameter":
                return None
            values: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in keywords}
            values |= dict(zip(("name", "kind"), arguments, strict=False))
            name, kind = text_of(values.get("name")), values.get("kind")
            parameter_kind = _KINDS.get(canonical_path(kind, scope.resolve)) if kind is not None else None
            if name is None or parameter_kind is None:
                return None
            default, annotation = (_unless_empty(values.get(key), scope) for key in ("default", "annotation"))
            written = None if default is None else expression_text(default)
            return parameter_row(name, parameter_kind, written, annotation_text(annotation, scope))
    return None


def _unless_empty(value: ast.expr | None, scope: Scope) -> ast.expr | None:
    return None if value is None or canonical_path(value, scope.resolve) == _EMPTY else value
