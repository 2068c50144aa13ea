"""Operators on constants of strangers: the right value, or a refusal before time or memory is spent."""

from __future__ import annotations

import ast
import operator
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.normalize import literal
from pipeline.core.folding import LONGEST, MOST_BITS, Folding, TooLargeError, size_of
from pipeline.execution.validation.constants import NotConstant, constant

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod}
_NUMBERS = st.integers(-(1 << 64), 1 << 64) | st.floats(allow_nan=False)


@given(st.sampled_from([*_OPERATORS]), _NUMBERS, _NUMBERS)
def test_small_numbers_are_computed_as_python_does(kind: type[ast.operator], left: float, right: float) -> None:
    try:
        expected = _OPERATORS[kind](left, right)
    except ArithmeticError as error:
        with pytest.raises(type(error)):
            Folding().operate(kind, left, right)
        return
    result = Folding().operate(kind, left, right)
    assert (type(result), repr(result)) == (type(expected), repr(expected))


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        (ast.Pow, 9, 1 << 20),
        (ast.Pow, 9**256, 256),
        (ast.Pow, 2, -(1 << 40)),
        (ast.LShift, 1, 1 << 40),
        (ast.Mult, "a", LONGEST + 1),
        (ast.Mult, 1 << 40, [1]),
        (ast.Mult, "ab" * 1000, 1000),
        (ast.Mod, "%999999999d", 1),
        (ast.Mod, "%*d", (999999999, 1)),
        (ast.Add, "a" * LONGEST, "b"),
    ],
)
def test_what_would_be_large_is_refused_without_being_made(
    kind: type[ast.operator], left: object, right: object
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            Folding().operate(kind, left, right)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["{:999999999}", "{:{}}", "{0:>{1}}"])
def test_a_format_with_a_large_width_is_refused(text: str) -> None:
    with pytest.raises(TooLargeError):
        Folding().format(text, ["a", 999999999])


def test_the_largest_number_is_computed_and_the_next_one_is_not() -> None:
    assert Folding().operate(ast.LShift, 1, MOST_BITS - 1) == 1 << (MOST_BITS - 1)
    with pytest.raises(TooLargeError):
        Folding().operate(ast.LShift, 1, MOST_BITS)


def test_results_of_one_expression_are_bounded_together() -> None:
    folding = Folding()
    for _ in range(4):
        folding.operate(ast.Mult, "a", LONGEST // 4)
    with pytest.raises(TooLargeError):
        folding.operate(ast.Mult, "a", 1)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_size_is_at_least_that_of_all_text_in_a_value(value: object) -> None:
    def characters(each: object) -> int:
        match each:
            case str():
                return len(each)
            case list():
                return sum(map(characters, each))
            case dict():
                return sum(map(characters, [*each, *each.values()]))
        return 0

    assert size_of(value) >= characters(value)


_TOWER = "((((9**256)**256)**256)**256)**256"


@pytest.mark.parametrize("text", [_TOWER, "'a' * 10**12", "1 << 10**12", "'%999999999d' % 1"])
def test_defaults_and_expected_values_of_strangers_end_at_once(text: str) -> None:
    assert literal(text) is None
    with pytest.raises(NotConstant):
        constant(ast.parse(text, mode="eval").body)


def test_a_fraction_with_a_large_exponent_is_no_constant() -> None:
    with pytest.raises(NotConstant):
        constant(ast.parse("Fraction('1e999999999')", mode="eval").body)
