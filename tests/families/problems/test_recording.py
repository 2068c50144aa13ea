"""Other inputs, and what the reference makes of them: whatever a program prints, only what was recorded is believed."""

from __future__ import annotations

import ast
import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.problems import InputChange
from pipeline.families.problems.inputs import changed_argument, further_inputs, paired_inputs
from pipeline.families.problems.program import write
from pipeline.families.problems.recording import choose, read_recorded, read_records, recorder
from pipeline.families.problems.stated_values import Outcome
from pipeline.families.problems.tasks import CaseOf, tasks_of
from tests.families.problems.examples import RULES_OF_PROBLEMS, example

CHANGED = {
    ("[1, 2]", InputChange.REVERSED): "[2, 1]",
    ("(1, 2)", InputChange.SHORTENED): "(1,)",
    ("'ab'", InputChange.REPEATED): "'abab'",
    ("'ab'", InputChange.REVERSED): None,
    ("''", InputChange.SHORTENED): None,
    ("b'ab'", InputChange.EMPTIED): "b''",
    ("{'a': 1}", InputChange.EMPTIED): "{}",
    ("{}", InputChange.EMPTIED): None,
    ("3", InputChange.INCREASED): "4",
    ("'3.4.9-rc'", InputChange.INCREASED): "'3.4.10-rc'",
    ("'ab'", InputChange.INCREASED): None,
    ("'3.4.9-rc'", InputChange.FIRST_INCREASED): "'4.4.9-rc'",
    ("'ab'", InputChange.FIRST_INCREASED): None,
    ("3", InputChange.FIRST_INCREASED): None,
    ("'abc'", InputChange.CUT_IN_FRONT): "'bc'",
    ("[1, 2]", InputChange.CUT_IN_FRONT): "[2]",
    ("''", InputChange.CUT_IN_FRONT): None,
    ("1.5", InputChange.DOUBLED): "3.0",
    ("-2", InputChange.NEGATED): "2",
    ("-2.5", InputChange.ZEROED): "0.0",
    ("0", InputChange.ZEROED): None,
    ("True", InputChange.ZEROED): None,
    ("True", InputChange.FLIPPED): "False",
    ("True", InputChange.INCREASED): None,
    ("None", InputChange.EMPTIED): None,
    ("range(3)", InputChange.INCREASED): "range(4)",
    ("dt.timedelta(days=2)", InputChange.DOUBLED): "dt.timedelta(days=4)",
    ("iter([1, 2])", InputChange.REVERSED): "iter([2, 1])",
    ("len", InputChange.EMPTIED): None,
    ("lambda x: x + 1", InputChange.INCREASED): None,
}


@pytest.mark.parametrize(("argument", "change"), CHANGED)
def test_a_changed_argument(argument: str, change: InputChange) -> None:
    assert changed_argument(argument, change) == CHANGED[argument, change]


ARGUMENTS = st.sampled_from(["3", "'ab'", "[1, 2]", "range(3)", "None", "x", "0"])


@given(st.integers(1, 4).flatmap(lambda size: st.lists(st.tuples(*[ARGUMENTS] * size), min_size=1, max_size=3)))
def test_each_further_input_differs_from_a_stated_one_in_one_argument(stated: list[tuple[str, ...]]) -> None:
    made = further_inputs(stated, list(InputChange), 1000)
    assert len(set(made)) == len(made)
    assert set(made).isdisjoint(stated)
    for each in made:
        assert any(sum(a != b for a, b in zip(each, other, strict=True)) == 1 for other in stated)
        ast.parse(f"f({', '.join(each)})")


def test_arguments_take_turns_and_values_of_other_inputs_are_exchanged() -> None:
    stated = [("1", "len"), ("5", "sum")]
    assert further_inputs(stated, [InputChange.NEGATED], 3) == [("-1", "len"), ("1", "sum"), ("-5", "sum")]


