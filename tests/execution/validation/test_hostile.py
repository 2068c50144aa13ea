"""Hostile code in samples for `driftline validate`, with `test` and with `test_file`: none passes, none is left out.

The answers are those of functions, of which `tests/evaluation/scores/hostile` shows that each fools a harness with the tests
beside it: that is the way of `test_file`, and is shown here of `test`.
"""

from __future__ import annotations

import textwrap

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.runs import UNJUDGED
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from tests.evaluation.scores.hostile.answers import FUNCTIONS
from tests.evaluation.scores.hostile.naive import beside_tests
from tests.evaluation.scores.hostile.test_hostile import RIGHT, TESTS, forked, program

ASSERTS = """import pytest
assert solve('a b c d e', 3) == ['a b', 'c d', 'e']
assert isinstance(solve('a b', 3), list)
assert solve('ab cd ef', 2) == ['ab', 'cd', 'ef']
with pytest.raises(ValueError):
    solve('a b', 0)
"""
BESIDE = TESTS.replace("def test_stated_1():", "def test_stated_1(tmp_path):")
"""The same tests, one of which takes a fixture: these cannot be parted."""

PROGRAMS = {"right": program(("import textwrap", RIGHT)), **{name: program(one) for name, one in FUNCTIONS.items()}}
OF_VALUES = [*FUNCTIONS][: [*FUNCTIONS].index("code of the tests replaced")]
"""Attacks by values that lie, and by what the code finds in its own process: these need tests that are parted."""


@pytest.fixture(scope="module")
def rules() -> ValidationRules:
    changed = {"repeats": 1, "time_s": 3.0, "memory_mib": 1024}
    return load(RULES / "validation.yaml", ValidationRules).model_copy(update=changed)


def with_test(name: str) -> Case:
    return Case(name, "", PROGRAMS[name], test=ASSERTS, apart=True)


def with_test_file(name: str) -> Case:
    return Case(name, "", PROGRAMS[name], test_file=TESTS, module="sample", apart=True)


@pytest.mark.slow
@pytest.mark.parametrize("make", [with_test, with_test_file])
def test_no_hostile_code_passes_or_is_left_out(make: object, rules: ValidationRules) -> None:
    assert callable(make)
    outcomes = dict(forked({name: make(name) for name in PROGRAMS}, rules))
    assert len(outcomes) > 60
    assert [name for name, outcome in outcomes.items() if outcome is Outcome.PASSED] == ["right"]
    assert [name for name, outcome in outcomes.items() if outcome in UNJUDGED] == []


@pytest.mark.slow
def test_beside_tests_that_cannot_be_parted_code_passes_by_lying_values_alone(rules: ValidationRules) -> None:
    made = {
        name: Case(name, "", text, test_file=BESIDE, module="sample", apart=True) for name, text in PROGRAMS.items()
    }
    outcomes = dict(forked(made, rules))
    assert outcomes["right"] is Outcome.PASSED
    passed = {name for name, outcome in outcomes.items() if outcome is Outcome.PASSED}
    assert passed - {"right", *OF_VALUES} == set()
    assert [name for name, outcome in outcomes.items() if outcome in UNJUDGED] == []


@pytest.mark.slow(2)
def test_each_fools_a_harness_that_has_the_asserts_beside_the_code(rules: ValidationRules) -> None:
    tests = f"from sample import *\n\ndef test_all():\n{textwrap.indent(ASSERTS, '    ')}"
    programs = PROGRAMS | {"wrong": program(("", "return ['wrong']"))}
    del programs["right"]
    scripts = {name: Case("", "", beside_tests(text, tests)) for name, text in programs.items()}
    outcomes = dict(forked(scripts, rules.model_copy(update={"time_s": 60.0})))
    believed = {name for name, outcome in outcomes.items() if outcome is not Outcome.FAILED_ASSERTION}
    assert "wrong" not in believed
    assert len(believed) >= 60, outcomes.keys() - believed


_SOLVE = "\ndef solve(text, width):\n    return ['wrong']\n"
_OF_HARNESS = "import sys\nof = lambda end: next(m for n, m in list(sys.modules.items()) if n.endswith(end))\n"
AGAINST_THIS_HARNESS = {
    "judge of the plugin": _OF_HARNESS + "of('.pytest_run').Recorder.judge = lambda s, st: None",
    "code of the judge": _OF_HARNESS
    + "of('.pytest_run').Recorder.judge.__code__ = (lambda self, status: None).__code__",
    "what is looked at": _OF_HARNESS
    + "m = of('.pytest_run')\nm.deciding = lambda: []\nm.Recorder.look = lambda s: None",
    "the plugin": "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ == 'Recorder':\n"
    "        o.__class__ = type('S', (type(o),), {'judge': lambda self, st: None})",
    "arguments of a failure": _OF_HARNESS + "of('.outcomes').Failed.args = property(lambda s: ('passed', ''))",
    "hooks of pytest": "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ == 'HookRelay' and hasattr(o, 'pytest_pyfunc_call'):\n"
    "        o.__dict__['pytest_pyfunc_call'] = lambda **k: True",
    "function of a hook": "import gc\nfor o in gc.get_objects():\n"
    "    if type(o).__name__ == 'HookImpl' and getattr(o.function, '__name__', '') == 'pytest_pyfunc_call':\n"
    "        o.function = lambda *a, **k: True; o.argnames = ()",
    "rewriting of asserts": "import _pytest.assertion.rewrite as r\nr.AssertionRewriter.run = lambda *a: None",
    "value of an exception": "import _pytest._code\n_pytest._code.ExceptionInfo.value = property(lambda s: None)",
}
KEY = (
    "import os\nfor fd in range(3, 64):\n    try: os.set_blocking(fd, False); key = os.read(fd, 64)\n"
    "    except OSError: continue\n    if len(key) == 32: break\nfor fd in range(3, 64):\n"
    "    try: os.write(fd, key + b'passed\\n-\\n-\\n')\n    except OSError: pass\nos._exit(0)"
)


@pytest.mark.slow
def test_code_that_knows_this_harness(rules: ValidationRules) -> None:
    beside = {name: code + _SOLVE for name, code in AGAINST_THIS_HARNESS.items()}
    cases = {name: Case(name, "", code, test_file=BESIDE, module="sample", apart=True) for name, code in beside.items()}
    outcomes = dict(forked(cases, rules))
    assert not {Outcome.PASSED, *UNJUDGED} & {*outcomes.values()}, outcomes
    parted = {"key": Case("key", "", KEY + _SOLVE, test_file=TESTS, module="sample", apart=True)}
    assert dict(forked(parted, rules)) == {"key": Outcome.SANDBOX_VIOLATION}
