"""Tests that a model may write, judged by running them in the sandbox against a real environment."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.llm.judging import RunJudge, Trial, emptied
from tests.execution.validation.conftest import installed, library, rules, sandbox  # noqa: F401 - fixtures

REFERENCE = """
from lib import Box

def grown(size, by):
    if by < 0:
        return size
    return Box(size).grow(by)
"""
OTHER = REFERENCE.replace(".grow(by)", ".grew(by)")
FAILS = (Outcome.API_MISSING, Outcome.SIGNATURE_MISMATCH, Outcome.FAILED_ASSERTION, Outcome.WRONG_EXCEPTION)
GOOD = """
from solution import grown

def test_type(): assert isinstance(grown(1, 2), int)
def test_normal(): assert grown(1, 2) == 3
def test_boundary(): assert grown(1, -1) == 1
"""


@pytest.fixture
def judge(sandbox: Sandbox, rules: ValidationRules) -> RunJudge:  # noqa: F811
    patient = rules.model_copy(update={"time_s": 60.0})
    return RunJudge(sandbox, patient, 0.965, FAILS)


def trial(environment: Environment, tests: str, other: str | None = None, name: str = "t") -> Trial:
    return Trial(name, environment, "solution", tests, REFERENCE, other)


def test_good_tests_are_accepted_and_fail_in_the_other_version(judge, installed):  # noqa: F811
    (judgement,) = judge.judge([trial(installed, GOOD, OTHER)])
    assert judgement.problem is None
    assert judgement.discriminating
    assert judgement.coverage.share == 1


CASES = {
    "wrong about the reference": (GOOD.replace("== 3", "== 4"), None, ["failed_assertion", "assert 3 == 4"]),
    "passes for an empty body": (
        "from solution import grown\ndef test(): grown(1, 2); grown(1, -1)\n",
        None,
        ["does nothing", "end as passed"],
    ),
    "no test at all": ("from solution import grown\n", None, ["with the reference"]),
    "does not parse": ("def test(: pass\n", None, ["with the reference", "syntax"]),
    "leaves a line out": (
        "from solution import grown\ndef test(): assert grown(1, 2) == 3\n",
        None,
        ["execute 4 of 5", "line 6: return size"],
    ),
    "another each time": (
        "from solution import grown\ndef test(): assert grown(1, -1) == 1 and grown(1, 2) == 3 and hash('b') % 2 == 0\n",
        None,
        ["flaky"],
    ),
    "tells nothing apart": (GOOD, REFERENCE, ["other version"]),
    "takes the program away": (
        f"{GOOD}import os, solution\nos.remove(solution.__file__)\n",
        None,
        ["could not be seen"],
    ),
    "leaves before the end": ("import os\nos._exit(0)\n", None, ["with the reference"]),
}


@pytest.mark.parametrize("case", CASES)
def test_invalid_tests_have_their_problem(judge, installed, case):  # noqa: F811
    tests, other, said = CASES[case]
    (judgement,) = judge.judge([trial(installed, tests, other)])
    assert judgement.problem is not None
    assert all(words in judgement.problem for words in said), judgement.problem


def test_a_reference_needs_a_function(judge, installed):  # noqa: F811
    tests = "from solution import X\ndef test(): assert X == 1\n"
    (judgement,) = judge.judge([Trial("t", installed, "solution", tests, "X = 1\n")])
    assert "no function" in judgement.problem


def test_code_with_missing_imports_is_classified_by_the_names_of_its_modules(judge, installed):  # noqa: F811
    other = REFERENCE.replace("import Box", "import Crate as Box")
    told = Trial("told", installed, "solution", GOOD, REFERENCE, other, import_names=["lib"])
    untold = Trial("untold", installed, "solution", GOOD, REFERENCE, other)
    assert [found.discriminating for found in judge.judge([told, untold])] == [True, False]


def test_several_are_judged_at_once_in_their_order(judge, installed):  # noqa: F811
    bad = GOOD.replace("== 3", "== 4")
    judgements = judge.judge([trial(installed, bad, name="b"), trial(installed, GOOD, name="a")])
    assert [judgement.problem is None for judgement in judgements] == [False, True]


@pytest.mark.parametrize(
    ("program", "empty"),
    [
        ("x = 1\n", None),
        ("def f(a):\n    'Doc.'\n    return a\n", "def f(a):\n    return None"),
        ("class A:\n    async def f(self): return 1\n", "class A:\n\n    async def f(self):\n        return None"),
    ],
)
def test_emptied(program, empty):
    assert emptied(program) == empty
