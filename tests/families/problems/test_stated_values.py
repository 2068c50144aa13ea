"""What examples state, as outcomes that a test can compare."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.families.problems.slices import Step
from pipeline.families.problems.stated_values import Outcome, expected_result, outcome_of_literal

STATED = {
    "a literal": ("f(1)", "[1, 2]\n", "f(1)", Outcome(value="[1, 2]")),
    "a text of Python 2": ("f(1)", "u'a'\n", "f(1)", Outcome(value="'a'")),
    "several lines": ("f(1)", "[1,\n 2]\n", "f(1)", Outcome(value="[1, 2]")),
    "a representation": ("f(1)", "Markup('a')\n", "f(1)", Outcome(representation="Markup('a')")),
    "a comparison": ("f(1) == [2]", "True\n", "f(1)", Outcome(value="[2]")),
    "is None": ("f(1) is None", "True\n", "f(1)", Outcome(value="None")),
    "a comparison with a collection": ("f(1) == set([2])", "True\n", "f(1)", Outcome(value="{2}")),
    "a comparison that fails": ("f(1) == 2", "False\n", "f(1) == 2", Outcome(value="False")),
    "a comparison with what is no literal": ("f(1) == f(2)", "True\n", "f(1) == f(2)", Outcome(value="True")),
    "printed": ("print(f(1))", "a b\n", "str(f(1))", Outcome(value="'a b'")),
    "printed in several lines": ("print(f(1))", "a\n<BLANKLINE>\nb\n", "str(f(1))", Outcome(value="'a\\n\\nb'")),
    "an exception": (
        "f(1)", "Traceback (most recent call last):\n  ...\nValueError: no: good\n", "f(1)", Outcome(raises="ValueError"),
    ),
}  # fmt: skip

VAGUE = {
    "nothing": ("f(1)", None),
    "left out": ("f(1)", "[1, ..., 9]\n"),
    "an address": ("f(1)", "Thing(<object at 0x7f3a00>)\n"),
    "what it is": ("f(1)", "<generator>\n"),
    "an exception of the library": ("f(1)", "Traceback (most recent call last):\n  ...\nlib.LibError: no\n"),
    "several things printed": ("print(f(1), f(2))", "a b\n"),
    "printed with an end": ("print(f(1), end='')", "a\n"),
    "an assignment": ("x = f(1)", None),
}


def step(statement: str, expected: str | None) -> Step:
    return Step(ast.parse(statement).body[0], expected, frozenset(), frozenset(), frozenset({"f"}), of_library=True)


@pytest.mark.parametrize("case", STATED)
def test_what_is_stated(case: str) -> None:
    statement, expected, expression, outcome = STATED[case]
    stated = expected_result(step(statement, expected))
    assert stated is not None
    assert (ast.unparse(stated.expression), stated.outcome) == (expression, outcome)


@pytest.mark.parametrize("case", VAGUE)
def test_what_no_test_could_compare(case: str) -> None:
    assert expected_result(step(*VAGUE[case])) is None


@pytest.mark.parametrize(
    ("statement", "expected", "expression", "value"),
    [
        ("print(f(1))", "[1, 2]\n", "f(1)", "[1, 2]"),
        ("print(f(1))", "None\n", "f(1)", "None"),
        ("print(f(1) == 3)", "True\n", "f(1)", "3"),
        ("print(f(1))", "a b\n", "str(f(1))", "'a b'"),
        ("print(f(1))", "'a'\n", "str(f(1))", "\"'a'\""),
    ],
)
def test_what_is_printed_as_a_literal_would_be_is_that_value(
    statement: str, expected: str, expression: str, value: str
) -> None:
    stated = expected_result(step(statement, expected), printed_values=True)
    assert stated is not None
    assert (ast.unparse(stated.expression), stated.outcome) == (expression, Outcome(value=value))


def test_an_assertion_states_its_value() -> None:
    stated = expected_result(step("assert f(1) == {'a': 2}", None))
    assert stated is not None
    assert stated.outcome == Outcome(value="{'a': 2}")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values)
def test_a_literal_comes_back(value: object) -> None:
    outcome = outcome_of_literal(repr(value))
    assert outcome is not None
    assert outcome.value is not None
    assert ast.literal_eval(outcome.value) == value


@given(st.text(max_size=60))
def test_any_output_is_read_or_left(text: str) -> None:
    stated = expected_result(step("f(1)", text))
    if stated is not None:
        chosen = (stated.outcome.value, stated.outcome.representation, stated.outcome.raises)
        assert sum(each is not None for each in chosen) == 1
