"""Code that runs as a script, and asserts that run after it in the same namespace."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

Run = Callable[..., Result]

SCRIPTS = [
    ("import os\nassert __file__ == os.path.abspath('case.py') and open(__file__).read().startswith('import os')", "", Outcome.PASSED),
    ("import sys, os\nassert os.getcwd() in sys.path and os.getcwd() == os.path.dirname(__file__)", "import case\nassert case.sys", Outcome.PASSED),
    ("if __name__ == '__main__': x = 1", "assert x == 1", Outcome.PASSED),
    ("import sys\ndef main(): return 0\nif __name__ == '__main__': sys.exit(main())", "assert True", Outcome.WRONG_EXCEPTION),
    ("def f(): return 1", "assert f() == 1", Outcome.PASSED),
    ("def f(): return 1", "assert f() == 2, 'another'", Outcome.FAILED_ASSERTION),
    ("def f(): return 1", "g()", Outcome.UNDEFINED_NAME),
    ("def f(): return 1", "f(1)", Outcome.SIGNATURE_MISMATCH),
    ("def f(): return 1", "import lib\nlib.gone", Outcome.API_MISSING),
    ("def f(): return 1", "x = (", Outcome.SYNTAX_ERROR),
    ("def f(): return 1", "", Outcome.PASSED),
    ("", "", Outcome.PASSED),
    ("from __future__ import division\ndef f(): return 1", "def g(): return f()\nassert g() and division", Outcome.PASSED),
    ("def f(): return 1", "import inspect\nassert 'return 1' in inspect.getsource(f)\ndef g(): return 2\nassert 'return 2' in inspect.getsource(g)", Outcome.PASSED),
    ("def f(x): return 2 * x", "import multiprocessing as m\nfor how in ('fork', 'spawn'):\n    pool = m.get_context(how).Pool(2)\n    assert pool.map(f, [1, 2]) == [2, 4]\n    pool.terminate()", Outcome.PASSED),
    ("def f(): return 1", "import subprocess, sys\nassert subprocess.call([sys.executable, '-c', 'import case; assert case.f() == 1']) == 0", Outcome.PASSED),
    ("import asyncio\nasync def f(): return 1", "assert asyncio.new_event_loop().run_until_complete(f()) == 1", Outcome.PASSED),
    ("def f(): return open('x').read()", "with open('x', 'w') as file: file.write('y')\nassert f() == 'y'", Outcome.PASSED),
    ("# -*- coding: latin-1 -*-\nx = 'é'", "assert x == '\\xe9'", Outcome.PASSED),
    ("# -*- coding: ascii -*-\nx = 'é'", "", Outcome.SYNTAX_ERROR),
    ("\ufeffимя = 'значение 🐍'", "assert len(имя) == 10", Outcome.PASSED),
    ("def f():\r\n\treturn '''a\r\nb'''\r\n", "assert f() == 'a\\nb'\r\n", Outcome.PASSED),
    ("if True:\n\tx = 1\n        y = 2\n", "", Outcome.SYNTAX_ERROR),
    ("x = 1\0", "", Outcome.SYNTAX_ERROR),
    ("x = 1", "y = 1\0", Outcome.SYNTAX_ERROR),
    ("x = '\ud800'", "", Outcome.SYNTAX_ERROR),
    ("eval('x (')", "", Outcome.WRONG_EXCEPTION),
    ("import warnings\nwarnings.simplefilter('error')\nwarnings.warn('x')", "", Outcome.WRONG_EXCEPTION),
    ("import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()", "", Outcome.PASSED),
    ("import os\nos.chdir('/')\ndef f(): 1 / 0", "try: f()\nexcept ZeroDivisionError: pass\nimport lib", Outcome.PASSED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "test", "outcome"), SCRIPTS, ids=[ascii(f"{code[-30:]}|{test[-30:]}") for code, test, _ in SCRIPTS]
)
def test_script_and_its_asserts(
    old_and_new: Environment, outcome_of: Run, code: str, test: str, outcome: Outcome
) -> None:
    result = outcome_of(old_and_new, code, test=test, repeats=1)
    assert result.outcome == outcome, (result.detail, result.output)


def test_output_is_the_cleaned_end_of_what_was_printed(environment: Environment, outcome_of: Run) -> None:
    code = "import os, sys\nprint('a' * 9000, '\\x1b[31mred', flush=True)\nos.system('echo outside')\nsys.stderr.write('err')"
    output = outcome_of(environment, code, repeats=1, output_tail=100).output
    assert len(output) == 100
    assert output.startswith("…aaa")
    assert output.endswith("a red\noutside\nerr")


def test_on_result_is_told_each_result(environment: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    told: list[Result] = []
    results = run_cases(environment, [Case(str(n), "", "") for n in range(3)], sandbox, rules, 2, told.append)
    assert sorted(told, key=lambda result: result.id) == results
