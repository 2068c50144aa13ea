"""Sources in which it matters when a name is bound, and by what; written as in test_find."""

from __future__ import annotations

import pytest

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from tests.corpus.usages.rows import LIB, symbols_of

API = Api(symbols_of(LIB), ["lib"])
PLAIN = "lib.Thing.plain"

INFERRED = {
    "a function of the file": "def f():\n    return lib.Thing()\nf().plain()",
    "called before it is known": "def g():\n    f().plain()\ndef f():\n    return lib.Thing()",
    "through several functions": "def f():\n    return g()\ndef g():\n    return h()\ndef h():\n    return lib.make()\nf().plain()",
    "None or an object": "def f(x):\n    if x:\n        return None\n    return lib.Thing()\nf(1).plain()",
    "annotated": "def f() -> 'lib.Thing':\n    return g()\nf().plain()",
    "a generator": "def f():\n    yield lib.Thing()\nfor x in f(): x.plain()",
    "yield from": "def f():\n    yield from lib.things()\nfor x in f(): x.plain()",
    "a context manager": "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield lib.Thing()\nwith f() as x: x.plain()",
    "cached": "from functools import lru_cache\n@lru_cache(maxsize=1)\ndef f():\n    return lib.Thing()\nf().plain()",
    "a coroutine": "async def f():\n    return lib.Thing()\nasync def g():\n    (await f()).plain()",
    "a lambda": "f = lambda: lib.Thing()\nf().plain()",
    "what a call gives a parameter": "def f(x): x.plain()\nf(lib.Thing())",
    "by keyword": "def f(*, x): x.plain()\nf(x=lib.Thing())",
    "to a constructor": "class A:\n    def __init__(self, x): self.x = x\n    def f(self): self.x.plain()\nA(lib.Thing())",
    "to a method": "class A:\n    def f(self, x): x.plain()\n    def g(self): self.f(lib.Thing())",
    "a fixture of pytest": "import pytest\n@pytest.fixture\ndef x():\n    yield lib.Thing()\ndef test(x): x.plain()",
    "a fixture with arguments": "from pytest import fixture\n@fixture(scope='module')\ndef x():\n    return lib.Thing()\ndef test(x): x.plain()",
    "self of a subclass": "class A(lib.Thing):\n    def f(self): self.plain()",
    "a subclass of a subclass": "class A(lib.Thing): pass\nclass B(A):\n    def f(self): self.plain()",
    "an object of a subclass": "class A(lib.Thing): pass\nA().plain()",
    "super": "class A(lib.Thing):\n    def plain(self): super().plain()",
    "super of Python 2": "class A(lib.Thing):\n    def plain(self): super(A, self).plain()",
    "super in a function inside": "class A(lib.Thing):\n    def f(self):\n        def g(): super(A, self).plain()",
    "cls of a subclass": "class A(lib.Thing):\n    @classmethod\n    def f(cls): return cls.plain",
    "an attribute of an object of a class": "class A:\n    def __init__(self): self.x = lib.Thing()\nA().x.plain()",
    "an attribute that a base sets": "class A:\n    def __init__(self): self.x = lib.Thing()\nclass B(A):\n    def f(self): self.x.plain()",
    "an attribute of the class": "class A:\n    x = lib.Thing()\n    def f(self): self.x.plain()",
    "an annotated attribute of the class": "class A:\n    x: lib.Thing\n    def f(self): self.x.plain()",
    "a property": "class A:\n    @property\n    def x(self): return lib.Thing()\n    def f(self): self.x.plain()",
    "a cached property": "import functools\nclass A:\n    @functools.cached_property\n    def x(self): return lib.Thing()\n    def f(self): self.x.plain()",
    "a method": "class A:\n    def x(self): return lib.Thing()\n    def f(self): self.x().plain()",
    "set later by setUp": "class T:\n    x = None\n    def setUp(self): self.x = lib.Thing()\n    def test(self): self.x.plain()",
    "global": "x = None\ndef f():\n    global x\n    x = lib.Thing()\ndef g():\n    x.plain()",
    "nonlocal": "def f():\n    x = None\n    def g():\n        nonlocal x\n        x = lib.Thing()\n    def h(): x.plain()",
    "isinstance": "def f(x):\n    if isinstance(x, lib.Thing): x.plain()",
    "isinstance with and": "def f(x):\n    if x and isinstance(x, lib.Thing) and x.plain(): pass",
    "not isinstance with or": "def f(x): return y or not isinstance(x, lib.Thing) or x.plain()",
    "isinstance with and, then or": "def f(x): return y or isinstance(x, lib.Thing) and x.plain() or x",
    "isinstance with and, with a comment": "def f(x): return (isinstance(x, lib.Thing)  # or\n and x.plain())",
    "isinstance in an expression": "def f(x): return x.plain() if isinstance(x, lib.Thing) else x.plain()",
    "isinstance that must be": "def f(x):\n    assert isinstance(x, lib.Thing)\n    x.plain()",
    "not isinstance, and out": "def f(x):\n    if not isinstance(x, lib.Thing):\n        return x.plain()\n    x.plain()",
    "isinstance of each": "def f(xs): return [x.plain() for x in xs if isinstance(x, lib.Thing)]",
    "a class pattern": "def f(x):\n    match x:\n        case lib.Thing(): x.plain()",
    "a class pattern with a name": "def f(x):\n    match x:\n        case lib.Thing() as y: y.plain()",
    "a branch that leaves": "x = lib.Thing()\nif y:\n    x = 1\n    raise x\nx.plain()",
    "a type comment": "x = f()  # type: lib.Thing\nx.plain()",
    "a type comment of a function": "def f(x):\n    # type: (lib.Thing) -> None\n    x.plain()",
    "a list": "[x.plain() for x in [lib.Thing(), lib.Thing()]]",
    "a list in brackets": "xs = [lib.Thing()]\nxs[0].plain()",
    "a part of a list": "xs = [lib.Thing()]\nxs[1:][0].plain()",
    "a dictionary": "xs = {'a': lib.Thing()}\nxs['a'].plain()",
    "values": "xs = {'a': lib.Thing()}\nfor x in xs.values(): x.plain()",
    "items": "xs = {k: lib.Thing() for k in y}\nfor k, x in xs.items(): x.plain()",
    "a comprehension": "xs = [lib.Thing() for i in y]\nfor x in xs: x.plain()",
    "sorted": "for x in sorted(lib.things()): x.plain()",
    "enumerate": "for i, x in enumerate(lib.things()): x.plain()",
    "zip": "for i, x in zip(y, lib.things()): x.plain()",
    "enumerate in a comprehension": "[x.plain() for i, x in enumerate(lib.things())]",
    "next": "next(lib.things()).plain()",
    "a tuple": "def f():\n    return 1, lib.Thing()\ni, x = f()\nx.plain()",
    "cast": "import typing as t\nt.cast('lib.Thing', y).plain()",
    "copy": "import copy\ncopy.copy(lib.Thing()).plain()",
    "type of an object": "type(lib.Thing()).plain",
    "closing": "from contextlib import closing\nwith closing(lib.Thing()) as x: x.plain()",
    "several in one with": "with a as b, lib.Thing() as x: x.plain()",
    "with in brackets": "with (lib.Thing() as x): x.plain()",
    "an exception's name": "try: pass\nexcept lib.Thing as x: x.plain()",
    "importlib": "import importlib\nimportlib.import_module('lib').Thing().plain()",
    "importorskip": "import pytest\nl = pytest.importorskip('lib')\nl.Thing().plain()",
    "a private path": "from lib._impl import Thing as T\nx = T()\nx.plain()",
    "only for type checkers": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import Thing as T\ndef f(x: 'T'): x.plain()",
    "other star imports": "from other import *\nlib.Thing().plain()",
    "Python 2": "print lib.Thing().plain()",
    "a broken line": "def f(:\nlib.Thing().plain()",
}  # fmt: skip

