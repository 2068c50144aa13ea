"""Coverage by the harness's own tracer, held against coverage.py on every interpreter of this machine."""

from __future__ import annotations

import ast
import json
import subprocess
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Coverage
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

CODE = '''import threading
def used(x):
    """What it is for."""
    if x > 1:
        return [
            x,
        ]
    return 0
def unused():
    return 1
def in_thread():
    return 2
'''
ASSERTS = "assert used(2) == [2]\nt = threading.Thread(target=in_thread)\nt.start(); t.join()\n"
MODULE = "from solution import used\ndef test(): assert used(0) == 0\n"


def covered(environment: Environment, sandbox: Sandbox, rules: ValidationRules, case: Case) -> Coverage:
    (result,) = run_cases(environment, [case], sandbox, rules.model_copy(update={"repeats": 1, "time_s": 20.0}))
    assert result.outcome == Outcome.PASSED, result
    assert result.coverage is not None
    return result.coverage


def test_by_asserts_by_a_module_and_by_both(installed: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    asserted = Case("case", "", CODE, test=ASSERTS, cover=True)
    found = covered(installed, sandbox, rules, asserted)
    assert (found.statements, found.executed, found.missing) == (9, (1, 2, 4, 5, 9, 11, 12), (8, 10))
    assert found.share == pytest.approx(7 / 9)
    tested = covered(installed, sandbox, rules, replace(asserted, test=None, test_file=MODULE))
    assert tested.missing == (5, 10, 12)
    assert covered(installed, sandbox, rules, replace(asserted, test_file=MODULE)).missing == (10,)


def test_a_case_that_fails_has_coverage_too(installed: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    cases = [Case("fails", "", "x = 1\nassert x == 2\ny = 1", cover=True), Case("breaks", "", "x = (", cover=True)]
    failed, broken = run_cases(installed, cases, sandbox, rules)
    assert (failed.outcome, failed.coverage) == (Outcome.FAILED_ASSERTION, Coverage(3, (1, 2), (3,)))
    assert (broken.outcome, broken.coverage) == (Outcome.SYNTAX_ERROR, None)
    assert run_cases(installed, [Case("", "", "", cover=True)], sandbox, rules)[0].coverage == Coverage(0, (), ())
    assert Coverage(0, (), ()).share == 1.0


TRICKY = '''\
"""Module docstring
of two lines."""
from __future__ import division
import os, sys
X = 1; Y = 2
if X:
    A = [
        1,
        2,
    ]
else:
    A = 3
def deco(f):
    "doc"
    return f
@deco
@deco
def g(
    a,
    b=2,
):
    """Doc.

    More.
    """
    try:
        if a > b:
            return (a +
                    b)
        elif a == b:
            raise ValueError(
                "x"
            )
    except ValueError:
        pass
    except KeyError:
        return 9
    else:
        b = 1
    finally:
        b = 3
    for i in range(3):
        if i == 1:
            continue
        print(i)
    else:
        b = 4
    while True:
        break
    with open(os.devnull) as f, \\
         open(os.devnull) as h:
        pass
    return {
        "a": a,
        "b": [x for x in range(3)
              if x],
    }
class C(object):
    """doc"""
    attr: int = 1
    bare: int
    def m(self):
        global X
        X = 5
        def inner():
            yield 1
            yield 2
        return lambda: (
            1)
    async def n(self):
        ...
    def never(self):
        "only doc"
    def dots(self): ...
    x = 3
if __name__ == "__main__":
    g(3)
if 0:
    never = 1
s = """multi
line"""
"expression string"
assert X, \\
   "no"
del s
def k(): return 1
g(1); g(2)
t = g(5)
C().m()()
list(C().m.__func__(C).__class__.__mro__)
print("a",
      "b",
      t if t else
      "c")
'''
_STANDARD = ("textwrap", "csv", "difflib", "argparse", "fractions", "contextlib", "calendar", "heapq")


INTERPRETERS = discover()
# CI has time for the oldest and the newest.
ENDS = {INTERPRETERS[0], INTERPRETERS[-1]}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=() if each in ENDS else pytest.mark.soak, id=each.python) for each in INTERPRETERS
    ],
)
def with_coverage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    found: Interpreter = request.param
    root = tmp_path_factory.mktemp("covered") / "environment"
    uv = Path(sysconfig.get_path("scripts"), "uv")
    subprocess.run([uv, "venv", "-q", "--python", found.path, root], check=True)
    install: list[str | Path] = [
        uv,
        "pip",
        "install",
        "-q",
        "--python",
        root / "bin" / "python",
        "--only-binary",
        ":all:",
        "coverage",
    ]
    subprocess.run(install, check=True)
    site_packages = root / "lib" / f"python{found.python}" / "site-packages"
    root.parent.chmod(0o755)
    return Environment("covered", found.python, root / "bin" / "python", site_packages, (found.prefix, root))


@pytest.mark.slow
def test_as_coverage_py(with_coverage: Environment, sandbox: Sandbox, rules: ValidationRules, tmp_path: Path) -> None:
    library = with_coverage.folders[0] / "lib" / f"python{with_coverage.python_version}"
    sources = {"tricky": TRICKY} | {name: (library / f"{name}.py").read_text() for name in _STANDARD}
    differing = {}
    for name, source in sources.items():
        ours = covered(with_coverage, sandbox, rules, Case(name, "", source, cover=True))
        statements, missing = by_coverage_py(with_coverage.python, source, tmp_path)
        # The last coverage.py for Python 3.7 counts the module's docstring if it does not begin on the first line.
        counted = with_coverage.python_version in ("3.6", "3.7") and ast.parse(source).body[0].lineno > 1
        theirs = statements - (counted and ast.get_docstring(ast.parse(source)) is not None), missing
        if (ours.statements, list(ours.missing)) != theirs:
            differing[name] = (ours, theirs)
    assert differing == {}


def by_coverage_py(python: Path, source: str, folder: Path) -> tuple[int, list[int]]:
    """Return statements and missing lines; no line is excluded by a comment."""
    (folder / "case.py").write_text(source)
    (folder / "settings").write_text("[report]\nexclude_lines = never to be found\n")
    for command in (["run", "case.py"], ["json", "-q", "-o", "found.json", "--include=case.py"]):
        done: list[str | Path] = [python, "-m", "coverage", command[0], "--rcfile=settings", *command[1:]]
        subprocess.run(done, cwd=folder, capture_output=True, check=True)
    found = json.loads((folder / "found.json").read_text())["files"]["case.py"]
    return found["summary"]["num_statements"], found["missing_lines"]
