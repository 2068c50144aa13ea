"""What a statement leaves open: parameters that nobody can tell from one another, values that no sentence describes."""

from __future__ import annotations

import pytest

from pipeline.families.problems.tasks import Task, gives_value, is_whole_line, tasks_of, unexplained_parameters
from tests.families.problems.examples import example


def task_of(code: str, stated: str = "1") -> Task:
    lines = "".join(f">>> {line}\n" for line in code.splitlines())
    (task,) = tasks_of(example(f">>> from lib import f, Set\n{lines}{stated}\n"), {"lib"}).tasks
    return task


@pytest.mark.parametrize(
    ("code", "described", "alike"),
    [
        ("f([1], 2)", (), []),
        ("f('a', 'b')", (), []),
        ("f([1], 2, 3)", (), []),
        ("f(a='a', b='b')", (), ["p0", "p1"]),
        ("f(a='a', b='b')", (0,), []),
        ("Set('~=1', x=True).f('1', y=True)", (2,), ["p1", "p3"]),
        ("Set('~=1').f('1')", (), ["p0", "p1"]),
        ("f('a', True)", (), ["p1"]),
        ("f('a', True)", (1,), []),
        ("strict = True\nf('a', strict)", (), []),
        ("first = 'a'\nsecond = 'b'\nf(a=first, b=second)", (), []),
    ],
)
def test_parameters_of_one_type_differ_by_place_name_or_description(
    code: str, described: tuple[int, ...], alike: list[str]
) -> None:
    task = task_of(code)
    names = [f"p{number}" for number in range(len(task.variables))]
    assert unexplained_parameters(task, "f", names, described) == alike


@pytest.mark.parametrize(
    ("code", "gives"),
    [
        ("f(1)", True),
        ("list(f(1))", True),
        ("Set(1).f()", True),
        ("x = f(1)\nsorted(x)", True),
        ("not f(1)", False),
        ("f(1)[0]", False),
        ("f(1).name", False),
        ("len(f(1))", False),
        ("a, b = f(1)\nlist(a)", False),
        ("x = Set(f(1))\nx.run()", False),
        ("x = f(1)\ny = x\ny", True),
        ("x = f(1)\nx.append(2)\nx", False),
        ("x = f(1)\nx[0] = 2\nx", False),
        ("x = f(1)\ny = x\ny.append(2)\nlist(y)", False),
    ],
)
def test_a_value_is_what_the_api_gives(code: str, gives: bool) -> None:
    assert gives_value(task_of(code), "f") is gives


@pytest.mark.parametrize(
    ("code", "alone"),
    [
        ("f(1)", True),
        ("list(f(1))", True),
        ("a, b = f(1)\nnot a", True),
        ("x = f(1)\nx[0]", True),
        ("not f(1)", False),
        ("f(1)[0]", False),
        ("Set(f(1))", False),
        ("x = f(1) + 2\nf(x)", False),
    ],
)
def test_a_line_that_works_out_nothing_beside_the_call(code: str, alone: bool) -> None:
    assert is_whole_line(task_of(code), "f") is alone
