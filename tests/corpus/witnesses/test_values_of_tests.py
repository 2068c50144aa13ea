"""Which values tests give to parameters."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.corpus.witnesses.values_of_tests import ValuesOfTests
from tests.corpus.own_tests.suites import RULE
from tests.corpus.witnesses.test_changed_uses import own_test
from tests.corpus.witnesses.test_written import SYMBOLS

VALUES: dict[str, tuple[str, list[str]]] = {
    "a literal, by name and by position": ("f(x=9)\ndemo.total(4)", ["4", "9"]),
    "the commonest first": ("demo.total(4)\nf(x=9)\nf(x=9)", ["9", "4"]),
    "a collection of literals": ("f(x=[1, -2])", ["[1, -2]"]),
    "nothing that is empty": ("f(x=[])\nf(x=None)\nf(x={})\nf(x=())", []),
    "an object of the library": ("f(x=demo.Box(7))", ["demo.Box(7)"]),
    "under the whole name of its module": ("from demo import inner as i\nf(x=i.Box())", ["demo.inner.Box()"]),
    "of the standard library": ("from datetime import date\nf(x=date(2024, 5, 17))", ["datetime.date(2024, 5, 17)"]),
    "not of another library": ("import numpy as np\nf(x=np.array([1]))", []),
    "of a module beside the test": ("from .helpers import make\nf(x=make())", []),
    "what a name stands for": ("size = 7\nbox = demo.Box(size)\nf(x=box)", ["demo.Box(7)"]),
    "not once a statement has used the object": ("box = demo.Box(7)\nbox.put(1)\nf(x=box)", []),
    "nor when the name is bound again": ("box = demo.Box(7)\nfor box in (1, 2):\n    f(x=box)", []),
    "a class can be used often": ("Box = demo.Box\nf(Box)\nf(x=Box(7))", ["demo.Box(7)"]),
    "within a context": ("box = demo.Box(7)\nwith demo.inner.Box():\n    f(x=box)", ["demo.Box(7)"]),
    "no name that the program does not bind": ("f(x=fixture)", []),
    "no name of a comprehension": ("f(x=[each for each in (1, 2)])", []),
    "a function that is built in": ("f(x=sorted)", ["sorted"]),
    "no unpacked arguments, nor what follows them": ("demo.total(*[5, 6])\ndemo.total(*(), 4)", []),
    "nor of a function that binds it again": (
        "box = demo.Box(7)\ndef put():\n    nonlocal_to = 1\n    def more():\n        nonlocal nonlocal_to\n    more()\n"
        "def box(): pass\nf(x=box)",
        [],
    ),
    "no f-string that cannot hold what a name stands for": ("line = 'a\\\\b'\nf(x=f'{line}')\nf(x=9)", ["9"]),
    "nothing long": (f"f(x='{'a' * RULE.written.longest_value}')", []),
}


@pytest.mark.parametrize(("code", "expected"), VALUES.values(), ids=VALUES)
def test_values_that_tests_give_to_a_parameter(code: str, expected: list[str]) -> None:
    tests: Any = [own_test(f"{code}\nassert demo.LIMIT")]
    assert ValuesOfTests(tests, SYMBOLS, RULE.written).of("x") == expected
