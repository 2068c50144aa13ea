"""Constants that tests expect, computed from their source without running any of it."""

from __future__ import annotations

import ast
import decimal
import fractions
import operator
from collections.abc import Callable
from typing import Any

_CALLS: dict[str, Callable[..., Any]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "complex": complex,
    "dict": dict,
    "float": float,
    "frozenset": frozenset,
    "list": list,
    "set": set,
    "tuple": tuple,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
}
_LONGEST = 1 << 20


class NotConstant(ValueError):
    """An expression is no constant that can be computed without running it."""


def constant(node: ast.expr) -> Any:
    """Return the value of literals, also signed, joined or repeated, of built-in containers of them, and of `.split()`.

    Errors: NotConstant.
    """
    try:
        return _value(node)
    except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError, AttributeError) as error:
        raise NotConstant(str(error)) from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value) if value is not ...:
            return value
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)](map(_value, items))
        case ast.Dict(keys, values) if None not in keys:
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(sign, operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left, between, right) if type(between) in _OPERATORS:
            return _OPERATORS[type(between)](_value(left), _value(right))
        case ast.Call(ast.Name(name), arguments, []) if name in _CALLS:
            return _called(name, [*map(_value, arguments)])
        case ast.Call(ast.Attribute(text, "split"), arguments, []) if isinstance(split := _value(text), str | bytes):
            return split.split(*map(_value, arguments))
        case _:
            raise NotConstant(ast.unparse(node))


def _called(name: str, given: list[Any]) -> Any:
    if name in ("bytes", "bytearray") and given and isinstance(given[0], int):
        raise NotConstant(f"{name} of a size")
    return _CALLS[name](*given)


def _repeated(left: Any, right: Any) -> Any:
    """Return a product, of which a sequence does not grow without bound."""
    sized = next((each for each in (left, right) if not isinstance(each, int | float | complex)), None)
    if (
        sized is not None
        and isinstance(count := left if sized is right else right, int)
        and len(sized) * count > _LONGEST
    ):
        raise NotConstant("too long")
    return left * right


_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _repeated,
}
