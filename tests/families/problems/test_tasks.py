"""Examples become functions: what is lifted, what is kept, and that the function does what the example did.

The examples are those of real docstrings (humanize, more-itertools, semver, toolz, packaging), with the library called
lib where only the shape matters, and those of the standard library where they are run.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.families.problems.program import hidden_tests, visible_test, write
from pipeline.families.problems.tasks import Task, tasks_of, without_none
from tests.families.problems.examples import RULES_OF_PROBLEMS, example

SHAPES = {
    "calls that differ in values alone are one task": (
        ">>> from lib import metric\n>>> metric(1500, 'V')\n'1.50 kV'\n>>> metric(2e8, 'W')\n'200 MW'\n>>> metric(1e-14, precision=4)\n'10.00 f'\n",
        [
            ([], "metric(parameter_0, parameter_1)", [("1500", "'V'"), ("200000000.0", "'W'")]),
            ([], "metric(parameter_0, precision=parameter_1)", [("1e-14", "4")]),
        ],
    ),
    "a variable is a parameter, and earlier ones stand in its value": (
        ">>> from lib import evaluate\n>>> one = [1, -4]\n>>> both = one + [60]\n>>> x = 2.5\n>>> evaluate(both, x, x)\n8.125\n",
        [([], "evaluate(parameter_0, parameter_1, parameter_1)", [("[1, -4] + [60]", "2.5")])],
    ),
    "objects of the library are made in the function": (
        ">>> import lib\n>>> version = lib.parse('3.4.5')\n>>> version.major\n3\n>>> version.minor\n4\n",
        [
            (["version = lib.parse(parameter_0)"], "version.major", [("'3.4.5'",)]),
            (["version = lib.parse(parameter_0)"], "version.minor", [("'3.4.5'",)]),
        ],
    ),
    "what changes an object is done, what only shows it is not": (
        ">>> from lib import seekable\n>>> it = seekable('0123')\n>>> it.peek()\n'0'\n>>> it.seek(2)\n>>> next(it)\n'2'\n",
        [
            (["it = seekable(parameter_0)"], "it.peek()", [("'0123'",)]),
            (["it = seekable(parameter_0)", "it.seek(parameter_1)"], "next(it)", [("'0123'", "2")]),
        ],
    ),
    "functions are values where they are handed over, and not where they are called": (
        ">>> from lib import bucket\n>>> sorted(bucket([1, 2], key=lambda x: x > 1), key=len)\n[True]\n",
        [([], "sorted(bucket(parameter_0, key=parameter_1), key=parameter_2)", [("[1, 2]", "lambda x: x > 1", "len")])],
    ),
    "a comprehension's own names are no values": (
        ">>> from lib import f\n>>> [f(x, 2) for x in range(3)]\n[0]\n",
        [([], "[f(x, parameter_0) for x in parameter_1]", [("2", "range(3)")])],
    ),
    "an index of slices is taken apart: `1:3` is no value outside of the brackets": (
        ">>> from lib import c_\n>>> first = 2\n>>> c_[1:3, ::first, 0]\n7\n>>> c_[(1, 2), 5]\n7\n",
        [
            ([], "c_[parameter_0:parameter_1, ::parameter_2, parameter_3]", [("1", "3", "2", "0")]),
            ([], "c_[parameter_0]", [("((1, 2), 5)",)]),
        ],
    ),
    "what stands beside the library's values is lifted alone": (
        ">>> from lib import Spec, Version\n>>> list(Spec('>=1').filter(['1.2', Version('1.4')]))\n['1.2']\n",
        [([], "list(Spec(parameter_0).filter([parameter_1, Version(parameter_2)]))", [("'>=1'", "'1.2'", "'1.4'")])],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SHAPES)
def test_shape(case: str) -> None:
    docstring, expected = SHAPES[case]
    tasks = tasks_of(example(docstring), {"lib"}).tasks
    found = [(list(task.body), task.returned, [each.arguments for each in task.cases]) for task in tasks]
    assert found == expected


UNFIT = {
    "a loop makes it": (">>> from lib import f\n>>> for x in f(3): y = x\n>>> y.z\n1\n", "several parts"),
    "a value is changed on the way": (">>> from lib import f\n>>> a = [1]\n>>> a.append(2)\n>>> f(a)\n1\n", "is changed"),
    "a value becomes the library's": (
        ">>> from lib import spy\n>>> it = 'ab'\n>>> head, it = spy(it)\n>>> list(it)\n['a']\n", "something of the library",
    ),
    "a text with a value of the library": (">>> from lib import f\n>>> f'{f(1)} x'\n'1 x'\n", "cannot be parted"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNFIT)
def test_what_is_no_function(case: str) -> None:
    docstring, why = UNFIT[case]
    told = tasks_of(example(docstring), {"lib"})
    assert not told.tasks
    assert why in told.unfit[0]


@pytest.mark.parametrize("docstring", [">>> import os\n>>> os.sep\n'/'\n", ">>> from lib import f\n>>> x = f(1)\n"])
def test_an_example_without_anything_to_compare_has_no_task(docstring: str) -> None:
    assert tasks_of(example(docstring), {"lib"}).tasks == ()


RUN = {
    "bisect": ">>> import bisect\n>>> places = [1, 3, 5]\n>>> bisect.bisect(places, 3)\n2\n>>> bisect.bisect([1], 0)\n0\n",
    "collections": ">>> from collections import Counter\n>>> c = Counter('abca')\n>>> c.update('aa')\n>>> c['a']\n4\n>>> Counter('aab').most_common(1)\n[('a', 2)]\n",
    "datetime": ">>> import datetime as dt\n>>> from statistics import mean\n>>> mean([dt.timedelta(days=n).days for n in (1, 3)])\n2\n",
    "fractions": ">>> from fractions import Fraction\n>>> Fraction(3, -6)\nFraction(-1, 2)\n>>> Fraction('1/0')\nTraceback (most recent call last):\n  ...\nZeroDivisionError: Fraction(1, 0)\n>>> Fraction('1/3')\nFraction(1, 3)\n",
    "a helper of its own": ">>> from statistics import mean\n>>> def double(x): return 2 * x\n>>> mean(map(double, [1, 3]))\n4\n",
    "a class of the library's": ">>> from string import Template\n>>> class T(Template): delimiter = '%'\n>>> T('%x').substitute(x=1)\n'1'\n",
    "textwrap": ">>> import textwrap\n>>> print(textwrap.dedent('  a'))\na\n",
}  # fmt: skip
MODULES = {"bisect", "collections", "statistics", "fractions", "string", "textwrap"}


@pytest.mark.parametrize("name", RUN)
def test_the_function_does_what_the_example_does(name: str) -> None:
    """The program and its tests are run as they stand; the modules of the standard library are the library here."""
    tasks = tasks_of(example(RUN[name]), MODULES).tasks
    assert tasks
    for task in tasks:
        _run(task)


def _run(task: Task) -> None:
    written = write(task, (), RULES_OF_PROBLEMS)
    namespace: dict[str, object] = {}
    exec(compile(written.program, "program", "exec"), namespace)
    module = hidden_tests(task, written, task.cases, (), "sample", ())
    lines = [line for line in module.splitlines() if not line.startswith("from sample import")]
    exec(compile("\n".join(lines), "tests", "exec"), namespace)
    tests = [test for name, test in namespace.items() if re.match("test_(stated|recorded)_", name)]
    assert len(tests) == len(task.cases)
    for test in tests:
        assert callable(test)
        test()
    shown = next((case for case in task.cases if not case.outcome.raises), None)
    if shown is not None:
        exec(compile(visible_test(task, written, shown), "visible", "exec"), namespace)


BODIES = {
    "return fnmatch.filter(names, pattern)": True,
    "return [name for name in names if name.startswith(pattern[0])]": False,
    "return ['ab', 'ac']": False,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("given", ["import fnmatch\n", ""])
def test_a_body_without_the_library_fails(
    body: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = tasks_of(
        example(">>> import fnmatch\n>>> fnmatch.filter(['ab', 'b', 'ac'], 'a*')\n['ab', 'ac']\n"), {"fnmatch"}
    ).tasks
    tests = hidden_tests(task, write(task, (), RULES_OF_PROBLEMS), task.cases, (), "sample_plain", ["fnmatch"])
    inner = "" if given else "    import fnmatch\n"
    (tmp_path / "sample_plain.py").write_text(f"{given}def solve(names, pattern):\n{inner}    {body}\n")
    if "fnmatch" not in body:
        (tmp_path / "sample_plain.py").write_text(f"{given}def solve(names, pattern):\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sample_plain", raising=False)
    namespace: dict[str, Any] = {}
    exec(compile(tests, "tests", "exec"), namespace)
    namespace["test_stated_1"]()
    if BODIES[body]:
        namespace["test_needs_library"]()
    else:
        with pytest.raises(pytest.fail.Exception):
            namespace["test_needs_library"]()
    monkeypatch.delitem(sys.modules, "sample_plain")


def test_a_parameter_that_is_always_none_is_written_as_none() -> None:
    (task,) = tasks_of(example(">>> from lib import f\n>>> x = f([1], None)\n>>> f(x, 2, None)\n3\n"), {"lib"}).tasks
    assert (task.body, task.returned) == (("x = f(parameter_0, parameter_1)",), "f(x, parameter_2, parameter_3)")
    fixed = without_none(task)
    assert (fixed.body, fixed.returned) == (("x = f(parameter_0, None)",), "f(x, parameter_1, None)")
    assert [case.arguments for case in fixed.cases] == [("[1]", "2")]
    assert len(fixed.variables) == 2
    assert without_none(fixed) == fixed
