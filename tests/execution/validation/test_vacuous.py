"""A test that tests nothing is no pass, whichever way it is written; what it defines is run and judged."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

CODE = "import asyncio, sys\ndef leaving(): sys.exit(0)\ndef two(): return 2\nasync def later(): return 2\n"
_CASE = "import unittest\nclass T(unittest.TestCase):\n    {}\n    def test(self): self.assertEqual(two(), {})\n"
_RED, _GREEN = _CASE.format("n = 1", 3), _CASE.format("n = 1", 2)
_DOCTEST = "def told():\n    '''\n    >>> two()\n    {}\n    '''\nimport doctest\ndoctest.testmod()\n"
_ASYNC = "async def test(): assert await later() == {}\n"
_EXPECTED = _CASE.format("@unittest.expectedFailure", 3)

# Asserts that run after the code: what they come to, and what the detail says.
AFTER = {
    "a class": (_RED, Outcome.FAILED_ASSERTION, "T::test: AssertionError: 2 != 3"),
    "a green class": (_GREEN, Outcome.PASSED, ""),
    "a function": ("def test_two(): assert two() == 3", Outcome.FAILED_ASSERTION, "test_two"),
    "a green function": ("def test_two(): assert two() == 2", Outcome.PASSED, ""),
    "a class of pytest": ("class TestTwo:\n    def test(self): assert two() == 3", Outcome.FAILED_ASSERTION, "TestTwo::test"),
    "fixtures": ("import pytest\n@pytest.fixture\ndef n(): return 2\n@pytest.mark.parametrize('m', [1, 2])\ndef test(n, m): assert n * m == two() * m", Outcome.PASSED, ""),
    "a function that is called": ("def test_it(f): assert f() == 2\ntest_it(two)", Outcome.PASSED, ""),
    "a class that is called": ("class TestTwo:\n    def test(self): assert two() == 2\nTestTwo().test()", Outcome.PASSED, ""),
    "a class that is run": (f"{_RED}unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))", Outcome.FAILED_ASSERTION, "2 != 3"),
    "unittest.main": (f"{_GREEN}if __name__ == '__main__': unittest.main()", Outcome.PASSED, ""),
    "a red unittest.main": (f"{_RED}unittest.main()", Outcome.FAILED_ASSERTION, "2 != 3"),
    "a red unittest.main that stays": (f"{_RED}unittest.main(exit=False)", Outcome.FAILED_ASSERTION, "2 != 3"),
    "the result of unittest.main": (f"{_GREEN}assert unittest.main(exit=False).result.testsRun == 1", Outcome.PASSED, ""),
    "subtests": ("import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        for n in (2, 3):\n            with self.subTest(n=n): self.assertEqual(two(), n)\nunittest.main()", Outcome.FAILED_ASSERTION, "2 != 3"),
    "unittest.main without tests": ("import unittest\nunittest.main()", Outcome.BAD_SAMPLE, "no test was found"),
    "pytest.main": ("import pytest, sys\ndef test(): assert two() == 2\nsys.exit(pytest.main([__file__]))", Outcome.PASSED, ""),
    "a red pytest.main": ("import pytest\ndef test(): assert two() == 3\npytest.main(['-q'])", Outcome.FAILED_ASSERTION, "AssertionError"),
    "pytest.main on a file": ("import pytest\nwith open('test_it.py', 'w') as file: file.write('def test(): 1 / 0')\npytest.main(['test_it.py'])", Outcome.WRONG_EXCEPTION, "ZeroDivisionError"),
    "pytest.main without tests": ("import pytest\npytest.main()", Outcome.BAD_SAMPLE, "no test was found"),
    "doctest": (_DOCTEST.format(2), Outcome.PASSED, ""),
    "a red doctest": (_DOCTEST.format(3), Outcome.FAILED_ASSERTION, "__main__.told: 1 of 1 examples failed"),
    "doctest without examples": ("import doctest\ndoctest.testmod()", Outcome.BAD_SAMPLE, "no example was found"),
    "a docstring": ("'''\n>>> two()\n3\n'''", Outcome.BAD_SAMPLE, "no statement of it can fail"),
    "a comment": ("# two() == 3", Outcome.BAD_SAMPLE, "no statement of it can fail"),
    "a comparison": ("two() == 3", Outcome.BAD_SAMPLE, "no statement of it can fail"),
    "a tuple": ("assert (two() == 3, 'not two')", Outcome.BAD_SAMPLE, "no statement of it can fail"),
    "a constant": ("assert True", Outcome.BAD_SAMPLE, "no statement of it can fail"),
    "a check that nobody calls": ("def check(candidate): assert candidate() == 3", Outcome.BAD_SAMPLE, "nothing calls check: call it"),
    "no candidate": ("def test(candidate): assert candidate() == 2", Outcome.BAD_SAMPLE, "fixture 'candidate' is not there"),
    "a lambda": ("test_two = lambda: [][1]", Outcome.WRONG_EXCEPTION, "IndexError"),
    "a green lambda": ("test_two = lambda: [2].index(two())", Outcome.PASSED, ""),
    "a branch that never runs": ("if False:\n    assert two() == 3", Outcome.BAD_SAMPLE, "nothing was tested"),
    "a guard of another name": ("if __name__ == '__mai__':\n    assert two() == 3", Outcome.BAD_SAMPLE, "nothing was tested"),
    "a loop over nothing": ("for n in []:\n    assert two() == n", Outcome.BAD_SAMPLE, "nothing was tested"),
    "a branch that runs": ("if two():\n    assert two() == 2", Outcome.PASSED, ""),
    "a try": ("try:\n    two().lower()\nexcept AttributeError:\n    pass\nelse:\n    raise AssertionError", Outcome.PASSED, ""),
    "a returned comparison": ("def test_two():\n    return two() == 3", Outcome.BAD_SAMPLE, "returns a comparison"),
    "a function without body": ("def test(): pass", Outcome.BAD_SAMPLE, "no test names anything"),
    "expected to fail": (_EXPECTED, Outcome.BAD_SAMPLE, "every test is expected to fail"),
    "expected to fail, run by itself": (f"{_EXPECTED}unittest.main()", Outcome.BAD_SAMPLE, "expected to fail"),
    "skipped, run by itself": (_CASE.format("@unittest.skip('tired')", 3) + "unittest.main()", Outcome.BAD_SAMPLE, "skipped"),
    "asserts beside what is skipped": (_CASE.format("@unittest.skip('tired')", 3) + "assert two() == 2", Outcome.PASSED, ""),
    "async": (_ASYNC.format(2), Outcome.PASSED, ""),
    "red async": (_ASYNC.format(3), Outcome.FAILED_ASSERTION, "AssertionError"),
    "async, run by itself": (_ASYNC.format(2) + "asyncio.run(test())", Outcome.PASSED, ""),
    "async, not awaited": (_ASYNC.format(2) + "test()", Outcome.BAD_SAMPLE, "coroutine test is never awaited"),
    "a coroutine of the code": ("assert later()", Outcome.WRONG_EXCEPTION, "coroutine later is never awaited"),
    "a coroutine that is kept": ("found = later()\nassert found", Outcome.WRONG_EXCEPTION, "coroutine later is never awaited"),
    "async in a plain class": ("import unittest\nclass T(unittest.TestCase):\n    async def test(self): self.assertEqual(two(), 3)", Outcome.BAD_SAMPLE, "coroutine test is never awaited"),
    "async in a class for it": ("import unittest\nclass T(unittest.IsolatedAsyncioTestCase):\n    async def test(self): self.assertEqual(await later(), 3)", Outcome.FAILED_ASSERTION, "2 != 3"),
    "a generator": ("def test():\n    yield\n    assert two() == 3", Outcome.BAD_SAMPLE, "is a generator, whose body nothing runs"),
    "a generator that is called": ("def check():\n    yield\n    assert two() == 3\ncheck()", Outcome.BAD_SAMPLE, "nothing calls check"),
    "a generator in a class": ("import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        yield\n        self.assertEqual(two(), 3)\nunittest.main()", Outcome.BAD_SAMPLE, "is a generator"),
    "tests about tests": ("import unittest\ndef test():\n    class T(unittest.TestCase):\n        def test(self): self.fail()\n    result = unittest.TextTestRunner().run(T('test'))\n    assert len(result.failures) == 1 and two() == 2", Outcome.PASSED, ""),
    "a smoke test": ("two()", Outcome.PASSED, ""),
    "left by what is tested": (f"{_GREEN}unittest.main(exit=False)\nleaving()", Outcome.WRONG_EXCEPTION, "SystemExit: 0"),
    "leaving before the tests": (f"import sys\nsys.exit(0)\n{_GREEN}", Outcome.WRONG_EXCEPTION, "SystemExit: 0"),
}  # fmt: skip

# The same as modules of pytest, beside what `test_pytest_run` has.
MODULES = {
    "expected to fail": ("import pytest\n@pytest.mark.xfail\ndef test(): assert two() == 3\n", Outcome.BAD_SAMPLE, "every test is expected to fail"),
    "unexpected passes": ("import pytest\n@pytest.mark.xfail\ndef test(): assert two() == 2\n", Outcome.BAD_SAMPLE, "every test is expected to fail"),
    "unguarded unittest.main": (f"{_GREEN}unittest.main()\n", Outcome.PASSED, ""),
    "red, unguarded unittest.main": (f"{_RED}unittest.main()\n", Outcome.FAILED_ASSERTION, "2 != 3"),
    "unguarded pytest.main": ("import pytest\ndef test(): assert two() == 3\npytest.main([__file__])\n", Outcome.FAILED_ASSERTION, "3"),
    "the exit of pytest.main": ("import pytest, sys\ndef test(): assert two() == 2\nsys.exit(pytest.main([__file__]))\n", Outcome.PASSED, ""),
    "a red exit of pytest.main": ("import pytest, sys\ndef test(): assert two() == 3\nsys.exit(pytest.main([__file__]))\n", Outcome.FAILED_ASSERTION, "2 == 3"),
    "a raised exit": ("from pytest import main\ndef test(): assert two() == 3\nraise SystemExit(int(main(['-q'])))\n", Outcome.FAILED_ASSERTION, "2 == 3"),
    "an exit in a function": ("import pytest\ndef test(): assert two() == 2\ndef run(): exit(pytest.main([__file__]))\nrun()\n", Outcome.PASSED, ""),
    "an exit before all tests": ("import pytest, sys\nsys.exit(pytest.main(['other.py']))\ndef test(): assert two() == 2\n", Outcome.BAD_SAMPLE, "no test was found"),
    "the exit of unittest": (f"{_GREEN}import sys\nsys.exit(not unittest.main(exit=False).result.wasSuccessful())\n", Outcome.PASSED, ""),
    "the exit of a suite": (f"{_RED}import sys\nsys.exit(not unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T)).wasSuccessful())\n", Outcome.FAILED_ASSERTION, "2 != 3"),
    "pytest in a process": ("import subprocess, sys\ndef test(): assert two() == 2\nsys.exit(subprocess.run([sys.executable, '-m', 'pytest', __file__]).returncode)\n", Outcome.PASSED, ""),
    "red, pytest in a process": ("import subprocess, sys\ndef test(): assert two() == 3\nsys.exit(subprocess.call(['pytest', '-q', __file__]))\n", Outcome.FAILED_ASSERTION, "2 == 3"),
    "pytest in a shell": ("import os, sys\ndef test(): assert two() == 3\nsys.exit(os.system(f'{sys.executable} -m pytest {__file__}'))\n", Outcome.FAILED_ASSERTION, "2 == 3"),
    "pytest in a shell of a process": ("import subprocess, sys\ndef test(): assert two() == 2\nsubprocess.check_output(f'python -m pytest {__file__} -q', shell=True)\n", Outcome.PASSED, ""),
    "what pytest in a process says": ("import subprocess, sys\ndef test(): assert two() == 2\nassert '1 passed' in subprocess.run([sys.executable, '-m', 'pytest', __file__], capture_output=True, text=True).stdout\n", Outcome.BAD_SAMPLE, "runs pytest in a process of its own"),
    "pytest in a process, on another file": ("import subprocess, sys\nopen('test_other.py', 'w').write('def test(): assert 1')\nsys.exit(subprocess.call([sys.executable, '-m', 'pytest', 'test_other.py']))\n", Outcome.BAD_SAMPLE, "no test was found"),
    "pytest in a process of a test": ("import subprocess, sys\ndef test():\n    open('test_other.py', 'w').write('def test(): assert 0')\n    assert two() == 2 and subprocess.call([sys.executable, '-m', 'pytest', 'test_other.py']) == 1\n", Outcome.PASSED, ""),
    "another exit": ("import sys\ndef test(): assert two() == 2\nsys.exit(0)\n", Outcome.WRONG_EXCEPTION, "SystemExit: 0"),
    "asserts in the guard": ("if __name__ == '__main__':\n    assert two() == 3\n", Outcome.BAD_SAMPLE, "no test was found"),
    "async": (_ASYNC.format(2), Outcome.PASSED, ""),
    "red async": (_ASYNC.format(3), Outcome.FAILED_ASSERTION, "AssertionError"),
    "async in a plain class": ("import unittest\nclass T(unittest.TestCase):\n    async def test(self): self.assertEqual(two(), 3)\n", Outcome.BAD_SAMPLE, "never awaited"),
    "not awaited": ("def test(): assert later()\n", Outcome.WRONG_EXCEPTION, "coroutine later is never awaited"),
    "a generator": ("def test():\n    yield\n    assert two() == 3\n", Outcome.BAD_SAMPLE, "is a generator, whose body nothing runs"),
    "a returned comparison": ("class TestTwo:\n    def test(self):\n        return two() == 3\n", Outcome.BAD_SAMPLE, "returns a comparison"),
    "a helper that returns one": ("def same(n): return two() == n\ndef test(): assert same(2)\n", Outcome.PASSED, ""),
    "nothing but pass": ("def test_a(): pass\ndef test_b(): assert True\n", Outcome.BAD_SAMPLE, "no test names anything"),
    "set-up that tests": ("import unittest\nclass T(unittest.TestCase):\n    def setUp(self): assert two() == 2\n    def test(self): pass\n", Outcome.PASSED, ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(installed: Environment, sandbox: Sandbox, rules: ValidationRules) -> dict[str, Result]:
    after = [Case(f"after {name}", "", CODE, test=test) for name, (test, _, _) in AFTER.items()]
    modules = [
        Case(f"module {name}", "", CODE, test_file=f"from solution import *\n{text}", module="solution")
        for name, (text, _, _) in MODULES.items()
    ]
    once = rules.model_copy(update={"repeats": 1, "time_s": 20.0})
    return {result.id: result for result in run_cases(installed, [*after, *modules], sandbox, once, 2)}


@pytest.mark.parametrize("name", AFTER)
def test_asserts_after_the_code(results: dict[str, Result], name: str) -> None:
    result, (_, outcome, detail) = results[f"after {name}"], AFTER[name]
    assert (result.outcome, detail in str(result.detail or "")) == (outcome, True), (result.detail, result.output)


@pytest.mark.parametrize("name", MODULES)
def test_modules_of_pytest(results: dict[str, Result], name: str) -> None:
    result, (_, outcome, detail) = results[f"module {name}"], MODULES[name]
    assert (result.outcome, detail in str(result.detail or "")) == (outcome, True), (result.detail, result.output)


def test_code_alone_may_end_with_its_own_tests(
    installed: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    cases = [
        Case("green", "", f"{CODE}{_GREEN}unittest.main()"),
        Case("red", "", f"{CODE}{_RED}unittest.main(exit=False)"),
        Case("and asserts", "", f"{CODE}{_GREEN}unittest.main()", test="assert two() == 3"),
    ]
    outcomes = [result.outcome for result in run_cases(installed, cases, sandbox, rules)]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED_ASSERTION, Outcome.FAILED_ASSERTION]