def test_pairs_of_inputs_differ_in_one_argument_and_neither_is_stated() -> None:
    """A flag has two values, and the visible test has one of them for its other arguments."""
    changes = [InputChange.FLIPPED, InputChange.EMPTIED, InputChange.SHORTENED]
    paired = paired_inputs([("[1, 2]", "True")], [1], changes, 9)
    assert paired == [("[]", "True"), ("[]", "False"), ("[1]", "True"), ("[1]", "False")]
    assert paired_inputs([("True",)], [0], changes, 9) == []
    assert paired_inputs([("[1, 2]", "True")], [], changes, 9) == []
    assert len(paired_inputs([("[1, 2]", "True")], [1], changes, 3)) == 3


def test_a_recorder_says_what_the_program_gives() -> None:
    task = tasks_of(
        example(">>> from fractions import Fraction\n>>> Fraction('1/3')\nFraction(1, 3)\n"), {"fractions"}
    ).tasks[0]
    inputs = [("'1/3'",), ("'1/0'",), ("object()",), ("4",)]
    written = write(task, (), RULES_OF_PROBLEMS)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(written.program + recorder(task, written, inputs), {})
    assert read_recorded(printed.getvalue(), inputs, RULES_OF_PROBLEMS) == [
        CaseOf(("'1/3'",), Outcome(representation="Fraction(1, 3)")),
        CaseOf(("4",), Outcome(representation="Fraction(4, 1)")),
    ]


def test_an_argument_that_cannot_be_made_is_no_result_of_the_function() -> None:
    """`raises(ValueError): solve(int(''))` would hold of every function."""
    task = tasks_of(example(">>> from fractions import Fraction\n>>> Fraction('1/3')\nFraction(1, 3)\n"), {"fractions"})
    written = write(task.tasks[0], (), RULES_OF_PROBLEMS)
    inputs = [("int('')",), ("'1/'",)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(written.program + recorder(task.tasks[0], written, inputs), {})
    told = read_records(printed.getvalue(), inputs, 100)
    assert [one.case for one in told] == [CaseOf(("'1/'",), Outcome(raises="ValueError"))]


PRINTED = {
    "a literal": ('{"number": 0, "shown": "[1]", "is_literal": true}', Outcome(value="[1]")),
    "what equals no literal": ('{"number": 0, "shown": "[1]", "is_literal": false}', Outcome(representation="[1]")),
    "an address": ('{"number": 0, "shown": "X(at 0x7f)", "is_literal": false}', None),
    "what it is": ('{"number": 0, "shown": "<X>", "is_literal": false}', None),
    "too long": ('{"number": 0, "shown": "%s", "is_literal": false}' % ("x" * 500), None),
    "no literal after all": ('{"number": 0, "shown": "f(1)", "is_literal": true}', None),
    "another number": ('{"number": 7, "shown": "1", "is_literal": true}', None),
    "no number": ('{"number": "0", "shown": "1", "is_literal": true}', None),
    "no object": ("[1]", None),
    "cut off": ('{"number": 0, "sho', None),
}


@pytest.mark.parametrize("case", PRINTED)
def test_what_a_recorder_printed_is_read_with_care(case: str) -> None:
    line, outcome = PRINTED[case]
    found = read_recorded(f"noise\ndriftline-recorded {line}\n", [("1",)], RULES_OF_PROBLEMS)
    assert found == ([CaseOf(("1",), outcome)] if outcome else [])


def test_new_results_are_tested_before_those_that_others_give_too() -> None:
    def case(argument: str, value: str) -> CaseOf:
        return CaseOf((argument,), Outcome(value=value))

    stated = [case("1", "'a'")]
    recorded = [case("1", "'a'"), case("2", "'a'"), case("3", "'b'"), case("4", "'b'"), case("5", "'c'")]
    assert [c.arguments[0] for c in choose(recorded, stated, 3)] == ["3", "5", "2"]
