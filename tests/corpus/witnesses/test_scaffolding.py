"""Tests as scripts, without plain aliases and contexts that do nothing."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.scripts import loose_script_of

IMPORT = "import demo\n"
HELPER = "from contextlib import contextmanager\n@contextmanager\ndef does_not_raise({}):\n    {}\n"
NULL = "from contextlib import nullcontext\n"


def script(preamble: str, body: str, head: str) -> list[str]:
    """The statements of a test without imports and definitions."""
    code = f"def test_it({head}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    row: Any = {"preamble": preamble, "code": code}
    lines = loose_script_of(row)[0]
    return text_of(line for line in lines if not line.text.startswith(("import ", "from ", "@", "def "))).splitlines()


INLINED: dict[str, tuple[str, str, str, list[str]]] = {
    "a name that is imported": ("from demo import f\n", "g = f\nassert g(1) == 2", "", ["print(f(1))"]),
    "a default of a parametrised test": ("from demo import f\n", "assert func(1) == 2", "func=f", ["print(f(1))"]),
    "a module": (IMPORT, "kind = demo\nassert kind.inner.f(1) == 2", "", ["print(demo.inner.f(1))"]),
    "a function of a module": (IMPORT, "f = demo.f\nassert f(1) == f.x", "", ["print(demo.f(1) == demo.f.x)"]),
    "a name that is passed on": ("from demo import f\n", "g = f\nassert call(g) == 2", "", ["print(call(f))"]),
    "a helper": ("def f(x):\n    return x\n", "g = f\nassert g(1) == 1", "", ["print(f(1))"]),
    "of the module of the test": (
        f"{IMPORT}f = demo.f\n",
        "assert [f(x) for x in (1, 2)] == 2",
        "",
        ["print([demo.f(x) for x in (1, 2)])"],
    ),
}


@pytest.mark.parametrize("case", INLINED)
def test_an_alias_is_inlined(case: str) -> None:
    preamble, body, head, expected = INLINED[case]
    assert script(preamble, body, head) == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("f = demo.f\nf = other(f)\nprint(f(1))", id="bound twice"),
        pytest.param("for f in (1, 2):\n    print(f)\nf = demo\nprint(f.x)", id="bound by a loop"),
        pytest.param("f = demo.f\ng = [f(1) for f in (2, 3)]\nprint(f(4))", id="bound in a comprehension"),
        pytest.param("f = demo.f\ng = lambda f: f(1)\nprint(f(2))", id="a parameter of the name"),
        pytest.param("count = demo.count\ndemo.call()\nprint(demo.count - count)", id="data of a module"),
        pytest.param("f = demo.f\ndemo.f = print\nprint(f(1))", id="an attribute that is set"),
        pytest.param("f = demo.f(1)\nprint(f)", id="what a call gives"),
        pytest.param("items = [1]\nothers = items\nothers.append(2)\nprint(items)", id="a variable"),
        pytest.param("demo = demo.inner\nf = demo\nprint(f(1))", id="an import that is bound again"),
    ],
)
def test_what_is_no_plain_alias_stays(body: str) -> None:
    assert script(IMPORT, body, "") == body.splitlines()


CONTEXTS: dict[str, tuple[str, str, str, list[str]]] = {
    "a helper that yields what it is given": (
        HELPER.format("item", "yield item"),
        "with expectation as expected:\n    result = demo.f(1)\n    assert result == expected",
        "expectation=does_not_raise('1')",
        ["expected = '1'", "result = demo.f(1)", "print(result)"],
    ),
    "a helper that yields nothing": (
        HELPER.format("", "yield"),
        "with does_not_raise():\n    assert demo.f(1) == 2",
        "",
        ["print(demo.f(1))"],
    ),
    "a helper with a docstring": (
        HELPER.format("*names", "'''Idle.'''\n    yield 3"),
        "with does_not_raise(1, 2) as x:\n    assert demo.f(x) == 2",
        "",
        ["x = 3", "print(demo.f(x))"],
    ),
    "a context of the standard library": (
        NULL,
        "with nullcontext() as x:\n    assert demo.f(x) == 2",
        "",
        ["x = None", "print(demo.f(x))"],
    ),
    "one by another name": (
        "from contextlib import nullcontext as idle\n",
        "with context as x:\n    assert demo.f(x) == 2",
        "context=idle(enter_result=[1])",
        ["x = [1]", "print(demo.f(x))"],
    ),
    "one of the module, in another statement": (
        "import contextlib\n",
        "for x in (1, 2):\n    with contextlib.nullcontext():\n        assert demo.f(x) == 2",
        "",
        ["for x in (1, 2):", "    print(demo.f(x))"],
    ),
}


@pytest.mark.parametrize("case", CONTEXTS)
def test_a_context_that_does_nothing_goes(case: str) -> None:
    preamble, body, head, expected = CONTEXTS[case]
    assert script(IMPORT + preamble, body, head) == expected


@pytest.mark.parametrize(
    ("preamble", "body"),
    [
        (HELPER.format("item", "yield demo.enter(item)"), "with does_not_raise(1) as x:\n    print(x)"),
        (HELPER.format("item", "demo.set(item)\n    yield item"), "with does_not_raise(1) as x:\n    print(x)"),
        (HELPER.format("a, b", "yield a"), "with does_not_raise(b=1, a=2) as x:\n    print(x)"),
        (NULL, "with demo.open() as x:\n    print(x)"),
        (NULL, "context = nullcontext(1)\nprint(context)\nwith context as x:\n    print(x)"),
    ],
    ids=["a call", "two statements", "one of two parameters", "another context", "a context that is shown"],
)
def test_other_contexts_stay(preamble: str, body: str) -> None:
    assert script(IMPORT + preamble, body, "") == body.splitlines()
