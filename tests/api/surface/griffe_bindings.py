"""What griffe's visitor says that a module binds, and what our walk says, as facts that can be compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

from pipeline.api.surface.extract.bindings import bind_names
from pipeline.api.surface.extract.written_signatures import overload_text, written_parameters
from pipeline.api.surface.parse.cleaning import read_docstring
from pipeline.api.surface.parse.conditions import settle_branches
from pipeline.api.surface.parse.expressions import expression_text
from pipeline.api.surface.parse.scopes import Bound, Scope, annotation_text
from pipeline.api.surface.parse.syntax import Function
from tests.api.surface.trees import SURFACE_RULES

Facts = dict[str, Any]


class _Settled(griffe.Extensions):
    """Settles the branches of a module before griffe visits it, as the surface does."""

    def call(self, event: str, **kwargs: Any) -> None:
        if event == "on_module_node":
            settle_branches(kwargs["node"], SURFACE_RULES)


class _Visitor(griffe.Visitor):
    """griffe's visitor without native pruning, which would leave the hook out."""


def facts_of_griffe(module: str, file: Path, text: str) -> dict[str, Facts]:
    """Return what griffe finds in a source, by path from the module, in its order."""
    parent: griffe.Module | None = None
    segments = module.split(".")
    for segment in segments[:-1]:
        parent = griffe.Module(segment, filepath=Path("above", "__init__.py"), parent=parent)
    visited = _Visitor(segments[-1], file, text, _Settled(), parent).get_module()
    return dict(_griffe_members("", visited))


def facts_of_walk(module: str, file: Path, text: str) -> dict[str, Facts]:
    """Return what `bind_names` finds in a source, by path from the module, in its order."""
    tree = ast.parse(text)
    settle_branches(tree, SURFACE_RULES)
    return dict(_walk_members("", bind_names(tree, module, file.stem == "__init__", whole=True)[0]))


def _griffe_members(path: str, owner: griffe.Module | griffe.Class) -> Iterator[tuple[str, Facts]]:
    for name, member in owner.members.items():
        yield f"{path}{name}", _griffe_facts(member)
        if isinstance(member, griffe.Class):
            yield from _griffe_members(f"{path}{name}.", member)
    for name, overloads in owner.overloads.items():
        if overloads:
            yield f"{path}{name} overloads", {"shown": [_griffe_shown(overload) for overload in overloads]}


def _griffe_facts(member: griffe.Object | griffe.Alias) -> Facts:
    if isinstance(member, griffe.Alias):
        return {"target": member.target_path, "runtime": member.runtime}
    found: Facts = {
        "runtime": member.runtime,
        "labels": member.labels,
        "docstring": member.docstring.value or None if member.docstring else None,
    }
    if isinstance(member, griffe.Class):
        return found | {"bases": [str(base) for base in member.bases]}
    if isinstance(member, griffe.Function):
        called = [_griffe_parameter(parameter) for parameter in member.parameters]
        shown = [_griffe_shown(overload) for overload in member.overloads or ()]
        return found | {"called": called, "annotation": _text(member.returns), "overloads": shown}
    assert isinstance(member, griffe.Attribute)
    return found | {"annotation": _text(member.annotation), "value": _text(member.value)}


def _griffe_parameter(parameter: griffe.Parameter) -> tuple[str | None, ...]:
    variadic = parameter.kind in {griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword}
    default = None if variadic else _text(parameter.default)
    return parameter.name.lstrip("*"), parameter.kind and parameter.kind.name, default, _text(parameter.annotation)


def _griffe_shown(overload: griffe.Function) -> list[Any]:
    return [*(_griffe_parameter(parameter) for parameter in overload.parameters), _text(overload.returns)]


def _text(expression: str | griffe.Expr | None) -> str | None:
    return None if expression is None else str(expression)


def _walk_members(path: str, owner: Scope) -> Iterator[tuple[str, Facts]]:
    for name, bound in owner.bound.items():
        yield f"{path}{name}", _walk_facts(bound)
        if isinstance(bound.node, ast.ClassDef) and bound.scope is not None:
            yield from _walk_members(f"{path}{name}.", bound.scope)
    for name, overloads in owner.overloads.items():
        yield f"{path}{name} overloads", {"shown": [_walk_shown(overload) for overload in overloads]}


def _walk_facts(bound: Bound) -> Facts:
    if bound.target is not None:
        return {"target": bound.target, "runtime": bound.runtime}
    found: Facts = {
        "runtime": bound.runtime,
        "labels": bound.labels,
        "docstring": read_docstring(bound.described[0], "")[0],
    }
    match bound.node:
        case ast.ClassDef(bases=bases):
            return found | {"bases": [expression_text(base) for base in bases]}
        case ast.FunctionDef() | ast.AsyncFunctionDef() as node if "property" in bound.labels:
            assert bound.scope is not None
            return found | {"annotation": annotation_text(node.returns, bound.scope), "value": None}
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            *called, returns = _walk_shown(bound)
            shown = [_walk_shown(overload) for overload in bound.overloads]
            return found | {"called": called, "annotation": returns, "overloads": shown}
    value = None if bound.value is None else expression_text(bound.value)
    return found | {"annotation": bound.annotation, "value": value}


def _walk_shown(bound: Bound) -> list[Any]:
    assert isinstance(bound.node, Function)
    assert bound.scope is not None
    assert overload_text(bound)
    called = written_parameters(bound.node, bound.scope)
    parameters = [(p["name"], str(p["kind"]), p["default"], p["annotation"]) for p in called]
    return [*parameters, annotation_text(bound.node.returns, bound.scope)]
