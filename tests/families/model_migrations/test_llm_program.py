"""What a model wrote for another release, looked at before it runs."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.model_migrations.llm_program import BadProgram, problem_of, read_steps
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.errors import raises
from tests.families.problems.examples import example

R = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).migrated_code
OLD = example(
    ">>> from lib import total\n>>> n = 100\n>>> total([n, 23])\n123\n>>> print(total('ab'))\nabab\n", "lib.total"
)
HEAD = "from lib import summed"
GOOD = ["", "n = 100", "summed([n, 23])", "print(summed('ab'))"]


@pytest.mark.parametrize(
    ("preamble", "statements", "reason"),
    [
        (HEAD, GOOD[1:], "4"),
        (HEAD, [*GOOD[:3], "print(summed('ab')"], "statement 4"),
        ("from lib import", GOOD, "preamble"),
        (HEAD, [*GOOD[:2], "# nothing", GOOD[3]], "statement 3"),
        (HEAD, ["x = 1\n" * 100, *GOOD[1:]], "80"),
        (HEAD, ["'" + "x" * 9000 + "'", *GOOD[1:]], "8000"),
        (HEAD, ["(" * 500 + ")" * 500, *GOOD[1:]], "statement 1"),
        (HEAD, ["x = '\0'", *GOOD[1:]], "statement 1"),
    ],
)
def test_what_is_no_program_in_the_place_of_the_example_is_refused(preamble, statements, reason):
    with raises(BadProgram, reason):
        read_steps(preamble, statements, OLD, R)


@pytest.mark.parametrize(
    ("preamble", "statements", "reason"),
    [
        (HEAD, GOOD, None),
        (HEAD, [*GOOD[:2], "a = summed([n, 23])\na", GOOD[3]], None),
        ("", [check["statement"] for check in OLD["checks"]], "the same program"),
        (HEAD, [*GOOD[:2], "try:\n    summed([n, 23])\nexcept Exception:\n    pass", GOOD[3]], "try or with"),
        (HEAD, ["def total(x): return summed(x)", *GOOD[1:]], "defines a function"),
        (HEAD, [*GOOD[:2], "(lambda x: summed(x))([n, 23])", GOOD[3]], "defines a function"),
        ("import lib", [*GOOD[:2], "getattr(lib, 'summed')([n, 23])", GOOD[3]], "it uses getattr"),
        ("import sys\nfrom lib import summed", GOOD, "it uses sys"),
        ("from lib._core import summed", GOOD, "it uses _core"),
        (HEAD, [*GOOD[:2], "summed.__globals__", GOOD[3]], "it uses __globals__"),
        (HEAD, [*GOOD[:2], "123", GOOD[3]], "holds the output '123'"),
        (HEAD, [*GOOD[:2], "print(123)", GOOD[3]], "holds the output '123'"),
        (HEAD, [*GOOD[:2], "summed([123])", GOOD[3]], "holds the output '123'"),
        (HEAD, [*GOOD[:3], "print('abab')"], "holds the output 'abab'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(preamble, statements, reason):
    said = problem_of(read_steps(preamble, statements, OLD, R), OLD, R)
    assert (said is None) if reason is None else reason in (said or "")


@pytest.mark.parametrize("step", ["x = '1, 2, 3'\nx", "'1, 2, 3'.join(summed(['', '']))", "['1, 2, 3'][summed([0])]"])
def test_a_telling_output_may_stand_nowhere(step):
    old = example(">>> from lib import total\n>>> total('1')\n'1, 2, 3'\n", "lib.total")
    said = problem_of(read_steps(HEAD, ["", step], old, R), old, R)
    assert said is not None
    assert "1, 2, 3" in said


@pytest.mark.parametrize(
    ("output", "step", "refused"),
    [
        ("-12", "total(-12)", True),
        ("42", "summed([0], 42)", True),
        ("7", "summed([0], 7)", False),
        ("True", "summed([0], exact=True)", False),
        ("[]", "summed([])", False),
        ("True", "True", True),
    ],
)
def test_a_short_output_may_be_an_argument_only_where_it_says_next_to_nothing(output, step, refused):
    old = example(f">>> from lib import total\n>>> total('1')\n{output}\n", "lib.total")
    assert (problem_of(read_steps(HEAD, ["", step], old, R), old, R) is not None) == refused


def test_a_statement_that_became_two_gives_its_output_with_the_second_and_comments_are_gone():
    steps = read_steps(HEAD, [*GOOD[:2], "a = n  # 100\nsummed([a, 23])", GOOD[3]], OLD, R)
    checks = steps.checks(OLD)
    assert [(check["statement"], check["expected"]) for check in checks] == [
        ("n = 100\n", None),
        ("a = n\n", None),
        ("summed([a, 23])\n", "123\n"),
        ("print(summed('ab'))\n", "abab\n"),
    ]
    assert steps.code == "".join(check["statement"] for check in checks)
