"""Hidden tests are chosen so that no parameter can be ignored, and mutants fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.families.problems.selecting import constant_parameters, put_together, score_of, select_cases
from pipeline.families.problems.stated_values import Outcome
from pipeline.families.problems.tasks import CaseOf


def case(value: int, *arguments: int) -> CaseOf:
    return CaseOf(tuple(map(str, arguments)), Outcome(value=str(value)))


def test_a_parameter_is_varied_by_two_cases_that_differ_in_it_alone_and_in_the_result() -> None:
    names = ("a", "b")
    assert constant_parameters([case(1, 1, 1), case(2, 2, 2)], names) == ["a", "b"]
    assert constant_parameters([case(1, 1, 1), case(2, 2, 1)], names) == ["b"]
    assert constant_parameters([case(1, 1, 1), case(2, 2, 1), case(1, 1, 2)], names) == ["b"]
    assert constant_parameters([case(1, 1, 1), case(2, 2, 1), case(3, 1, 2)], names) == []


def test_cases_that_vary_a_parameter_come_first_and_then_those_that_kill() -> None:
    tested, plain = [case(1, 1, 1)], case(1, 5, 1)
    varying, killing = [case(2, 2, 1), case(3, 1, 2)], case(9, 9, 9)
    kills = [frozenset({killing.arguments}), frozenset()]
    assert select_cases(tested, [plain, killing, *varying], kills, 0) == varying
    assert select_cases(tested, [plain, killing, *varying], kills, 3) == [*varying, killing]
    assert select_cases(tested, [plain, killing, *varying], kills, 9) == [*varying, killing, plain]
    assert select_cases(tested, [], kills, 9) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True), st.data())
def test_no_function_of_fewer_parameters_passes_what_is_chosen(
    inputs: list[tuple[int, int]], data: st.DataObject
) -> None:
    cases = [case(data.draw(st.integers(0, 1)), *arguments) for arguments in inputs]
    chosen = select_cases([], cases, [], 0)
    assert constant_parameters(chosen, ("a", "b")) == constant_parameters(cases, ("a", "b"))
    for number in set(range(2)) - {"ab".index(name) for name in constant_parameters(cases, ("a", "b"))}:
        ignoring = {one.arguments[1 - number]: one.outcome for one in chosen}
        assert any(ignoring[one.arguments[1 - number]] != one.outcome for one in chosen)


def test_a_mutant_is_equivalent_only_after_more_inputs_than_the_tests_hold() -> None:
    tested, inputs = [case(1, 1)], [(str(number),) for number in range(4)]
    killing = [frozenset({("1",)}), frozenset({("2",)}), frozenset[tuple[str, ...]]()]
    assert score_of(tested, inputs, killing, 3).columns == {
        "mutants": 3, "mutants_killed": 1, "mutants_equivalent": 1, "mutation_score": 0.5,
    }  # fmt: skip
    assert score_of(tested, inputs, killing, 4).share == 0.3333


@pytest.mark.parametrize(
    ("cases", "expression"),
    [
        ([(("'NaN'",), "(None, 'NaN')"), (("'x'",), "(None, 'x')"), (("None",), "(None, None)")], "(None, a)"),
        ([(("'mouse'", "'mice'"), "('mouse', 'mice')"), (("'x'", "'y'"), "('x', 'y')")], "(a, b)"),
        ([(("'mouse'", "'mice'"), "('mouse', 'mice')"), (("''", "'mice'"), "('', 'mice')")], "(a, b)"),
        ([(("[0, 1]", "1"), "[0, 1]"), (("[2]", "1"), "[2]"), (("[0, 1]", "0"), "[1]")], None),
        ([(("1",), "[1]"), (("2",), "[3]")], None),
        ([(("[1, 2]",), "[2, 1]"), (("[]",), "[]")], None),
        ([(("1",), "7"), (("2",), "7")], "7"),
        ([(("1",), "7"), (("2",), None)], None),
        ([], None),
    ],
)
def test_what_only_puts_its_parameters_together(
    cases: list[tuple[tuple[str, ...], str | None]], expression: str | None
) -> None:
    given = [
        CaseOf(arguments, Outcome(value=value, representation=None if value else "X")) for arguments, value in cases
    ]
    assert put_together(given, ("a", "b")[: len(given[0].arguments) if given else 0]) == expression
