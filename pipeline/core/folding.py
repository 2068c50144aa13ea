"""Operators on constants that strangers wrote. Every result is bounded before it is computed: `9 ** 9 ** 9` is not.

Surfaces, histories and expected values are read outside the sandbox, so an expression must not cost time or memory.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

MOST_BITS = 1 << 13
"""Bits of a number: about 2,466 digits, fewer than the 4,300 that CPython converts to text."""

LONGEST = 1 << 20
"""Characters, bytes and elements that one expression makes, with its intermediate results."""

_FLOAT_BITS = 64
_LONGEST_NUMBER = 512
"""Characters of a number as text, beyond its digits in the source: `'%f' % 1e308` has 316."""

_LONGEST_ESCAPE = 10
"""Characters of one character in `repr` and `ascii`: `\\U0001f600`."""

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}
_DIGITS = re.compile(r"\d+")
_WIDTH_OF_ARGUMENT = re.compile(r"%[^a-zA-Z]*\*|\{[^{}]*\{")
"""A width that an argument gives: `%*d`, `{:{}}`."""


class TooLargeError(ValueError):
    """A result would be larger than its bound."""


class Folding:
    """Computes the operators of one expression; its results have at most LONGEST characters and elements together."""

    def __init__(self) -> None:
        self._left = LONGEST

    def spend(self, size: int) -> None:
        """Count a result of a size. Errors: TooLargeError."""
        if size > self._left:
            raise TooLargeError(f"a result of more than {LONGEST} characters and elements")
        self._left -= size

    def admit(self, value: Any) -> Any:
        """Return a result that was made without an operator, counted. Errors: TooLargeError."""
        self.spend(size_of(value))
        return value

    def operate(self, kind: type[ast.operator], left: Any, right: Any) -> Any:
        """Compute one operator. Errors: TooLargeError, before it computes; TypeError, ValueError, ArithmeticError."""
        if kind not in _OPERATORS:
            raise TypeError(f"{kind.__name__} is not computed")
        if kind is ast.Mod and isinstance(left, str | bytes):
            return self.fill(left, right if isinstance(right, tuple) else (right,), lambda: left % right)
        self.spend(_result_size(kind, left, right))
        return _OPERATORS[kind](left, right)

    def format(self, text: str, arguments: Sequence[Any]) -> str:
        """Return `text.format(*arguments)`. Errors: TooLargeError, before it computes; those of `str.format`."""
        return str(self.fill(text, arguments, lambda: text.format(*arguments)))

    def fill(self, template: str | bytes, arguments: Sequence[Any], fill: Callable[[], Any]) -> Any:
        """Fill a template if its fields cannot grow beyond the bound. Errors: TooLargeError, and those of `fill`."""
        text = template if isinstance(template, str) else template.decode("latin-1")
        widths: Iterable[int] = map(_width, _DIGITS.findall(text))
        if _WIDTH_OF_ARGUMENT.search(text):
            widths = chain(widths, (abs(argument) for argument in arguments if isinstance(argument, int)))
        longest = max((size_of(argument) for argument in arguments), default=0)
        fields = text.count("%") + text.count("{")
        field = max(widths, default=0) + _LONGEST_ESCAPE * longest + _LONGEST_NUMBER
        self.spend(len(text) + fields * field)
        return fill()


def size_of(value: Any) -> int:
    """Return how much a value holds, with all that is in it. Errors: TooLargeError for more than LONGEST."""
    match value:
        case str() | bytes() | bytearray():
            return len(value)
        case Mapping():
            return _size_of_all(chain.from_iterable(value.items()))
        case list() | tuple() | set() | frozenset():
            return _size_of_all(value)
    return 1 + _bits(value) // 8


def _size_of_all(values: Iterable[Any]) -> int:
    size = 0
    for value in values:
        size += 1 + size_of(value)
        if size > LONGEST:
            raise TooLargeError(f"a value of more than {LONGEST} characters and elements")
    return size


def _bits(number: Any) -> int:
    match number:
        case int():
            return number.bit_length()
        case Fraction(numerator=numerator, denominator=denominator):
            return numerator.bit_length() + denominator.bit_length()
    return _FLOAT_BITS


def _width(digits: str) -> int:
    return int(digits) if len(digits) < len(str(LONGEST)) else LONGEST + 1


def _result_size(kind: type[ast.operator], left: Any, right: Any) -> int:
    """Return the most that the result of an operator can hold. Errors: TooLargeError for a number beyond MOST_BITS."""
    if _is_number(left) and _is_number(right):
        bits = _result_bits(kind, left, right)
        if bits > MOST_BITS:
            raise TooLargeError(f"a number of more than {MOST_BITS} bits")
        return 1 + bits // 8
    if kind is ast.Mult:
        repeated, count = (right, left) if isinstance(left, int) else (left, right)
        return size_of(repeated) * max(count, 0) if isinstance(count, int) else 0
    return size_of(left) + size_of(right)


def _is_number(value: Any) -> bool:
    return not hasattr(value, "__len__")


def _result_bits(kind: type[ast.operator], left: Any, right: Any) -> int:
    if isinstance(right, int) and isinstance(left, int | Fraction):
        if kind is ast.LShift:
            return _bits(left) + max(right, 0)
        if kind is ast.Pow:
            return _bits(left) * max(abs(right), 1)
    return _bits(left) + _bits(right)
