"""Old source, new source, and the ways to use an API that went and that came."""

import pytest

from tests.api.history.releases import changes

DATACLASS = "from dataclasses import dataclass\n"
ABC = "import abc\nclass C(abc.ABC):\n"


def of_class(*methods: str) -> str:
    return "class C:\n    def keep(self): ...\n" + "".join(f"    {method}\n" for method in methods)


CASES = {
    "called": (of_class("def __call__(self): ..."), of_class(), "x()", None),
    "indexed, iterated and asked": (
        of_class("def __getitem__(self, i): ..."),
        of_class(),
        "i in x, iter(x), reversed(x), x[i]",
        None,
    ),
    "iterated by index all the same": (
        of_class("def __getitem__(self, i): ...", "def __iter__(self): ..."),
        of_class("def __getitem__(self, i): ..."),
        None,
        None,
    ),
    "entered from now on": (
        of_class(),
        of_class("def __enter__(self): ...", "def __exit__(self, *a): ..."),
        None,
        "with x",
    ),
    "by a method of a base, which the class lost": (
        "class B:\n    def __len__(self): ...\nclass C(B): ...\n",
        "class B:\n    def __len__(self): ...\nclass C: ...\n",
        None,
        None,
    ),
    "of a public base that has the change itself": (
        "class B:\n    def __len__(self): ...\nclass C(B): ...\n",
        "class B: ...\nclass C(B): ...\n",
        None,
        None,
    ),
    "of a private base": (
        "class _A:\n    def __len__(self): ...\nclass C(_A): ...\n",
        "class _A: ...\nclass C(_A): ...\n",
        "len(x)",
        None,
    ),
    "no longer by itself, but by a base": (
        "class B:\n    def __len__(self): ...\nclass C(B):\n    def __len__(self): ...\n",
        "class B:\n    def __len__(self): ...\nclass C(B): ...\n",
        None,
        None,
    ),
    "by a base of the standard library": (
        "class C(dict):\n    def __getitem__(self, i): ...\n",
        "class C(dict): ...\n",
        None,
        None,
    ),
    "ordered as the tuple that it is all the same (Jinja2 3.0)": (
        "class C(tuple): ...\n",
        "from typing import NamedTuple\nclass C(NamedTuple):\n    a: int\n",
        None,
        None,
    ),
    "by a base that nobody sees": (
        "from other import B\nclass C(B):\n    def __len__(self): ...\n",
        "from other import B\nclass C(B): ...\n",
        None,
        None,
    ),
    "hashed": (of_class(), of_class("def __eq__(self, other): ..."), "hash(x)", None),
    "hashed all the same": (
        of_class(),
        of_class("def __eq__(self, other): ...", "def __hash__(self): ..."),
        None,
        None,
    ),
    "frozen": (
        DATACLASS + "@dataclass(eq=False)\nclass C:\n    a: int\n",
        DATACLASS + "@dataclass(eq=False, frozen=True)\nclass C:\n    a: int\n",
        "x.field = …",
        None,
    ),
    "ordered": (
        DATACLASS + "@dataclass(order=True)\nclass C:\n    a: int\n",
        DATACLASS + "@dataclass\nclass C:\n    a: int\n",
        "x < y",
        None,
    ),
    "abstract": (
        ABC + "    def m(self): ...\n",
        ABC + "    @abc.abstractmethod\n    def m(self): ...\n",
        "C(), subclasses without m",
        None,
    ),
    "abstract, and defined by a subclass": (
        "class B: ...\nclass C(B):\n    def m(self): ...\n",
        "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...\nclass C(B):\n    def m(self): ...\n",
        None,
        None,
    ),
    "assigned": (
        of_class("@property", "def a(self): ...", "@a.setter", "def a(self, value): ..."),
        of_class("@property", "def a(self): ..."),
        "x.a = …",
        None,
    ),
    "deleted": (
        of_class("@property", "def a(self): ..."),
        of_class("@property", "def a(self): ...", "@a.deleter", "def a(self): ..."),
        None,
        "del x.a",
    ),
    "an attribute that became a property": (
        "class C:\n    def __init__(self):\n        self.a = 1\n",
        of_class("@property", "def a(self): ..."),
        "x.a = …",
        None,
    ),
    "one that is computed once can be assigned": (
        "class C:\n    def __init__(self):\n        self.a = 1\n",
        "import functools\nclass C:\n    @functools.cached_property\n    def a(self): ...\n",
        None,
        None,
    ),
    "assigned, where a decorator of the library makes the property": (
        of_class("@property", "def a(self): ..."),
        of_class("@memoized_property", "def a(self): ..."),
        None,
        None,
    ),
    "on the class": (
        of_class("@classmethod", "def m(cls): ..."),
        of_class("def m(self): ..."),
        "C.m()",
        None,
    ),
    "a function that only raises": ("def f(a): return a\n", "def f(a):\n    raise TypeError('use g')\n", "f()", None),
    "a method that subclasses define": (
        of_class("def m(self): return 1"),
        of_class("def m(self): raise NotImplementedError"),
        None,
        None,
    ),
    "of sources that differ in kind": (
        {"pkg/__init__.py": of_class("def __len__(self): ...")},
        {"pkg/__init__.pyi": of_class()},
        None,
        None,
    ),
}


@pytest.mark.parametrize(("old", "new", "lost", "gained"), CASES.values(), ids=CASES)
def test_ways_that_went_and_came(old, new, lost, gained):
    rows = [row for row in changes(old, new) if row["kind"] == "use" and not row["path"].endswith(".B")]
    expected = [(lost, gained, lost is not None)] if lost or gained else []
    assert [(row["old"], row["new"], row["breaking"]) for row in rows] == expected
