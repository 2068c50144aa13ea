"""What a codemod wrote counts only where a run gets to it: what stands in a function that nothing calls was compiled."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.completions_and_migrations.codemods.reached import unreached_lines
from tests.families.completions_and_migrations.codemods.library import example, instances, module, package

FETCH = 'def fetch(name, size=1):\n    """Fetch a page, slowly and surely."""\n    page = [name, size]\n    page.reverse()\n    return page\n'
LOAD = FETCH.replace("def fetch", "def load")
MOVED = (
    package(init="from lib import a, b\n", a=FETCH, b="def other(): return 1\n"),
    package(init="from lib import a, b\n", a="def another(): return 1\n", b=f"def other(): return 1\n{FETCH}"),
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\n", set()),
        ("def f():\n    a = 1\n    return a\n", {2, 3}),
        ("def f():\n    a = 1\nf()\n", set()),
        ("def f():\n    a = 1\nx = map(f, [])\n", set()),
        ("def f():\n    f()\n", {2}),
        ("def f():\n    g()\ndef g():\n    return 1\n", {2, 4}),
        ("def f():\n    g()\ndef g():\n    return 1\nf()\n", set()),
        ("def f():\n    def g():\n        return 1\n    return g\nf()\n", set()),
        ("def f():\n    def g():\n        return 1\nf()\n", {3}),
        ("async def f():\n    return 1\n", {2}),
        ("@keep\ndef f():\n    return 1\n", {3}),
        ("def f(x=g()):\n    return 1\ndef g():\n    return 1\n", {2}),
        ("class A:\n    def m(self):\n        return 1\n", {3}),
        ("class A:\n    def m(self):\n        return 1\nA().m()\n", set()),
        ("class A:\n    def __init__(self):\n        self.m()\n    def m(self):\n        return 1\nA()\n", set()),
        ("class A:\n    x = g()\ndef g():\n    return 1\n", set()),
        ("x = lambda: 1\n", set()),
    ],
)
def test_lines_that_no_run_gets_to(code: str, expected: set[int]) -> None:
    assert unreached_lines(ast.parse(code)) == expected


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import lib\ndef f():\n    return lib.fetch('a')\n", 3),
        ("from lib import fetch\ndef f():\n    return fetch('a')\nx = 1\n", 3),
        ("import lib\ndef f():\n    return lib.fetch('a')\nf()\n", None),
        ("import lib\ndef f():\n    return 1\nlib.fetch('a')\n", None),
    ],
)
def test_a_use_that_no_run_would_prove_is_not_written(code: str, line: int | None) -> None:
    made = instances(module(FETCH), module(LOAD), example(code, "2"))
    refused = [reject.detail for reject in made.rejects if reject.reason == "no_codemod"]
    assert refused == ([f"lib.fetch: line {line} stands in a function that nothing calls"] if line else [])
    assert bool(made.tables["rewrites"]) == (line is None)


def test_neither_is_an_import_there() -> None:
    code = "import lib\ndef f():\n    from lib.a import fetch\n    return fetch('a')\n"
    assert instances(*MOVED, example(code, "2")).reasons["no_codemod"] == 1
    made = instances(*MOVED, example(f"{code}f()\n", "2"))
    assert [row["code"].splitlines()[1].strip() for row in made.tables["rewrites"]] == ["from lib.b import fetch"]
