"""Tests of four kinds from what examples state and references were recorded to give."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.functions import TestKind
from pipeline.families.functions.function import Tests, read_tests
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.functions.testing import evidence_of, inputs_of, write_tests
from pipeline.families.problems.program import ProblemProgram, write
from pipeline.families.problems.recording import Recorded
from pipeline.families.problems.stated_values import Outcome
from pipeline.families.problems.tasks import CaseOf, Task, tasks_of
from tests.errors import raises
from tests.families.problems.examples import RULES_OF_PROBLEMS, example

LIMITS = load(RULES / "functions.yaml", FunctionRules)
VALUE_ERROR = "Traceback (most recent call last):\nValueError: no\n"


def task_of(docstring: str) -> tuple[Task, ProblemProgram]:
    (task,) = tasks_of(example(docstring), {"lib"}).tasks
    return task, write(task, (), RULES_OF_PROBLEMS)


def told(argument: str, outcome: Outcome, type_name: str | None = "str") -> Recorded:
    return Recorded(CaseOf((argument,), outcome), type_name)


def value(text: str) -> Outcome:
    return Outcome(value=text)


def made(docstring: str, recorded: list[Recorded]) -> Tests:
    task, written = task_of(docstring)
    evidence = evidence_of(task, inputs_of(task, LIMITS), recorded, LIMITS)
    return write_tests(task, written, evidence, LIMITS, "function_f", ["lib"])


LOUD = ">>> import lib\n>>> lib.loud('ab')\n'AB'\n"
NUMBER = LOUD.replace("'ab'", "3")
STATED = told("'ab'", value("'AB'"))


def test_each_kind_has_a_test_of_its_own() -> None:
    tests = made(LOUD, [STATED, told("''", value("'!'")), told("'a'", value("'A'")), told("'abab'", value("'ABAB'"))])
    head, _, last = tests.text.partition("\n\ndef without_library(")
    assert head == (
        "import pytest\nfrom function_f import solve\n\n\n"
        "def test_return_type_1():\n    assert isinstance(solve('ab'), str)\n\n\n"
        "def test_normal_input_1():\n    assert solve('ab') == 'AB'\n\n\n"
        "def test_boundary_values_1():\n    assert solve('') == '!'\n\n\n"
        "def test_functionality_1():\n    assert solve('a') == 'A'\n\n\n"
        "def test_functionality_2():\n    assert solve('abab') == 'ABAB'\n"
    )
    assert last.endswith(
        "def test_needs_library():\n    with pytest.raises(Exception):\n        without_library('ab')\n"
    )
    assert (tests.missing_kinds, read_tests(tests.text)) == ((), tests)


def test_a_function_of_a_path_needs_that_api_or_else_the_library() -> None:
    task, written = task_of(LOUD)
    recorded = [STATED, told("''", value("'!'"))]
    evidence = evidence_of(task, inputs_of(task, LIMITS), recorded, LIMITS)
    tests = write_tests(task, written, evidence, LIMITS, "function_f", ["lib"], ["lib.loud"])
    assert tests.text.endswith("def test_needs_api():\n    with pytest.raises(Exception):\n        without_api('ab')\n")
    assert read_tests(tests.text) == tests
    assert "test_needs_api" not in tests.kinds
    assert "without_library" not in tests.text


EDGES: dict[str, tuple[str, list[Recorded], str | None]] = {
    "a value goes before an exception": (
        NUMBER,
        [told("3", value("'AB'")), told("0", Outcome(raises="TypeError"), None), told("-3", value("'!'"))],
        "solve(-3) == '!'",
    ),
    "a refusal": (LOUD, [told("''", Outcome(raises="TypeError"), None)], "with pytest.raises(TypeError):"),
    "what tells how it is written": (LOUD, [told("''", Outcome(raises="AttributeError"), None)], None),
    "what an empty body gives too": (LOUD, [told("''", value("None"), "NoneType")], None),
    "nothing": (LOUD, [], None),
    "a stated exception goes before all": (
        f"{LOUD}>>> lib.loud('x')\n{VALUE_ERROR}",
        [told("'x'", Outcome(raises="ValueError"), None), told("''", value("'!'"))],
        "with pytest.raises(ValueError):\n        solve('x')",
    ),
    "a stated exception that does not come": (
        f"{LOUD}>>> lib.loud('x')\n{VALUE_ERROR}", [told("'x'", value("'X'"))], None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EDGES)
def test_boundary_values(case: str) -> None:
    docstring, recorded, expected = EDGES[case]
    tests = made(docstring, [STATED, *recorded])
    assert (TestKind.BOUNDARY_VALUES in tests.missing_kinds) == (expected is None)
    assert (expected or "") in tests.text


TYPES = {
    "bool": "assert isinstance(solve('ab'), bool)",
    "Version": "assert type(solve('ab')).__name__ == 'Version'",
    "len": "assert type(solve('ab')).__name__ == 'len'",  # a name that is built in, and no type
}


@pytest.mark.parametrize("name", TYPES)
def test_return_types(name: str) -> None:
    assert TYPES[name] in made(LOUD, [told("'ab'", value("'AB'"), name)]).text


def test_what_does_not_hold_is_no_test_and_what_nothing_gives_is_told() -> None:
    tests = made(LOUD, [told("'ab'", value("'ab'")), told("'a'", Outcome(raises="ValueError"), None)])
    assert (tests.counts, tests.missing_kinds) == ({}, tuple(TestKind))


def test_further_stated_values_go_before_recorded_ones_and_no_more_than_the_rules_take() -> None:
    inputs = ["'c'", "'a'", "'b'", "'d'", "'e'", "'f'"]
    stated = "".join(f">>> lib.loud({one})\n{one.upper()}\n" for one in inputs)
    recorded = [STATED, *(told(one, value(one.upper())) for one in inputs), told("'abab'", value("'ABAB'"))]
    tests = made(LOUD + stated, recorded)
    assert tests.counts[TestKind.FUNCTIONALITY] == LIMITS.tests[TestKind.FUNCTIONALITY] == 5
    assert "'ABAB'" not in tests.text


TRIVIAL = {
    "two values": ("assert f(1) == 2", "assert f(2) == 3", None),
    "one value": ("assert f(1) == [2]", "assert f(2) == [2]", "return [2] whatever it gets"),
    "one of identity": ("assert f(1) is True", "assert f(2) is True", "return True whatever it gets"),
    "one value, and an exception": (
        "assert f(1) == 2",
        "with pytest.raises(ValueError):\n        f(2)",
        "return 2 whatever it gets",
    ),
    "one value, and a test that may say more": ("assert f(1) == 2", "assert f(2) > 1", None),
    "two asserts in a test": ("assert f(1) == 2\n    assert f(0) == 1", "assert f(2) == 2", None),
    "what is given": ("assert f(1, 'a') == 'a'", "assert f(1, '') == ''", "return argument 2 as it is"),
    "once what is given": ("assert f('a') == 'a'", "assert f('b') == 'c'", None),
    "nothing compared": ("f(1)", "with pytest.raises(ValueError):\n        f(2)", None),
}


@pytest.mark.parametrize("case", TRIVIAL)
def test_whether_a_body_could_do_without_any_work(case: str) -> None:
    first, second, expected = TRIVIAL[case]
    typed = "def test_return_type_1():\n    assert isinstance(f(1), int)\n"
    text = f"{typed}def test_normal_input_1():\n    {first}\ndef test_functionality_1():\n    {second}\n"
    assert read_tests(text).trivial == expected


def test_a_test_without_a_kind_is_an_error() -> None:
    with raises(ValueError, "test_it", "return_type"):
        read_tests("def test_it():\n    pass\n")
