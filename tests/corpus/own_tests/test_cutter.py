"""Tests that are cut out: what the programs are, that they run alone, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.cutter import CutTest
from pipeline.corpus.snippets.names import free_names
from tests.corpus.own_tests.suites import RULE, cut_all, program_of, refusal_of

PROGRAMS = {
    "a function": (
        {
            "tests/test_a.py": "import os\nimport json, math\n\nLIMIT = 3\n\ndef test_it():\n"
            '    """Doc."""\n    assert math.floor(LIMIT) == 3\n'
        },
        "import math\n\nLIMIT = 3\n\n\ndef test_it():\n    assert math.floor(LIMIT) == 3\n",
    ),
    "a fixture of conftest that gives a value": (
        {
            "tests/conftest.py": "import pytest\nimport json\n\n@pytest.fixture\ndef text(request):\n"
            "    return json.dumps(1)\n",
            "tests/test_a.py": "def test_it(text):\n    assert text == '1'\n",
        },
        "import json\n\n\ndef test_it():\n    text = json.dumps(1)\n    assert text == '1'\n",
    ),
    "a fixture of several statements": (
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture(scope='module')\ndef numbers():\n    found = []\n"
            "    found.append(1)\n    return found\n\n@pytest.fixture\ndef total(numbers):\n    return sum(numbers)\n\n"
            "def test_it(total):\n    assert total == 1\n",
        },
        "def test_it():\n    found = []\n    found.append(1)\n    numbers = found\n    total = sum(numbers)\n"
        "    assert total == 1\n",
    ),
    "fixtures of an application": (
        {
            "tests/conftest.py": "import json\nimport pytest\n\n@pytest.fixture\ndef app():\n"
            "    app = dict(name='test',\n               text=json.dumps(1))\n    app.update(\n        testing=True,\n    )\n"
            "    return app\n\n@pytest.fixture\ndef names(app):\n    return app.keys()\n",
            "tests/test_a.py": "def test_it(app, names):\n    assert app['testing'] and 'text' in names\n",
        },
        "import json\n\n\ndef test_it():\n    app = dict(name='test', text=json.dumps(1))\n"
        "    app.update(testing=True)\n    names = app.keys()\n    assert app['testing'] and 'text' in names\n",
    ),
    "a fixture with a name that the test has for something else": (
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture\ndef total():\n    found = [1]\n    return sum(found)\n\n"
            "def test_it(total):\n    found = 1\n    assert total == found\n",
        },
        "\n\ndef make_total():\n    found = [1]\n    return sum(found)\n\n\n"
        "def test_it():\n    total = make_total()\n    found = 1\n    assert total == found\n",
    ),
    "a fixture that decides": (
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture\ndef total():\n    if 1:\n        return 1\n    return 2\n\n"
            "def test_it(total):\n    assert total == 1\n",
        },
        "\n\ndef make_total():\n    if 1:\n        return 1\n    return 2\n\n\n"
        "def test_it():\n    total = make_total()\n    assert total == 1\n",
    ),
    "fixtures that hold contexts": (
        {
            "tests/conftest.py": "import decimal\nimport pytest\n\n@pytest.fixture\ndef place():\n    return 3\n\n"
            "@pytest.fixture\ndef context(place):\n    with decimal.localcontext() as ctx:\n        yield ctx\n\n"
            "@pytest.fixture\ndef exact(context):\n    context.prec = 3\n"
            "    with decimal.localcontext(), decimal.localcontext() as other:\n        yield other.prec\n",
            "tests/test_a.py": "def test_it(exact):\n    assert exact == 3\n",
        },
        "from contextlib import ExitStack\nimport decimal\n\n\ndef test_it():\n    place = 3\n    stack = ExitStack()\n"
        "    context = stack.enter_context(decimal.localcontext())\n    context.prec = 3\n"
        "    stack.enter_context(decimal.localcontext())\n"
        "    other = stack.enter_context(decimal.localcontext())\n    exact = other.prec\n    assert exact == 3\n",
    ),
    "a fixture whose context has a name of the test": (
        {
            "tests/test_a.py": "import decimal\nimport pytest\n\n@pytest.fixture\ndef context():\n"
            "    with decimal.localcontext() as ctx:\n        yield ctx\n\n"
            "def test_it(context):\n    ctx = 28\n    assert context.prec == ctx\n",
        },
        "from contextlib import ExitStack\nimport decimal\n\n\ndef test_it():\n    stack = ExitStack()\n"
        "    context = stack.enter_context(decimal.localcontext())\n    ctx = 28\n    assert context.prec == ctx\n",
    ),
    "a fixture that cleans up": (
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture\ndef item():\n    yield 1\n\n"
            "def test_it(item, tmp_path):\n    assert item == len([tmp_path])\n"
        },
        "import pytest\n\n\n@pytest.fixture\ndef item():\n    yield 1\n\n\n"
        "def test_it(item, tmp_path):\n    assert item == len([tmp_path])\n",
    ),
    "helpers of other modules": (
        {
            "tests/__init__.py": "",
            "tests/base.py": "from math import floor\n\ndef check(x):\n    assert floor(x) == 1\n",
            "tests/tools.py": "def one():\n    return 1\n",
            "tests/test_a.py": "from .base import check as verify\nfrom tests import tools\n\n"
            "def test_it():\n    verify(tools.one())\n",
        },
        "from math import floor\n\n\ndef one():\n    return 1\n\n\ndef check(x):\n    assert floor(x) == 1\n\n"
        "verify = check\n\n\ndef test_it():\n    verify(one())\n",
    ),
    "a method of unittest": (
        {
            "tests/test_a.py": "import unittest\n\nclass TestA(unittest.TestCase):\n    SIZE = 2\n\n"
            "    def setUp(self):\n        self.items = [1, 2]\n\n"
            "    def test_it(self):\n        self.assertEqual(len(self.items), self.SIZE, 'size')\n"
            "        with self.assertRaises(ValueError) as caught:\n            self.items.index(3)\n"
            "        self.assertIn('3', str(caught.exception))\n        self.assertTrue(self.items or None)\n",
        },
        "import pytest\n\n\ndef test_it():\n    SIZE = 2\n    items = [1, 2]\n    assert len(items) == SIZE\n"
        "    with pytest.raises(ValueError) as caught:\n        items.index(3)\n"
        "    assert '3' in str(caught.value)\n    assert (items or None)\n",
    ),
    "a method with what its class and a base have": (
        {
            "tests/test_a.py": "import unittest\n\nclass Mixin:\n    SIZE = 3\n    KIND = list\n\n"
            "    def items(self, *more):\n        return self.KIND((1, *more))\n\n"
            "    def unused(self):\n        return super()\n\n"
            "class TestA(unittest.TestCase, Mixin):\n    SIZE = 2\n\n    def _size(self):\n        return self.SIZE\n\n"
            "    def test_it(self):\n        items = self.items(2)\n"
            "        self.assertEqual(len(items), self._size())\n",
        },
        "def test_it():\n    SIZE = 2\n    def _size():\n        return SIZE\n"
        "    def items_helper(*more):\n        return list((1, *more))\n"
        "    items = items_helper(2)\n    assert len(items) == _size()\n",
    ),
    "helpers with the name of a variable, a part of `def` among them": (
        {
            "tests/test_a.py": "class TestA:\n    def f(self):\n        return 1\n\n"
            "    def def_(self, of):\n        return of + 1\n\n    def  \\\n        check(self, x):\n        assert x == 2\n\n"
            "    def test_it(self):\n        f = self.f()\n        def_ = self.def_(f)\n        check = def_\n"
            "        self.check(check)\n        assert check == f + 1\n",
        },
        "def test_it():\n    def  \\\n        check_helper(x):\n        assert x == 2\n"
        "    def def_helper(of):\n        return of + 1\n    def f_helper():\n        return 1\n"
        "    f = f_helper()\n    def_ = def_helper(f)\n    check = def_\n"
        "    check_helper(check)\n    assert check == f + 1\n",
    ),
    "helpers whose instance is annotated, positional only, or on lines of its own": (
        {
            "tests/test_a.py": "class TestA:\n    def a(self: object, x):\n        return x\n\n"
            "    def b(self: (dict[str, int]), *, x=(1, 2)):\n        return x\n\n    def c(self, /):\n        return 3\n\n"
            "    def d(self, /, x, y=4):\n        return y\n\n    def e(self, x, /, y=5):\n        return y\n\n"
            "    def f(\n        self,  # the test, of course\n        # a number\n        x,\n    ):\n        return x\n\n"
            "    def g(\n        self  # ), the test\n        ,\n    ) -> int:\n        return 7\n\n"
            "    def h(self : object, x: int = 8, **more: int):\n        return x\n\n"
            "    def i(\n        self\n        ,  # (\n        /  # positional\n        ,\n        x):\n        return x\n\n"
            "    def test_it(self):\n        assert [self.a(1), self.b(), self.c(), self.d(0), self.e(0)] == [1, (1, 2), 3, 4, 5]\n"
            "        assert [self.f(6), self.g(), self.h(), self.i(9)] == [6, 7, 8, 9]\n",
        },
        "def test_it():\n    def a(x):\n        return x\n    def b(*, x=(1, 2)):\n        return x\n"
        "    def c():\n        return 3\n    def d(x, y=4):\n        return y\n    def e(x, /, y=5):\n        return y\n"
        "    def f(\n        x,\n    ):\n        return x\n    def g(\n        ) -> int:\n        return 7\n"
        "    def h(x: int = 8, **more: int):\n        return x\n    def i(\n        x):\n        return x\n"
        "    assert [a(1), b(), c(), d(0), e(0)] == [1, (1, 2), 3, 4, 5]\n"
        "    assert [f(6), g(), h(), i(9)] == [6, 7, 8, 9]\n",
    ),
    "a helper whose instance has a default": (
        {
            "tests/test_a.py": "class TestA:\n    def one(self=None, x=(1)):\n        return x\n\n"
            "    def test_it(self):\n        assert self.one() == 1\n",
        },
        "class TestA:\n    def one(self=None, x=(1)):\n        return x\n\n"
        "    def test_it(self):\n        assert self.one() == 1\n",
    ),
    "a method whose inner function binds its variable": (
        {
            "tests/test_a.py": "import unittest\n\nclass TestA(unittest.TestCase):\n    def test_it(self):\n"
            "        calls = 0\n        def count():\n            nonlocal calls\n            calls += 1\n"
            "        count()\n        self.assertEqual(calls, 1)\n",
        },
        "def test_it():\n    calls = 0\n    def count():\n        nonlocal calls\n        calls += 1\n"
        "    count()\n    assert calls == 1\n",
    ),
    "such a method that goes by what its class names": (
        {
            "tests/test_a.py": "class TestA:\n    KIND = list\n    def test_it(self):\n"
            "        calls = 0\n        def count():\n            nonlocal calls\n            calls += 1\n"
            "        count()\n        assert self.KIND([calls]) == [1]\n",
        },
        "class TestA:\n    KIND = list\n\n    def test_it(self):\n"
        "        calls = 0\n        def count():\n            nonlocal calls\n            calls += 1\n"
        "        count()\n        assert self.KIND([calls]) == [1]\n",
    ),
    "an inherited method, of what its class names": (
        {
            "tests/__init__.py": "from json import dumps\n\nclass Mixin:\n    Kind = None\n\n"
            "    def test_it(self):\n        self.assertEqual(dumps(self.Kind(a=1)), '{\"a\": 1}')\n",
            "tests/test_a.py": "import unittest\nfrom collections import OrderedDict as Items\nfrom tests import Mixin\n\n"
            "class TestA(Mixin, unittest.TestCase):\n    Kind = Items\n",
        },
        "from collections import OrderedDict as Items\nfrom json import dumps\n\n\n"
        "def test_it():\n    assert dumps(Items(a=1)) == '{\"a\": 1}'\n",
    ),
    "a method that needs its class": (
        {
            "tests/test_a.py": "class Base:\n    @property\n    def helper(self):\n        return lambda: 1\n\n    def other(self):\n        pass\n\n"
            "class TestA(Base):\n    def test_it(self):\n        assert self.helper() == 1\n\n"
            "    def test_other(self):\n        raise ValueError\n",
        },
        None,
    ),
    "operands over several lines": (
        {
            "tests/test_a.py": "import unittest\n\nclass TestA(unittest.TestCase):\n    def test_it(self):\n"
            "        self.assertEqual(\n            'a'\n            .upper(),\n            'A'\n        )\n"
        },
        "def test_it():\n    assert ('a'\n            .upper()) == 'A'\n",
    ),
    "a fixture that a mark asks for, written in": (
        {
            "tests/test_a.py": "import pytest\n\nmade = []\n\n@pytest.fixture\ndef one():\n    made.append(1)\n"
            "    return 1\n\n@pytest.mark.usefixtures('one', 'tmp_path')\ndef test_it():\n    assert made\n",
        },
        "import pytest\n\nmade = []\n\n\n@pytest.mark.usefixtures('tmp_path')\ndef test_it():\n"
        "    made.append(1)\n    assert made\n",
    ),
    "set-up of the module": (
        {
            "tests/test_a.py": "made = []\n\ndef setup_module():\n    made.append(1)\n\n"
            "def setup_function():\n    made.append(2)\n\ndef test_it():\n    assert made == [1, 2]\n",
        },
        None,
    ),
    "parameters of which one goes to a fixture": (
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture\ndef double(request):\n    return request.param * 2\n\n"
            "@pytest.mark.parametrize('double, result', [(1, 2)], indirect=['double'])\n"
            "def test_it(double, result):\n    assert double == result\n",
        },
        None,
    ),
    "defaults that are given by name only": (
        {"tests/test_a.py": "def test_it(*, size=2):\n    assert size == 2\n"},
        "def test_it(size=2):\n    assert size == 2\n",
    ),
    "a fixture that overrides one of its name": (
        {
            "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef app():\n    return [1]\n",
            "tests/test_a.py": "import pytest\n\n@pytest.fixture\ndef app(app):\n    return [*app, 2]\n\n"
            "def test_it(app):\n    assert app == [1, 2]\n",
        },
        "\n\ndef make_app(app):\n    return [*app, 2]\n\n\n"
        "def test_it():\n    app = [1]\n    app = make_app(app)\n    assert app == [1, 2]\n",
    ),
    "an inherited test": (
        {
            "tests/base.py": "class TestBase:\n    number = 0\n\n    def test_it(self):\n        assert self.number == 1\n",
            "tests/test_a.py": "from base import TestBase\n\nclass TestA(TestBase):\n    number = 1\n",
        },
        None,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_stands_alone(name: str, tmp_path: Path) -> None:
    files, expected = PROGRAMS[name]
    made = next(each for each in cut_all(files) if "::test_it" in each.id)
    assert isinstance(made, CutTest), made
    if expected is not None:
        assert made.preamble + made.code == expected
    program = tmp_path / "test_alone.py"
    program.write_text(made.preamble + made.code)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout


def test_a_member_that_is_not_needed_stays_behind() -> None:
    files = PROGRAMS["a method that needs its class"][0]
    made = cut_all(files)[0]
    assert isinstance(made, CutTest)
    assert "helper" in made.preamble
    assert "other" not in made.preamble + made.code


def test_each_case_has_its_values() -> None:
    made = cut_all(
        {
            "tests/test_a.py": "import pytest\n\n@pytest.fixture(params=[1, 2], ids=['a', 'b'])\ndef base(request):\n"
            "    return request.param * 2\n\n@pytest.mark.parametrize('x, y', [(1, 'p'), pytest.param(2, 'q', id='two')])\n"
            "def test_it(x, base, y):\n    assert x and base and y\n",
        }
    )
    assert [each.id for each in made] == [
        f"tests/test_a.py::test_it[{case}-{base}]" for case in ("1-'p'", "two") for base in (1, 2)
    ]
    first = made[0]
    assert isinstance(first, CutTest)
    assert first.code == "def test_it():\n    x = 1\n    y = 'p'\n    base = 1 * 2\n    assert x and base and y\n"


@pytest.mark.parametrize(
    ("set_up", "test"),
    [
        ("self.x = 1\n        if self.x: return", "self.assertEqual(self.x, 1)"),
        ("super().setUp()\n        self.x = 1", "self.assertEqual(self.x, 1)"),
        ("self.x = 0", "def call(): self.x = 1\n        call()\n        self.assertEqual(self.x, 1)"),
        (
            "self.x = 1",
            "with self.assertWarns(UserWarning) as cm: warn('a')\n        self.assertEqual(cm.warning.args, ('a',))",
        ),
    ],
)
def test_a_method_whose_meaning_would_change_keeps_its_class(set_up: str, test: str) -> None:
    text = (
        "import unittest\nfrom warnings import warn\n\nclass TestA(unittest.TestCase):\n"
        f"    def setUp(self):\n        {set_up}\n\n    def test_it(self):\n        {test}\n"
    )
    (made,) = cut_all({"tests/test_a.py": text})
    assert isinstance(made, CutTest), made
    assert "class TestA(unittest.TestCase):" in made.code


def test_cases_with_one_id_are_told_apart() -> None:
    text = (
        "import pytest\n\n@pytest.mark.parametrize('x', [pytest.param(1, id='a'), pytest.param(2, id='a')])\n"
        "def test_it(x):\n    assert x\n"
    )
    assert [each.id.partition("::")[2] for each in cut_all({"tests/test_a.py": text})] == ["test_it[a]", "test_it[a#2]"]


def test_too_many_cases_are_the_same_ones_each_time() -> None:
    text = "import pytest\n\n@pytest.mark.parametrize('x', [{}])\ndef test_it(x):\n    assert x >= 0\n"
    rules = RULE.model_copy(update={"cases_per_test": 2})

    def ids(values: str) -> set[str]:
        made = cut_all({"tests/test_a.py": text.format(values)}, rules)
        assert [each.reason for each in made if not isinstance(each, CutTest)] == [RejectReason.OVER_QUOTA]
        return {each.id for each in made if isinstance(each, CutTest)}

    assert ids("1, 2, 3, 4") == ids("4, 3, 2, 1")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("@pytest.mark.skip\ndef test_it():\n    assert True\n", RejectReason.SKIPPED),
        ("pytestmark: list = [pytest.mark.skip]\ndef test_it():\n    assert True\n", RejectReason.SKIPPED),
        ("@pytest.fixture\nasync def one():\n    return 1\ndef test_it(one):\n    assert one\n", RejectReason.NO_FIXTURE),
        ("def test_it():\n    await nothing()\n    assert True\ndef nothing(): pass\n", RejectReason.INTERNAL_ERROR),
        ("@pytest.mark.xfail(reason='x')\ndef test_it():\n    assert True\n", RejectReason.SKIPPED),
        ("@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.xfail)])\ndef test_it(x):\n    assert x\n",
         RejectReason.SKIPPED),
        ("@pytest.mark.network\ndef test_it():\n    assert True\n", RejectReason.NEEDS_NETWORK),
        ("@pytest.mark.slow\ndef test_it():\n    assert True\n", RejectReason.TOO_SLOW),
        ("def test_it(datapath):\n    assert datapath\n", RejectReason.NEEDS_FILES),
        ("def test_it(mocker):\n    assert mocker\n", RejectReason.NO_FIXTURE),
        ("def test_it():\n    print(1)\n", RejectReason.NO_CHECK),
        ("def test_it():\n    yield 1\n", RejectReason.NO_CHECK),
        ("def test_it():\n    assert nowhere\n", RejectReason.UNRESOLVED_NAME),
        ("from .gone import helper\ndef test_it():\n    assert helper\n", RejectReason.UNRESOLVED_NAME),
        ("def test_it():\n" + "    x = 1\n" * 200 + "    assert x\n", RejectReason.TOO_LONG),
        ("from broken import x\ndef test_it():\n    assert x\n", RejectReason.UNPARSED_SOURCE),
        ("from other import helper\nLIMIT = 1\ndef test_it():\n    assert helper() == LIMIT\n", RejectReason.NAME_CONFLICT),
        ("import threading, time\ndef test_it():\n    threading.Thread(target=print).start()\n    time.sleep(0.1)\n"
         "    assert print\n", RejectReason.FLICKERS),
    ],
)  # fmt: skip
def test_what_cannot_stand_alone_is_refused(source: str, reason: RejectReason) -> None:
    others = {
        "tests/broken.py": "def x(:\n",
        "tests/other.py": "LIMIT = 2\ndef helper():\n    return LIMIT\n",
    }
    assert refusal_of({"tests/test_a.py": f"import pytest\n{source}", **others}).reason is reason


def test_an_import_in_a_function_becomes_absolute() -> None:
    made = program_of(
        {
            "src/demo/__init__.py": "",
            "src/demo/tests/__init__.py": "",
            "src/demo/tests/test_a.py": "from .. import greet\n\ndef test_it():\n    from ..core import deep\n"
            "    assert deep(greet)\n",
        }
    )
    assert made.preamble == "from demo import greet\n\n\n"
    assert "from demo.core import deep" in made.code


def test_a_module_that_a_file_asks_for_is_asked_for_by_each_program() -> None:
    made = program_of(
        {"tests/test_a.py": "import pytest\n\npytest.importorskip('json')\n\ndef test_it():\n    assert True\n"}
    )
    assert made.preamble == "import pytest\n\npytest.importorskip('json')\n\n\n"


def test_a_name_that_a_member_of_a_class_hides_is_taken_along() -> None:
    made = program_of(
        {
            "tests/test_a.py": "from functools import cache as total\n\ndef test_it():\n    class A:\n        @total\n"
            "        def total(self):\n            return 1\n\n    assert A().total() == 1\n"
        }
    )
    assert made.preamble == "from functools import cache as total\n\n\n"


@pytest.mark.parametrize(
    "binding",
    [
        "try:\n    text_type = unicode\nexcept NameError:\n    text_type = str",
        "try:\n    text_type = unicode\nexcept (ValueError, NameError):\n    text_type = str",
        "if sys.version_info[0] == 2:\n    text_type = unicode\nelse:\n    text_type = str",
        "text_type = str if sys.version_info > (3,) else unicode",
    ],
)
def test_a_name_that_may_be_missing_needs_no_binding(binding: str) -> None:
    made = program_of(
        {"tests/test_a.py": f"import sys\n\n{binding}\n\ndef test_it():\n    assert text_type(1) == '1'\n"}
    )
    assert binding in made.preamble
    exec(compile(f"{made.preamble}{made.code}\ntest_it()", "<program>", "exec"), {})


@pytest.mark.parametrize(
    "binding",
    [
        "try:\n    text_type = unicode\nexcept:\n    text_type = str",
        "try:\n    text_type = unicode\nexcept ValueError:\n    text_type = str",
        "try:\n    text_type = unicode\nexcept NameError:\n    text_type = unicode",
        "if os.sep == '/':\n    text_type = unicode",
    ],
)
def test_a_name_that_has_to_be_there_needs_a_binding(binding: str) -> None:
    files = {"tests/test_a.py": f"import os\n\n{binding}\n\ndef test_it():\n    assert text_type(1)\n"}
    assert refusal_of(files).reason is RejectReason.UNRESOLVED_NAME


def test_a_name_that_may_be_missing_in_one_place_needs_a_binding_in_another() -> None:
    text = "try:\n    text_type = unicode\nexcept NameError:\n    text_type = str\n\ndef test_it():\n"
    assert (
        refusal_of({"tests/test_a.py": f"{text}    assert text_type(1) == unicode(1)\n"}).reason
        is RejectReason.UNRESOLVED_NAME
    )


def test_lines_of_strings_keep_their_place() -> None:
    made = program_of(
        {
            "tests/test_a.py": 'class TestA:\n    def test_it(self):\n        text = """\n    a\n"""\n'
            '        assert text == "\\n    a\\n"\n'
        }
    )
    assert made.code == 'def test_it():\n    text = """\n    a\n"""\n    assert text == "\\n    a\\n"\n'


_NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta"])


@given(st.lists(st.tuples(_NAMES, st.lists(_NAMES, max_size=3)), min_size=1, max_size=8), st.lists(_NAMES, min_size=1))
def test_the_names_of_a_program_are_bound(definitions: list[tuple[str, list[str]]], used: list[str]) -> None:
    """Whatever the helpers call: a program parses, and no name in it is free, or the test is refused."""
    helpers = "".join(
        f"def {name}(*a):\n    return [{', '.join(other + '()' for other in calls) or '1'}]\n\n"
        for name, calls in definitions
    )
    split = len(helpers) // 2
    split = helpers.find("def ", split) if helpers.find("def ", split) > 0 else 0
    files = {
        "tests/helpers.py": helpers[:split],
        "tests/test_a.py": f"from helpers import *\n{helpers[split:]}def test_it():\n    assert [{', '.join(used)}]\n",
    }
    (made,) = cut_all(files)
    if isinstance(made, CutTest):
        assert free_names(made.preamble + made.code) == []
    else:
        assert made.reason in (RejectReason.UNRESOLVED_NAME, RejectReason.NAME_CONFLICT)
