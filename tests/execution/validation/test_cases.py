from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from tests.execution.validation.conftest import check

Run = Callable[..., Result]
RAISED = "Traceback (most recent call last):\n    ...\n"

PROGRAMS = [
    ("import lib\nlib.Box(1).grow(2)", Outcome.PASSED, None),
    ("if __name__ == '__main__': x = 1\nassert x", Outcome.PASSED, None),
    ("import inspect\ndef f(): pass\nassert 'def f' in inspect.getsource(f)", Outcome.PASSED, None),
    ("import pickle\nclass A: pass\npickle.loads(pickle.dumps(A()))", Outcome.PASSED, None),
    ("import sys\nassert sys.stdin.read() == '' and sys.argv == ['case.py']", Outcome.PASSED, None),
    ("print('x' * 100)\nimport os; os.system('echo from outside')", Outcome.PASSED, None),
    ("assert 1 == 2", Outcome.FAILED_ASSERTION, "AssertionError"),
    ("1 / 0", Outcome.WRONG_EXCEPTION, "ZeroDivisionError: division by zero"),
    ("never_defined", Outcome.UNDEFINED_NAME, "name 'never_defined' is not defined"),
    ("def f():\n    print(x)\n    x = 1\nf()", Outcome.WRONG_EXCEPTION, "x"),
    ("import lib\nlib.undefined_inside()", Outcome.WRONG_EXCEPTION, "not_defined_anywhere"),
    ("x = (", Outcome.SYNTAX_ERROR, "SyntaxError"),
    ("import lib.wrong", Outcome.IMPORT_ERROR, "SyntaxError"),
    ("import never_installed", Outcome.IMPORT_ERROR, "never_installed"),
    ("from json import never_there", Outcome.IMPORT_ERROR, "never_there"),
    ("import lib.broken", Outcome.IMPORT_ERROR, "nothing_of_that_name"),
    ("import lib\nlib.needs_extra()", Outcome.IMPORT_ERROR, "extra_that_nobody_has"),
    ("import lib.gone", Outcome.API_MISSING, "lib.gone"),
    ("import importlib\nimportlib.import_module('lib.gone')", Outcome.API_MISSING, "lib.gone"),
    ("from lib.shapes import Square", Outcome.API_MISSING, "Square"),
    ("from lib.moving import Old", Outcome.API_MISSING, "Old"),
    ("import lib.moving\nlib.moving.Old", Outcome.API_MISSING, "Old"),
    ("import lib.moving, sys\nsys.modules[3] = 2\nlib.moving.Old", Outcome.API_MISSING, "Old"),
    ("import lib.moving\nlib.moving.needs()", Outcome.IMPORT_ERROR, "install an extra"),
    ("from lib import Square", Outcome.API_MISSING, "Square"),
    ("import lib\nlib.gone", Outcome.API_MISSING, "gone"),
    ("import lib.shapes\nlib.shapes.gone", Outcome.API_MISSING, "has no attribute 'gone'"),
    ("import lib\nlib.Box.gone", Outcome.API_MISSING, "type object 'Box' has no attribute 'gone'"),
    ("import lib\nlib.Box(1).gone", Outcome.API_MISSING, "'Box' object has no attribute 'gone'"),
    ("import lib\nlib.Magic().gone", Outcome.API_MISSING, "gone"),
    ("import lib\nclass Mine(lib.Box): pass\nMine(1).gone", Outcome.API_MISSING, "gone"),
    ("'text'.gone", Outcome.WRONG_EXCEPTION, "'str' object has no attribute 'gone'"),
    ("import json\njson.gone", Outcome.WRONG_EXCEPTION, "gone"),
    ("class Mine: pass\nMine().gone", Outcome.WRONG_EXCEPTION, "gone"),
    ("import lib\nlib.Box()", Outcome.SIGNATURE_MISMATCH, "missing 1 required positional argument"),
    ("import lib\nlib.Box(1, 2)", Outcome.SIGNATURE_MISMATCH, "takes 2 positional arguments but 3"),
    ("import lib\nlib.Box(1).grow(1, thrice=1)", Outcome.SIGNATURE_MISMATCH, "thrice"),
    ("import lib\nlib.Box(1).grow(1, by=1)", Outcome.SIGNATURE_MISMATCH, "multiple values"),
    ("import lib\nlib.save('x', encoding='y')", Outcome.SIGNATURE_MISMATCH, "encoding"),
    ("import lib\nlib.Box(1).broken()", Outcome.WRONG_EXCEPTION, "has no len()"),
    ("import lib\nlib.Box(1).deep()", Outcome.WRONG_EXCEPTION, "missing 1 required"),
    ("1 + 'x'", Outcome.WRONG_EXCEPTION, "unsupported operand"),
    ("import os; os._exit(0)", Outcome.WRONG_EXCEPTION, "ended with status 0 before the end"),
    ("import sys; sys.exit(0)", Outcome.WRONG_EXCEPTION, "SystemExit"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", Outcome.SANDBOX_VIOLATION, "killed by SIGSEGV"),
    ("open('/usr/mine', 'w')", Outcome.SANDBOX_VIOLATION, "Read-only"),
    ("import socket\nsocket.create_connection(('192.0.2.1', 1))", Outcome.SANDBOX_VIOLATION, "unreachable"),
    ("import urllib.request as u\nu.urlopen('http://example.org')", Outcome.SANDBOX_VIOLATION, "URLError"),
    ("x = b'x' * (1 << 30)", Outcome.OUT_OF_MEMORY, "MemoryError"),
    ("while True: print('x' * 10000)", Outcome.SANDBOX_VIOLATION, "output"),
]


@pytest.mark.parametrize(
    ("code", "outcome", "detail"), PROGRAMS, ids=[code.splitlines()[-1] for code, _, _ in PROGRAMS]
)
def test_program(old_and_new: Environment, outcome_of: Run, code: str, outcome: Outcome, detail: str | None) -> None:
    result = outcome_of(old_and_new, code, repeats=1)
    assert (result.outcome, detail is None) == (outcome, result.detail is None), result.detail
    assert detail is None or detail in str(result.detail)


CHECKS = [
    ([check("x = 1"), check("x", "1\n")], Outcome.PASSED),
    ([check("x = 1"), check("x", "2\n")], Outcome.FAILED_ASSERTION),
    ([check("for i in range(2):\n    print(i)", "0\n1\n")], Outcome.PASSED),
    ([check("print('a\\n\\nb')", "a\n<BLANKLINE>\nb\n")], Outcome.PASSED),
    ([check("print('a   b')", "a b\n")], Outcome.PASSED),
    ([check("object()", "<object object at 0x...>\n")], Outcome.PASSED),
    ([check("1", None)], Outcome.PASSED),
    ([check("['a', \"b'\"]", "[u'a', u\"b'\"]\n")], Outcome.PASSED),
    ([check("['u', 'v']", "['u', 'v']\n")], Outcome.PASSED),
    ([check("b'a'", "u'a'\n")], Outcome.FAILED_ASSERTION),
    ([check("None", "None\n")], Outcome.FAILED_ASSERTION),
    ([check("1 / 0", RAISED + "ZeroDivisionError: division by zero\n")], Outcome.PASSED),
    ([check("1 / 0", RAISED + "ZeroDivisionError: other words\n")], Outcome.FAILED_ASSERTION),
    ([check("1 / 0", RAISED + "ZeroDivisionError: other\n", "IGNORE_EXCEPTION_DETAIL")], Outcome.PASSED),
    ([check("1 / 0", RAISED + "ValueError: division by zero\n")], Outcome.WRONG_EXCEPTION),
    ([check("1", RAISED + "ValueError: x\n")], Outcome.FAILED_ASSERTION),
    ([check("1 / 0", None)], Outcome.WRONG_EXCEPTION),
    ([check("import lib"), check("lib.Box(1).gone", "1\n")], Outcome.API_MISSING),
    ([check("1 / 0", "1\n", "SKIP"), check("1", "1\n")], Outcome.PASSED),
    ([check("1", "1\n", "SKIP")], Outcome.HARNESS_ERROR),
    ([check("x = (")], Outcome.SYNTAX_ERROR),
    ([check("import os"), check("os._exit(0)")], Outcome.WRONG_EXCEPTION),
    ([check("import sys"), check("sys.exit(0)")], Outcome.WRONG_EXCEPTION),
    ([check("from __future__ import division"), check("1/2", "0.5\n")], Outcome.PASSED),
]


@pytest.mark.parametrize(("checks", "outcome"), CHECKS, ids=[repr(row[-1]["statement"]) for row, _ in CHECKS])
def test_checks(old_and_new: Environment, outcome_of: Run, checks: list[dict[str, object]], outcome: Outcome) -> None:
    result = outcome_of(old_and_new, checks=checks, repeats=1)
    assert result.outcome == outcome, result.detail


@pytest.mark.parametrize("code", ["import lib.moving\nlib.moving.Optional", "import lib.moving\nlib.moving.Extra"])
def test_what_a_lookup_cannot_import_is_not_missing_in_the_library(
    environment: Environment, outcome_of: Run, code: str
) -> None:
    assert outcome_of(environment, code, repeats=1).outcome == Outcome.IMPORT_ERROR


def test_preamble_comes_first(environment: Environment, outcome_of: Run) -> None:
    assert outcome_of(environment, "x + 1", preamble="x = 1\n").outcome == Outcome.PASSED
    assert outcome_of(environment, "", preamble="import never_installed\n").outcome == Outcome.IMPORT_ERROR
    assert outcome_of(environment, checks=[check("x", "1\n")], preamble="x = 1\n").outcome == Outcome.PASSED


def test_an_outcome_that_depends_on_the_hash_seed_is_flaky(environment: Environment, outcome_of: Run) -> None:
    code = "import os\nassert os.environ['PYTHONHASHSEED'] == '0'"
    result = outcome_of(environment, code, repeats=2)
    assert (result.outcome, result.detail) == (
        Outcome.FLAKY,
        "passed, then failed_assertion (hash seed 1, random seed 1)\nAssertionError",
    )
    assert outcome_of(environment, code, repeats=1).outcome == Outcome.PASSED


def test_random_numbers_are_seeded(environment: Environment, outcome_of: Run) -> None:
    first = outcome_of(environment, "import random\nraise ValueError(random.random())")
    assert first.detail == outcome_of(environment, "import random\nraise ValueError(random.random())").detail


def test_an_outcome_that_depends_on_the_random_seed_is_flaky(environment: Environment, outcome_of: Run) -> None:
    drawn = outcome_of(environment, "import random\nassert random.random() > 0.5", repeats=1)
    assert drawn.outcome == Outcome.PASSED
    displayed = [check("import random"), check("random.random() > 0.5", "True\n")]
    for arguments in ({"code": "import random\nassert random.random() > 0.5"}, {"checks": displayed}):
        result = outcome_of(environment, **arguments, repeats=2)
        assert (result.outcome, result.repeats) == (Outcome.FLAKY, 2)
        assert str(result.detail).startswith("passed, then failed_assertion (hash seed 1, random seed 1)")
    own_seed = "import random\nrandom.seed(0)\nassert random.random() > 0.5"
    assert outcome_of(environment, own_seed, repeats=2).outcome == Outcome.PASSED


def test_timeout_is_not_repeated(environment: Environment, outcome_of: Run) -> None:
    result = outcome_of(environment, "while True: pass", time_s=0.5, repeats=5)
    assert result.outcome == Outcome.TIMED_OUT
    assert result.duration_s < 2


def test_a_forked_child_reports_nothing(environment: Environment, outcome_of: Run) -> None:
    assert outcome_of(environment, "import os\nif os.fork(): 1 / 0").outcome == Outcome.WRONG_EXCEPTION


def test_details_name_no_place_of_this_machine(environment: Environment, outcome_of: Run) -> None:
    code = "import tempfile, lib\nraise ValueError('\\x1b[31mred\\x1b[0m', lib.__file__, tempfile.mkdtemp(), object())"
    detail = outcome_of(environment, code).detail
    assert detail is not None
    assert "site-packages/lib/__init__.py" in detail
    assert "0x…" in detail
    assert not [text for text in (str(environment.site_packages), "/tmp", "\x1b") if text in detail]


def test_memory_is_measured(environment: Environment, outcome_of: Run) -> None:
    small, large = (outcome_of(environment, f"x = b'x' * {size}").peak_memory_bytes or 0 for size in (1, 200 << 20))
    assert 5 << 20 < small < 60 << 20
    assert large - small + (10 << 20) > 200 << 20


def test_results_keep_the_order_of_the_cases(
    environment: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    cases = [Case(str(n), "", f"import time; time.sleep({0.2 if n == 0 else 0})") for n in range(4)]
    results = run_cases(environment, cases, sandbox, rules, workers=2)
    assert [(result.id, result.outcome) for result in results] == [(case.id, Outcome.PASSED) for case in cases]