AMBIGUOUS = {
    "a parameter that hides it": "def f(lib): lib.Thing().plain()",
    "two classes": "def f(x):\n    if x: return lib.Thing()\n    return lib.Other()\nf(1).plain()",
    "two classes for a parameter": "def f(x): x.plain()\nf(lib.Thing())\nf(1)",
    "an unknown decorator": "@unknown\ndef f(): return lib.Thing()\nf().plain()",
    "an own method first": "class A(lib.Thing):\n    def plain(self): pass\n    def f(self): self.plain()",
    "an own attribute first": "class A(lib.Thing):\n    plain = 3\n    def f(self): self.plain",
    "a static method": "class A(lib.Thing):\n    @staticmethod\n    def f(self): self.plain()",
    "global, set to something else": "x = lib.Thing()\ndef f():\n    global x\n    x = 1\ndef g(): x.plain()",
    "not isinstance": "def f(x):\n    if not isinstance(x, lib.Thing): x.plain()",
    "isinstance of something else": "def f(x):\n    if isinstance(x, lib.Thing) or y: x.plain()",
    "isinstance with or": "def f(x): return isinstance(x, lib.Thing) or x.plain()",
    "isinstance with and, out by or": "def f(x): return isinstance(x, lib.Thing) and y or x.plain()",
    "not isinstance with or, then and": "def f(x): return (y or not isinstance(x, lib.Thing)) and x.plain()",
    "after isinstance": "def f(x):\n    if isinstance(x, lib.Thing): pass\n    x.plain()",
    "another isinstance": "def isinstance(x, y): pass\ndef f(x):\n    if isinstance(x, lib.Thing): x.plain()",
    "a list of two kinds": "for x in [lib.Thing(), lib.Other()]: x.plain()",
    "recursion": "def f(): return f()\nf().plain()",
    "mutual recursion": "def f(): return g()\ndef g(): return f()\nf().plain()",
    "a name deleted": "x = lib.Thing()\ndel x\nx.plain()",
    "type: ignore": "x = f()  # type: ignore\nx.plain()",
}  # fmt: skip


