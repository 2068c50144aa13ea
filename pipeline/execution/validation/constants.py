"""Constants that tests expect, computed from their source without running any of it."""

from __future__ import annotations

import ast
import decimal
import fractions
import operator
import re
from collections.abc import Callable
from typing import Any

from pipeline.core.folding import MOST_BITS, Folding

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


class NotConstant(ValueError):
    """An expression is no constant that can be computed without running it."""


def constant(node: ast.expr) -> Any:
    """Return the value of literals, also signed, joined or repeated, of built-in containers of them, and of `.split()`.

    Errors: NotConstant.
    """
    try:
        return _Evaluation().value(node)
    except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError, AttributeError) as error:
        raise NotConstant(str(error)) from None


class _Evaluation:
    """Computes one expression, whose results are bounded together."""

    def __init__(self) -> None:
        self._folding = Folding()

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value) if value is not ...:
                return value
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                return {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)](map(self.value, items))
            case ast.Dict(keys, values) if None not in keys:
                return {self.value(key): self.value(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(sign, operand) if type(sign) in _SIGNS:
                return _SIGNS[type(sign)](self.value(operand))
            case ast.BinOp(left, between, right) if type(between) in _OPERATORS:
                return self._folding.operate(type(between), self.value(left), self.value(right))
            case ast.Call(ast.Name(name), arguments, []) if name in _CALLS:
                return self._folding.admit(_called(name, [*map(self.value, arguments)]))
            case ast.Call(ast.Attribute(text, "split"), arguments, []) if isinstance(
                split := self.value(text), str | bytes
            ):
                return self._folding.admit(split.split(*map(self.value, arguments)))
            case _:
                raise NotConstant(ast.unparse(node))


def _called(name: str, arguments: list[Any]) -> Any:
    if name in ("bytes", "bytearray") and arguments and isinstance(arguments[0], int):
        raise NotConstant(f"{name} of a size")
    if name == "Fraction" and any(map(_has_large_exponent, arguments)):
        raise NotConstant("Fraction of a large exponent")
    return _CALLS[name](*arguments)


def _has_large_exponent(value: Any) -> bool:
    """Return whether a fraction of a number would write out its exponent as digits: `Fraction("1e999999999")`."""
    if isinstance(value, str | decimal.Decimal):
        return any(len(digits) > 4 or int(digits) > MOST_BITS for digits in _EXPONENT.findall(str(value)))
    return False


_EXPONENT = re.compile(r"[eE][-+]?0*([\d_]+)")
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_OPERATORS = frozenset({ast.Add, ast.Sub, ast.Mult})
