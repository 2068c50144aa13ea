"""Definitions that statements below them change."""

import pytest

from tests.api.surface.parse.test_conditions import settled
from tests.api.surface.trees import rows


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class C: ...\nC = add(C)", "@add\nclass C:\n    ..."),
        ("@a\ndef f(): ...\nf = b(c(f, x=1))", "@b\n@c(x=1)\n@a\ndef f():\n    ..."),
        ("def f(): ...\nf = memoize(maxsize=3)(f)", "@memoize(maxsize=3)\ndef f():\n    ..."),
        ("def f(): ...\nf = partial(f, x=1)", "def f():\n    ...\nf = partial(f, x=1)"),
        ("def f(): ...\nf = wrap(f, 1)", "def f():\n    ...\nf = wrap(f, 1)"),
        ("def f(): ...\nf = wrap(f())", "def f():\n    ...\nf = wrap(f())"),
        ("def f(): ...\nf = 1\nf = wrap(f)", "def f():\n    ...\nf = 1\nf = wrap(f)"),
        ("f = 1\nf = str(f)", "f = 1\nf = str(f)"),
        ("def f(): ...\nif x:\n    f = wrap(f)", "def f():\n    ...\nif x:\n    f = wrap(f)"),
    ],
)
def test_rewriting(source, expected):
    assert settled(source) == expected


def test_a_class_stays_one_when_it_is_decorated_below():
    """attrs 23.2.0 makes `Attribute` so."""
    found = rows("class C:\n    def __init__(self, a): ...\n    def m(self): ...\nC = add_eq(add_repr(C, attrs=[]))\n")
    assert {path: str(row["kind"]) for path, row in found.items()} == {
        "pkg": "module",
        "pkg.C": "class",
        "pkg.C.m": "method",
    }
    assert [p["name"] for p in found["pkg.C"]["parameters"]] == ["a"]
    assert found["pkg.C"]["decorators"] == ["add_eq", "add_repr(attrs=[])"]


def test_methods_made_as_before_decorators():
    found = rows("""
        class C:
            def s(a, b): ...
            s = staticmethod(s)
            def c(cls, a): ...
            c = classmethod(c)
            def p(self): ...
            p = property(p)
    """)
    assert [
        (str(found[f"pkg.C.{n}"]["kind"]), [p["name"] for p in found[f"pkg.C.{n}"]["parameters"]]) for n in "scp"
    ] == [
        ("method", ["a", "b"]),
        ("method", ["a"]),
        ("property", []),
    ]


def test_marks_of_deprecation_are_put_on_below_too():
    row = rows("def f(): ...\nf = deprecated('1.2')(f)\n")["pkg.f"]
    assert (str(row["kind"]), row["deprecation"]["channel"]) == ("function", "decorator")
