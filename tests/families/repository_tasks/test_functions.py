"""Where signature, docstring and body of functions stand."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.families.repository_tasks import functions
from pipeline.families.repository_tasks.functions import Function, Skipped, functions_of, module_name

PLACES = {
    "plain": ("def f(a):\n    return a\n", "m.f", (1, 1), (2, 2), 4),
    "docstring": ('def f():\n    """Say it."""\n    return 1\n', "m.f", (1, 1), (3, 3), 4),
    "long docstring, blank line": (
        'def f():\n    """Say\n\n    it.\n    """\n\n    return 1\n',
        "m.f",
        (1, 1),
        (7, 7),
        4,
    ),
    "comment above the body": ("def f():\n    # why\n    return 1\n", "m.f", (1, 1), (2, 3), 4),
    "signature of several lines": (
        "def f(\n    a: dict[str, int] = {'a': 1},\n    b=lambda x: x,\n) -> dict[str, int]:  # a: b\n    return a\n",
        "m.f",
        (1, 4),
        (5, 5),
        4,
    ),
    "decorated": ("@wrap(lambda: 1)\n@other\ndef f():\n  return 1\n", "m.f", (3, 3), (4, 4), 2),
    "method": (
        "class A:\n    class B:\n        async def f(self):\n            return 1\n",
        "m.A.B.f",
        (3, 3),
        (4, 4),
        12,
    ),
    "under a condition": (
        "try:\n    import x\nexcept ImportError:\n    def f():\n        return 1\n",
        "m.f",
        (4, 4),
        (5, 5),
        8,
    ),
    "tabs": ("class A:\n\tdef f(self):\n\t\treturn 1\n", "m.A.f", (2, 2), (3, 3), 2),
    "nested ones are a part": ("def f():\n    def g():\n        return 1\n    return g\n", "m.f", (1, 1), (2, 4), 4),
    "body begins with a decorator": (
        "def f():\n    @wrap\n    def g(): pass\n    return g\n",
        "m.f",
        (1, 1),
        (2, 4),
        4,
    ),
}
SKIPPED = {
    "one line": ("def f(): return 1\n", "on a line with"),
    "docstring only": ('def f():\n    """Say it."""\n', "no statement"),
    "docstring and body on one line": ('def f():\n    """Say it."""; return 1\n', "on a line with"),
}


@pytest.mark.parametrize(("text", "namespace", "signature", "body", "indent"), PLACES.values(), ids=PLACES)
def test_places(text: str, namespace: str, signature: tuple[int, int], body: tuple[int, int], indent: int) -> None:
    [found] = functions_of(text, "m")
    assert isinstance(found, Function)
    assert (found.namespace, found.signature, found.body, found.indent) == (namespace, signature, body, indent)


@pytest.mark.parametrize(("text", "why"), SKIPPED.values(), ids=SKIPPED)
def test_a_body_without_lines_of_its_own_is_told(text: str, why: str) -> None:
    [found] = functions_of(text, "m")
    assert isinstance(found, Skipped)
    assert why in found.why


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("src/a/b.py", "src", "a.b"),
        ("a/__init__.py", "", "a"),
        ("src/a/__init__.py", "src", "a"),
        ("six.py", "", "six"),
    ],
)
def test_module_names(path: str, root: str, name: str) -> None:
    assert module_name(path, root) == name


@pytest.mark.parametrize("module", [ast, inspect, textwrap, functions], ids=lambda module: module.__name__)
def test_an_emptied_body_leaves_the_rest_of_real_files_as_it_was(module: object) -> None:
    text = inspect.getsource(module)  # type: ignore[arg-type]
    by_depth: dict[int, list[Function]] = defaultdict(list)
    functions = [each for each in functions_of(text, "m") if isinstance(each, Function)]
    for function in functions:
        around = [each for each in functions if each.body[0] <= function.signature[0] <= each.body[1]]
        by_depth[len(around)].append(function)
    for beside in by_depth.values():  # none of them lies in another one, so all are emptied at once, the last one first
        lines = text.split("\n")
        for function in sorted(beside, key=lambda each: -each.body[0]):
            assert function.signature[0] <= function.signature[1] < function.body[0] <= function.body[1]
            margin = lines[function.node.body[-1].lineno - 1][: function.indent]
            lines[function.body[0] - 1 : function.body[1]] = [f"{margin}raise NotImplementedError"]
        again = {each.namespace for each in functions_of("\n".join(lines), "m")}
        assert {function.namespace for function in beside} <= again


@given(
    st.lists(
        st.sampled_from(["    x = 1", "", "    # said", "    if x:", "        y = 2", '    """Say."""']), max_size=8
    )
)
def test_lines_around_a_body_are_never_its_own(inside: list[str]) -> None:
    text = "\n".join(["a = 1", "def f(x):", *inside, "    return x", "b = 2"])
    try:
        ast.parse(text)
    except SyntaxError:
        return
    [found] = functions_of(text, "m")
    if isinstance(found, Function):
        assert found.signature == (2, 2)
        assert 2 < found.body[0] <= found.body[1] == len(inside) + 3