def paths(source: str) -> list[str]:
    return [use.path for use in scan(f"import lib\n{source}\n", API).uses]


@pytest.mark.parametrize("source", INFERRED.values(), ids=INFERRED.keys())
def test_the_value_of_a_member_is_inferred(source: str) -> None:
    assert paths(source).count(PLAIN) == 1


@pytest.mark.parametrize("source", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_ambiguous_values_are_not_claimed(source: str) -> None:
    assert PLAIN not in paths(source)


NEW = {"lib/__init__.py": "def new(): ...\ndef both(): ...\n"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("try:\n    from lib import new as f\nexcept ImportError:\n    from lib import old as f\nf()", "lib.new"),
        ("try:\n    from lib import old as f\nexcept ImportError:\n    from lib import new as f\nf()", "lib.new"),
        ("try:\n    from lib import old as f\nexcept (ImportError, E):\n    f = None\nelse:\n    f()\nboth()", None),
        ("try:\n    from lib import new as f\nexcept ImportError:\n    def f(): pass\nf()", "lib.new"),
        ("try:\n    from lib import old as f\nexcept ImportError:\n    def f(): pass\nf()", None),
        ("try:\n    from lib import new as f\n    import other\nexcept ImportError:\n    f = 1\nf()", None),
    ],
)
def test_the_side_of_a_fallback_that_the_version_has(source: str, expected: str | None) -> None:
    result = scan(source, Api(symbols_of(NEW), ["lib"]))
    assert [use.path for use in result.uses if use.form == "call"] == ([expected] if expected else [])


def test_members_of_dict_and_tuple_are_not_called_missing() -> None:
    files = {
        "lib/__init__.py": "import typing\nclass D(typing.TypedDict):\n    x: int\nclass T(typing.NamedTuple):\n    y: int\n"
    }
    result = scan(
        "import lib\nlib.D().items(); lib.T()._asdict(); lib.D().x; lib.T().y", Api(symbols_of(files), ["lib"])
    )
    assert result.unresolved == ()
    assert [use.path for use in result.uses] == ["lib.D", "lib.T", "lib.D", "lib.D.x", "lib.T", "lib.T.y"]


def test_members_of_objects_of_dynamic_classes_are_not_called_missing() -> None:
    files = {
        "lib/__init__.py": "def __getattr__(name): return load(name)\nclass Frame:\n    def __getattr__(self, n): ...\n    def end(self): ...\n"
    }
    result = scan("import lib\nlib.Frame().column.end(); lib.later()", Api(symbols_of(files), ["lib"]))
    assert [chain.path for chain in result.unresolved] == ["lib.later"]
    assert [use.path for use in result.uses] == ["lib.Frame"]
