"""Test modules, as people write them: each must come out as it would at home, and nothing else may look like a pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from tests.execution.validation.conftest import empty_environment

CODE = """
import lib
def double(x):
    return lib.Box(x).grow(x)
if __name__ == "__main__":
    raise RuntimeError("this is a module")
"""

PASSES = {
    "function": "from solution import double\ndef test(): assert double(2) == 4\n",
    "star": "from solution import *\ndef test(): assert double(2) == 4\n",
    "module": "import solution\ndef test(): assert solution.double(2) == 4 and solution.__name__ == 'solution'\n",
    "sys.path": "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nimport solution\ndef test(): assert solution.double(1) == 2\n",
    "unittest": "import unittest, solution\nclass TestIt(unittest.TestCase):\n    def setUp(self): self.x = 2\n    def test(self): self.assertEqual(solution.double(self.x), 4)\nif __name__ == '__main__': unittest.main()\n",
    "fixtures": "import pytest\nfrom solution import double\n@pytest.fixture\ndef two(): return 2\n@pytest.mark.parametrize('n', [1, 2])\ndef test(two, n, tmp_path, monkeypatch, capsys):\n    monkeypatch.chdir(tmp_path)\n    open('x', 'w').write('x')\n    print(double(two))\n    assert capsys.readouterr().out == '4\\n'\n",
    "source": "import inspect, solution\ndef test(): assert 'lib.Box' in inspect.getsource(solution.double)\n",
    "program": "import subprocess, sys\ndef test(): assert subprocess.check_output([sys.executable, '-c', 'import solution; print(solution.double(3))']) == b'6\\n'\n",
    "script": "import subprocess, sys, solution\ndef test(): assert subprocess.call([sys.executable, solution.__file__]) == 1\n",
    "processes": "import multiprocessing, solution\ndef test():\n    for how in ('fork', 'spawn', 'forkserver'):\n        with multiprocessing.get_context(how).Pool(2) as pool:\n            assert pool.map(solution.double, [1, 2]) == [2, 4]\n",
    "threads": "import threading, solution\ndef test():\n    seen = []\n    t = threading.Thread(target=lambda: seen.append(solution.double(1)))\n    t.start(); t.join()\n    assert seen == [2]\n",
    "asyncio": "import asyncio, solution\nasync def go():\n    await asyncio.sleep(0)\n    return solution.double(1)\ndef test(): assert asyncio.run(go()) == 2\n",
    "warnings": "import warnings, pytest\ndef test():\n    with pytest.warns(FutureWarning): import lib; lib.leaving\n    with warnings.catch_warnings():\n        warnings.simplefilter('error')\n        with pytest.raises(FutureWarning): lib.leaving\n",
    "files": "import os, pathlib\ndef test():\n    pathlib.Path('data.csv').write_text('a')\n    assert sorted(set(os.listdir('.')) - {'pytest-of-root'}) == ['data.csv', 'solution.py', 'test_solution.py']\n",
    "mocks": "from unittest import mock\nimport json, os, solution\ndef test():\n    with mock.patch('solution.double', return_value=1), mock.patch('os.write'), mock.patch('json.dumps'): assert solution.double(9) == 1\n",
    "left mocked": "import json, os\ndef test():\n    json.dumps = os.getpid = os.write = os._exit = lambda *a: 1 / 0\n",
    "home": "import os\ndef test():\n    assert os.environ['HOME'] == os.getcwd() and 'DRIFTLINE_CASE_UID' not in os.environ\n",
    "expected failure": "import pytest\n@pytest.mark.xfail\ndef test_no(): assert 0\ndef test_yes(): import solution\n",
    "partly skipped": "import pytest\n@pytest.mark.skip\ndef test_no(): assert 0\ndef test_yes(): import solution\n",
    "background thread": "import threading, time\ndef test(): threading.Thread(target=time.sleep, args=(60,)).start()\n",
    "background process": "import subprocess\ndef test(): subprocess.Popen(['sleep', '60'])\n",
    "no output": "import os, sys\ndef test():\n    os.close(1); os.close(2); sys.stdout = None\n",
    "unicode": "from solution import double\nдва = 2\ndef test_дважды(): assert double(два) == 4, 'не то'\n",
    "crlf": "from solution import double\r\ndef test():\r\n\tassert double(2) == 4\r\n",
    "byte order mark": "\ufefffrom solution import double\ndef test(): assert double(2) == 4\n",
    "latin-1": "# -*- coding: latin-1 -*-\ndef test(): assert str('é') == '\\xe9'\n",
}  # fmt: skip

FAILS = {
    "assertion": ("from solution import double\ndef test(): assert double(2) == 5\n", Outcome.FAILED_ASSERTION, "test: AssertionError: assert 4 == 5"),
    "unittest": ("import unittest\nclass TestIt(unittest.TestCase):\n    def test(self): self.assertIn(1, [2])\n", Outcome.FAILED_ASSERTION, "TestIt::test: AssertionError: 1 not found in [2]"),
    "nothing raised": ("import pytest\ndef test():\n    with pytest.raises(ValueError): pass\n", Outcome.FAILED_ASSERTION, "DID NOT RAISE"),
    "pytest.fail": ("import pytest\ndef test(): pytest.fail('no good')\n", Outcome.FAILED_ASSERTION, "no good"),
    "strict": ("import pytest\n@pytest.mark.xfail(strict=True)\ndef test(): pass\n", Outcome.FAILED_ASSERTION, "XPASS"),
    "two of three": ("def test_a(): pass\ndef test_b(): 1 / 0\ndef test_c(): assert 0\n", Outcome.WRONG_EXCEPTION, "(2 of 3 tests failed)"),
    "teardown": ("import pytest\n@pytest.fixture\ndef it():\n    yield\n    1 / 0\ndef test(it): pass\n", Outcome.WRONG_EXCEPTION, "ZeroDivisionError"),
    "api": ("import lib\ndef test(): lib.gone\n", Outcome.API_MISSING, "gone"),
    "api at import": ("from lib import Gone\ndef test(): pass\n", Outcome.API_MISSING, "Gone"),
    "signature": ("import lib\ndef test(): lib.Box(1).grow(1, thrice=1)\n", Outcome.SIGNATURE_MISMATCH, "thrice"),
    "not in the module": ("from solution import triple\ndef test(): pass\n", Outcome.IMPORT_ERROR, "triple"),
    "import": ("import nothing_of_that_name\ndef test(): pass\n", Outcome.IMPORT_ERROR, "nothing_of_that_name"),
    "syntax": ("def test(: pass\n", Outcome.SYNTAX_ERROR, "SyntaxError"),
    "null byte": ("def test(): pass\0\n", Outcome.SYNTAX_ERROR, "null byte"),
    "surrogate": ("def test(): '\ud800'\n", Outcome.SYNTAX_ERROR, "surrogates not allowed"),
    "no such encoding": ("# coding: klingon\ndef test(): pass\n", Outcome.SYNTAX_ERROR, "klingon"),
    "name": ("def test(): never_defined\n", Outcome.UNDEFINED_NAME, "never_defined"),
    "no tests": ("x = 1\n", Outcome.BAD_SAMPLE, "no test was found"),
    "empty": ("", Outcome.BAD_SAMPLE, "no test was found"),
    "all skipped": ("import pytest\n@pytest.mark.skip(reason='tired')\ndef test(): pass\n", Outcome.BAD_SAMPLE, "skipped: Skipped: tired"),
    "module skipped": ("import pytest\npytest.importorskip('nothing_of_that_name')\ndef test(): pass\n", Outcome.BAD_SAMPLE, "nothing was tested, skipped"),
    "no such fixture": ("def test(mocker): pass\n", Outcome.BAD_SAMPLE, "fixture 'mocker' is not there"),
    "exits": ("import sys\nsys.exit(0)\n", Outcome.WRONG_EXCEPTION, "SystemExit: 0"),
    "exits hard": ("import os\nos._exit(0)\n", Outcome.WRONG_EXCEPTION, "status 0"),
    "test exits": ("import sys\ndef test(): sys.exit(0)\n", Outcome.WRONG_EXCEPTION, "SystemExit: 0"),
    "test exits hard": ("import os\ndef test(): os._exit(0)\n", Outcome.WRONG_EXCEPTION, "status 0"),
    "pytest.exit": ("import pytest\ndef test_a(): pytest.exit('enough', 0)\ndef test_b(): assert 0\n", Outcome.WRONG_EXCEPTION, "enough"),
    "dies": ("import os, signal\ndef test(): os.kill(os.getpid(), signal.SIGABRT)\n", Outcome.SANDBOX_VIOLATION, "SIGABRT"),
    "kills its parent": ("import os, signal, time\ndef test():\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(60)\n", Outcome.SANDBOX_VIOLATION, ""),
    "never ends": ("def test():\n    while True: pass\n", Outcome.TIMED_OUT, "time limit"),
    "prints forever": ("import os\ndef test():\n    while True: os.write(2, b'x' * 9999); print('x' * 9999)\n", Outcome.SANDBOX_VIOLATION, ""),
    "memory": ("def test(): b'x' * (1 << 30)\n", Outcome.OUT_OF_MEMORY, "MemoryError"),
    "recursion": ("def f(): f()\ndef test(): f()\n", Outcome.WRONG_EXCEPTION, "RecursionError"),
}  # fmt: skip

Run = Callable[..., Result]


@pytest.fixture
def tested(installed: Environment, sandbox: Sandbox, rules: ValidationRules) -> Run:
    def run(test_file: str, code: str = CODE, **changed: Any) -> Result:
        case = Case("case", "", code, import_names=("lib",), test_file=test_file, module="solution")
        return run_cases(installed, [case], sandbox, rules.model_copy(update={"repeats": 1, "time_s": 20.0} | changed))[
            0
        ]

    return run


@pytest.mark.parametrize("name", PASSES)
def test_passes(tested: Run, name: str) -> None:
    result = tested(PASSES[name])
    assert (result.outcome, result.detail) == (Outcome.PASSED, None), result.output


@pytest.mark.parametrize("name", FAILS)
def test_fails(tested: Run, name: str) -> None:
    test_file, outcome, detail = FAILS[name]
    result = tested(test_file, time_s=3.0 if name in ("never ends", "kills its parent") else 20.0)
    assert result.outcome == outcome, (result.detail, result.output)
    assert detail in str(result.detail)


def test_an_error_in_the_code_is_told_as_what_it_is(tested: Run) -> None:
    test_file = "import solution\ndef test(): solution.run()\n"
    assert tested(test_file, "x = (\n").outcome == Outcome.SYNTAX_ERROR
    assert tested(test_file, "def run(): never_defined\n").outcome == Outcome.UNDEFINED_NAME
    assert tested(test_file, "import lib\ndef run(): lib.gone\n").outcome == Outcome.API_MISSING
    assert tested(test_file, "import lib\nlib.Box()\n").outcome == Outcome.SIGNATURE_MISMATCH
    assert tested(test_file, "assert False\n").outcome == Outcome.FAILED_ASSERTION


def test_both_kinds_of_tests(installed: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    code = "registered = []\ndef double(x): return 2 * x\n"
    module = "from lib_user.deep import double\ndef test(): assert double(2) == {}\n"
    cases = [
        Case(f"{asserted} {tested}", "", code, test=f"assert double(2) == {asserted}", test_file=module.format(tested), module="lib_user.deep")
        for asserted in (4, 5)
        for tested in (4, 5)
    ]  # fmt: skip
    outcomes = {result.id: result.outcome for result in run_cases(installed, cases, sandbox, rules)}
    assert {name for name, outcome in outcomes.items() if outcome == Outcome.PASSED} == {"4 4"}
    assert set(outcomes.values()) == {Outcome.PASSED, Outcome.FAILED_ASSERTION}


def test_without_pytest_it_is_the_environment_that_is_wrong(
    tmp_path: Path, sandbox: Sandbox, rules: ValidationRules
) -> None:
    (result,) = run_cases(
        empty_environment(tmp_path), [Case("case", "", "", test_file="def test(): pass")], sandbox, rules
    )
    assert result.outcome == Outcome.HARNESS_ERROR
    assert "no pytest in the environment" in str(result.detail)


@pytest.mark.slow
def test_a_module_of_50_megabytes(tested: Run) -> None:
    result = tested("def test(): import solution\n", "#" + "x" * (50 << 20), memory_mib=2048)
    assert result.outcome == Outcome.PASSED


def test_the_output_is_the_end_of_what_pytest_says(tested: Run) -> None:
    result = tested("def test():\n    print('\\x1b[31mred', object())\n    assert 0\n")
    assert "1 failed" in result.output
    assert "red <object object at 0x…>" in result.output
    assert "test_solution.py:3: in test" in result.output
    assert not {text for text in ("\x1b", "/tmp", "/root") if text in result.output}
