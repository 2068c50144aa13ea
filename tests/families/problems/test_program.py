"""Programs of problems: names say nothing about the API, and what is given does not name it."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.problems.program import call, name_for, other_program, other_solution, write
from pipeline.families.problems.tasks import Task, tasks_of
from tests.families.problems.examples import RULES_OF_PROBLEMS, example

NAMES = {
    "'a'": "text",
    "b'a'": "data",
    "-1": "number",
    "1.5": "number",
    "True": "flag",
    "[1]": "items",
    "(1,)": "items",
    "{}": "mapping",
    "lambda x: x": "function",
    "(x for x in 'ab')": "items",
    "None": "value",
    "range(3)": "value",
}


def first(docstring: str) -> Task:
    return tasks_of(example(docstring), {"lib"}).tasks[0]


@pytest.mark.parametrize("argument", NAMES)
def test_a_parameter_is_called_after_its_value(argument: str) -> None:
    assert name_for(argument, RULES_OF_PROBLEMS) == NAMES[argument]


WRITTEN = {
    "the import that names the API is to be written": (
        ">>> from lib import metric\n>>> metric(1500, 'V')\n'1.50 kV'\n",
        "metric",
        "def solve(number: int, text: str) -> str:\n",
        "    from lib import metric\n    return metric(number, text)\n",
    ),
    "the import that does not is given": (
        ">>> import lib\n>>> lib.parse('1').bump()\n'2'\n",
        "parse",
        "import lib\n\n\ndef solve(text: str) -> str:\n",
        "    return lib.parse(text).bump()\n",
    ),
    "of several names of one import, only those that are used": (
        ">>> from lib import metric, other\n>>> metric(1)\n'1'\n>>> other(1)\n'1'\n",
        "metric",
        "def solve(number: int) -> str:\n",
        "    from lib import metric\n    return metric(number)\n",
    ),
    "a variable keeps its name, unless that names the API or is taken": (
        ">>> from lib import take\n>>> n, take_2 = 2, 3\n>>> items = [1]\n>>> take(items, 5, 7)\n1\n",
        "take",
        "def solve(items: list, number: int, number_2: int) -> int:\n",
        "    from lib import take\n    return take(items, number, number_2)\n",
    ),
    "a variable with the API's name": (
        ">>> from lib import f\n>>> take = [1]\n>>> f(take)\n1\n",
        "take",
        "from lib import f\n\n\ndef solve(items: list) -> int:\n",
        "    return f(items)\n",
    ),
    "an import is parted": (
        ">>> from lib import decoder, sorted as order\n>>> order(['a'], decoder('x'))\n1\n",
        "decoder",
        "from lib import sorted as order\n\n\ndef solve(items: list, text: str) -> int:\n",
        "    from lib import decoder\n    return order(items, decoder(text))\n",
    ),
    "helpers are given, with what they import": (
        ">>> import math\n>>> from lib import f\n>>> class Thing:\n...     size = math.pi\n>>> f(Thing(), [1])\n1\n",
        "f",
        "import math\n\n\nclass Thing:\n    size = math.pi\n\n\ndef solve(value, items: list) -> int:\n",
        "    from lib import f\n    return f(value, items)\n",
    ),
    "what needs a class of its own is written whole": (
        ">>> from lib import Base, f\n>>> class Mine(Base):\n...     size = 1\n>>> f(Mine, [1])\n1\n",
        "Base",
        "from lib import f\n\n\n",
        "from lib import Base\n\n\nclass Mine(Base):\n    size = 1\n\n\ndef solve(items: list) -> int:\n    return f(Mine, items)\n",
    ),
}


TYPES = {
    "cases that agree": (">>> from lib import f\n>>> f(1)\n[1]\n>>> f(2)\n[2]\n", "number: int) -> list:"),
    "arguments that differ": (">>> from lib import f\n>>> f(1)\n[1]\n>>> f('a')\n['a']\n", "number) -> list:"),
    "results that differ": (">>> from lib import f\n>>> f(1)\n[1]\n>>> f(2)\n'two'\n", "number: int):"),
    "None beside others": (">>> from lib import f\n>>> f(1)\n[1]\n>>> f(2) is None\nTrue\n", "number: int)"),
    "no literals": (">>> from lib import f\n>>> f(range(3))\n1\n", "value) -> int:"),
}


@pytest.mark.parametrize("case", TYPES)
def test_the_head_has_the_types_that_all_cases_agree_on(case: str) -> None:
    docstring, head = TYPES[case]
    assert f"def solve({head}" in write(first(docstring), (), RULES_OF_PROBLEMS).program


@pytest.mark.parametrize("case", WRITTEN)
def test_written(case: str) -> None:
    docstring, hidden, starting_code, solution = WRITTEN[case]
    written = write(first(docstring), (hidden,), RULES_OF_PROBLEMS)
    assert (written.starting_code, written.solution) == (starting_code, solution)
    assert written.functional is starting_code.endswith(":\n")
    ast.parse(written.program)


def test_the_other_versions_code_takes_the_place_of_the_solution() -> None:
    docstring = ">>> import lib\n>>> lib.Version.parse('1.2')\n'1'\n"
    written = write(first(docstring), ("parse",), RULES_OF_PROBLEMS)
    older = first(">>> import lib\n>>> lib.parse_version('1.2')\n'1'\n")
    program = "import lib\n\n\ndef solve(text: str) -> str:\n    return lib.parse_version(text)\n"
    assert other_program(first(docstring), older, RULES_OF_PROBLEMS) == program
    assert other_solution(written, older, program) == "    import lib\n    return lib.parse_version(text)\n"
    wider = first(">>> import lib\n>>> lib.parse_version('1.2', 3)\n'1'\n")
    assert other_program(first(docstring), wider, RULES_OF_PROBLEMS) is None


def test_in_full_style_it_is_the_whole_program() -> None:
    docstring = ">>> from lib import Base, f\n>>> class Mine(Base):\n...     size = 1\n>>> f(Mine, [1])\n1\n"
    own, plain = first(docstring), first(">>> from lib import f\n>>> f(0, [1])\n1\n")
    older = first(docstring.replace("Base", "Old"))
    program = other_program(own, older, RULES_OF_PROBLEMS)
    assert program is not None
    assert program.startswith("from lib import Old, f\n\n\nclass Mine(Old):\n    size = 1\n\n\ndef solve(items: list)")
    assert other_solution(write(own, ("Base",), RULES_OF_PROBLEMS), older, program) == program
    assert other_solution(write(plain, ("f",), RULES_OF_PROBLEMS), older, program) is None


def test_a_call_gives_the_arguments_as_the_example_wrote_them() -> None:
    task = first(">>> from lib import f\n>>> key = lambda x: -x\n>>> f('a', key)\n1\n")
    assert call(write(task, ("f",), RULES_OF_PROBLEMS), task.cases[0]) == "solve('a', lambda x: -x)"
