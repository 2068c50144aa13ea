"""Tests parted into inputs and expectations: what can be, what cannot, and that no expectation is sent along."""

from __future__ import annotations

import json

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.cases import Case, specifications
from pipeline.execution.validation.observations import judge_tests
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.splitting import Parted, part, unparted

HEAD = "import pytest\nfrom solution import f\n"
PARTED = {
    "equal": ("assert f(1) == 'secret'", [("value", "f(1)", "==", "'secret'")]),
    "turned round": ("assert 'secret' in f(1)", [("value", "f(1)", "contains", "'secret'")]),
    "representation": (
        "assert repr(f(1)).split() == 'secret b'.split()",
        [("value", "repr(f(1)).split()", "==", "'secret b'.split()")],
    ),
    "type": ("assert isinstance(f(1), list)", [("value", "f(1)", "type", "('list',)")]),
    "raises what a module has": (
        "import requests\nfrom requests import ConnectionError as Gone\n"
        "with pytest.raises((Gone, requests.Timeout)):\n    f(1)",
        [
            ("run", "import requests", "", ""),
            ("run", "from requests import ConnectionError as Gone", "", ""),
            ("run", "f(1)", "raises", "('requests.ConnectionError', 'requests.Timeout')"),
        ],
    ),
    "raises": ("with pytest.raises(KeyError):\n    f(1)", [("run", "f(1)", "raises", "('KeyError',)")]),
    "warns": ("with pytest.warns(FutureWarning):\n    f(1)", [("warned", "f(1)", "warns", "('FutureWarning',)")]),
    "near": ("assert f(1) == pytest.approx(5.5)", [("value", "f(1)", "==", "approx(5.5, None, None)")]),
    "both": ("assert f(1) is None and f(2)", [("value", "f(1)", "is", "None"), ("value", "f(2)", "truth", "True")]),
    "named": ("wanted = ['secret']\nassert f(1) == wanted", [("value", "f(1)", "==", "['secret']")]),
    "prepared": ("x = [1]\nx.sort()\nassert f(x) == 2", [("run", "x = [1]", "", ""), ("run", "x.sort()", "", ""), ("value", "f(x)", "==", "2")]),
    "loop": ("for x, y in [(1, 'secret'), (2, 'b')]:\n    assert f(x) == y", [("run", "x = 1", "", ""), ("value", "f(x)", "==", "'secret'"), ("run", "x = 2", "", ""), ("value", "f(x)", "==", "'b'")]),
}  # fmt: skip
NOT_PARTED = {
    "a computed expectation": "assert f(1) == sorted([2, 1])",
    "a constant in a question": "assert f(1).startswith('secret')",
    "a helper's question": "from math import isclose\n    assert isclose(f(1), 5.5)",
    "two results": "assert f(1) == f(2)",
    "a condition": "if f(1):\n        assert f(2) == 1",
    "an exception's text": "with pytest.raises(KeyError, match='secret'):\n        f(1)",
    "nothing": "f(1)",
}


@pytest.mark.parametrize("name", PARTED)
def test_parted(name: str) -> None:
    source, wanted = PARTED[name]
    body = "".join(f"    {line}\n" for line in source.split("\n"))
    parted = part(f"{HEAD}def test_it():\n{body}", "solution")
    ((test, steps),) = parted.tests
    assert test == "test_it"
    assert [(step.kind, step.source, step.relation, step.operand) for step in steps] == wanted
    rules = load(RULES / "validation.yaml", ValidationRules)
    (specification,) = specifications(Case("", "", "", parted=parted, module="solution"), rules, 0)
    assert "secret" not in json.dumps(specification.sent)


@pytest.mark.parametrize("name", NOT_PARTED)
def test_not_parted(name: str) -> None:
    assert unparted(f"{HEAD}def test_it():\n    {NOT_PARTED[name]}\n", "solution") is not None


def test_parameters_are_written_out_and_constants_of_the_module_stay_outside() -> None:
    source = (
        f"{HEAD}WANTED = 'secret'\n@pytest.mark.parametrize('x, y', [(1, 'secret'), (2, WANTED)])\n"
        "def test_it(x, y):\n    assert f(x) == y\n"
    )
    parted = part(source, "solution")
    assert [step.source for step in parted.tests[0][1] if step.relation] == ["f(x)", "f(x)"]
    assert "secret" not in parted.preamble


@pytest.mark.parametrize("source", ["", "def test(tmp_path):\n    assert f(tmp_path) == 1", "class TestIt: pass", "("])
def test_modules_that_cannot_be_parted(source: str) -> None:
    assert unparted(source, "solution") is not None


def test_a_script_is_one_test() -> None:
    parted = part("x = f(1)\nassert x == 2\nassert not x.y", None)
    assert [(step.source, step.relation) for step in parted.tests[0][1]] == [
        ("x = f(1)", ""),
        ("x", "=="),
        ("x.y", "truth"),
    ]


ONE = part(f"{HEAD}def test_it():\n    assert f(1) == 1\n", "solution")


@pytest.mark.parametrize(
    ("observed", "outcome"),
    [
        ([[{"value": ["int", "1"]}]], Outcome.PASSED),
        ([[{"value": ["int", "1", "lib.Number"]}]], Outcome.PASSED),
        ([[{"value": ["float", "0x1.0p+0"]}]], Outcome.PASSED),
        ([[{"value": ["other", None, "lib.Any"]}]], Outcome.FAILED_ASSERTION),
        ([[{"raised": ["builtins.KeyError"], "outcome": "wrong_exception", "message": "1"}]], Outcome.WRONG_EXCEPTION),
        ([[{"raised": [], "outcome": "passed", "message": ""}]], Outcome.WRONG_EXCEPTION),
        ([[{"raised": [], "outcome": "harness_error", "message": ""}]], Outcome.WRONG_EXCEPTION),
        ([[]], Outcome.WRONG_EXCEPTION),
        ([], Outcome.SANDBOX_VIOLATION),
        (None, Outcome.SANDBOX_VIOLATION),
        ([[{}]], Outcome.SANDBOX_VIOLATION),
        ([[{"value": ["fraction", "1e999999999"]}]], Outcome.SANDBOX_VIOLATION),
        ([[{"value": ["int", "g"]}]], Outcome.SANDBOX_VIOLATION),
        ([[{"value": ["list", [["list", 1]]]}]], Outcome.SANDBOX_VIOLATION),
    ],
)
def test_only_the_expected_value_passes(observed: object, outcome: Outcome) -> None:
    assert judge_tests(ONE, json.dumps(observed))[0] is outcome


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "1" * 100_000])
def test_what_is_no_observation_is_wrong(text: str) -> None:
    assert judge_tests(ONE, text)[0] is Outcome.SANDBOX_VIOLATION


@pytest.mark.parametrize(("kind", "passes"), [("builtins.list", True), ("lib.list", False), ("builtins.tuple", False)])
def test_types_are_compared_exactly(kind: str, passes: bool) -> None:
    parted = part(f"{HEAD}def test_it():\n    assert isinstance(f(1), list)\n", "solution")
    outcome, _ = judge_tests(parted, json.dumps([[{"value": ["list", [], kind]}]]))
    assert (outcome is Outcome.PASSED) == passes


def test_parted_tests_are_data() -> None:
    assert Parted(ONE.preamble, ONE.tests) == ONE
