"""Parameters that a body takes out of `*args`: `self, command = args[:2]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from more_itertools import first

from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.module_model import Parameter, parameter_row
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource


def with_unpacked(called: list[Parameter], body: Body) -> list[Parameter]:
    """Return parameters with those that a body unpacks `*args` into, whatever it is called with.

    A caller gives them by position only, and must give them.
    """
    variadic = body.node.args.vararg
    if variadic is None or not body.mentions((f"= {variadic.arg}",)):
        return called
    unpacked = body.once(_unpacked)
    place = first(n for n, parameter in enumerate(called) if parameter["kind"] == ParameterKind.VAR_POSITIONAL)
    names = {parameter["name"] for parameter in called}
    if unpacked is None or names & {*unpacked[0]}:
        return called
    positional = [
        parameter_row(name, ParameterKind.POSITIONAL_ONLY, source=ParameterSource.ARGS) for name in unpacked[0]
    ]
    before = [p | {"kind": ParameterKind.POSITIONAL_ONLY} for p in called[:place]] if positional else called[:place]
    return [*before, *positional, *called[place + (not unpacked[1]) :]]


def _unpacked(body: Body) -> tuple[list[str], bool] | None:
    """Return the names that a body unpacks `*args` into, and whether more may be given; None where it does not."""
    variadic = body.node.args.vararg
    assert variadic is not None
    for statement in body.statements:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)], value=value):
                return _names(targets, value, variadic.arg)
            case ast.If(body=[*_, ast.Raise()], orelse=[]) | ast.Expr():
                # a check of what was given, or a call
                continue
            case _:
                return None
    return None


def _names(targets: list[ast.expr], value: ast.expr, variadic: str) -> tuple[list[str], bool] | None:
    names = list(_plain(targets))
    match targets[-1:], value:
        case [ast.Starred()], ast.Name(id=name) if name == variadic and len(names) == len(targets) - 1:
            return names, True
        case _, ast.Name(id=name) if name == variadic and len(names) == len(targets):
            return names, False
        case _, ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(lower=None, upper=ast.Constant(value=upper))):
            if name == variadic and upper == len(targets) == len(names):
                return names, True
    return None


def _plain(targets: list[ast.expr]) -> Iterator[str]:
    yield from (target.id for target in targets if isinstance(target, ast.Name))
