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
    "a method that is withdrawn": (
        of_class("def m(self): return 1"),
        of_class("def m(self): raise AttributeError('m was removed')"),
        "x.m()",
        None,
    ),
    "a method whose subclasses are asked by an exception of the library": (
        of_class("def m(self): return 1"),
        of_class("def m(self): raise AbstractMethodError(self)"),
        None,
        None,
    ),
    "a property that is withdrawn": (
        of_class("@property", "def a(self): return 1"),
        of_class("@property", "def a(self): raise RuntimeError('a was removed')"),
        "x.a",
        None,
    ),
    "assigned, where the setter refuses": (
        of_class("@property", "def a(self): ...", "@a.setter", "def a(self, value): self._a = value"),
        of_class("@property", "def a(self): ...", "@a.setter", "def a(self, value): raise AttributeError('read only')"),
        "x.a = …",
        None,
    ),
    "indexed, where the special method refuses": (
        of_class("def __setitem__(self, i, value): ..."),
        of_class("def __setitem__(self, i, value): raise TypeError('immutable')"),
        "x[i] = …",
        None,
    ),
    "a special method of the standard library that refuses": (
        "class C(dict): ...\n",
        "class C(dict):\n    def __setitem__(self, i, value): raise TypeError('immutable')\n",
        "x[i] = …",
        None,
    ),
    "a special method that was never there and refuses": (
        of_class(),
        of_class("def __iter__(self): raise TypeError('not iterable')"),
        None,
        None,
    ),
    "a special method that asks subclasses": (
        of_class("def __getitem__(self, i): ..."),
        of_class("def __getitem__(self, i): raise NotImplementedError"),
        None,
        None,
    ),
    "none instead of a special method": (
        of_class("def __len__(self): ..."),
        of_class("__len__ = None"),
        "len(x)",
        None,
    ),
    "refused by a private base, and defined all the same": (
        of_class("def __len__(self): ..."),
        "class _B:\n    def __len__(self): raise TypeError\nclass C(_B):\n    def __len__(self): ...\n",
        None,
        None,
    ),
    "truth that is ambiguous": (
        of_class(),
        of_class("def __bool__(self): raise TypeError('ambiguous')"),
        "bool(x)",
        None,
    ),
    "truth of another kind": (of_class(), of_class("def __bool__(self): return False"), None, None),
    "attributes that cannot be set": (
        of_class(),
        of_class("def __setattr__(self, name, value): raise AttributeError('immutable')"),
        "x.field = …",
        None,
    ),
    "attributes that are set by other code": (
        of_class(),
        of_class("def __setattr__(self, name, value): super().__setattr__(name, value)"),
        None,
        None,
    ),
    "made by a function alone": (
        of_class("def __init__(self): ..."),
        of_class("def __init__(self): raise TypeError('use make()')"),
        "C()",
        None,
    ),
    "no subclasses": (
        of_class(),
        of_class("def __init_subclass__(cls): raise TypeError('final')"),
        "class D(C)",
        None,
    ),
    "pickled": (of_class(), of_class("def __reduce__(self): raise TypeError('no')"), "pickle.dumps(x)", None),
    "attributes of its own": (
        "class C:\n    def __init__(self): self.a = 1\n",
        "class C:\n    __slots__ = ('a',)\n    def __init__(self): self.a = 1\n",
        "x.new = …",
        None,
    ),
    "attributes of its own, with a base that takes any": (
        "class B: ...\nclass C(B):\n    def __init__(self): self.a = 1\n",
        "class B: ...\nclass C(B):\n    __slots__ = ('a',)\n    def __init__(self): self.a = 1\n",
        None,
        None,
    ),
    "attributes of its own, with slots for any": (
        "class C:\n    def __init__(self): self.a = 1\n",
        "class C:\n    __slots__ = ('a', '__dict__')\n    def __init__(self): self.a = 1\n",
        None,
        None,
    ),
    "attributes of its own, as a named tuple has them": (
        "class C(tuple):\n    __slots__ = ()\n",
        "from typing import NamedTuple\nclass C(NamedTuple):\n    a: int\n",
        None,
        None,
    ),
    "subscribed": (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass C(Generic[T]): ...\n",
        "class C: ...\n",
        "C[…]",
        None,
    ),
    "subscribed otherwise": (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass C(Generic[T]): ...\n",
        of_class("def __class_getitem__(cls, item): ..."),
        None,
        None,
    ),
    "on the right": (of_class("def __radd__(self, other): ..."), of_class(), "y + x", None),
    "in place": (of_class("def __iadd__(self, other): ..."), of_class(), "x += y", None),
    "in place all the same": (
        of_class("def __iadd__(self, other): ...", "def __add__(self, other): ..."),
        of_class("def __add__(self, other): ..."),
        None,
        None,
    ),
    "a number all the same": (
        of_class("def __int__(self): ...", "def __index__(self): ..."),
        of_class("def __index__(self): ..."),
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
    # room for new attributes alone is no promise: it is told, and breaks nobody's right code
    expected = [(lost, gained, lost not in (None, "x.new = …"))] if lost or gained else []
    assert [(row["old"], row["new"], row["breaking"]) for row in rows] == expected


WARNS = "import warnings\n"
PROPERTY = ("@property", "def a(self): return 1", "@a.setter", "def a(self, value): self._a = value")


def warning(*before: str, accessor: str = "setter", arguments: str = "self, value") -> str:
    warn = "warnings.warn('set b instead', DeprecationWarning)"
    return WARNS + of_class(*before, f"@a.{accessor}", f"def a({arguments}):\n        {warn}")


DEPRECATED = {
    "to assign a property": (of_class(*PROPERTY), warning(*PROPERTY[:2]), ["use_deprecated a x.a = …: set b instead"]),
    "to assign what was an attribute": (
        "class C:\n    def __init__(self): self.a = 1\n",
        warning(*PROPERTY[:2]),
        ["kind a property", "use_deprecated a x.a = …: set b instead"],
    ),
    "to assign, by a decorator": (
        of_class(*PROPERTY),
        "from typing_extensions import deprecated\n" + of_class(*PROPERTY[:3], "@deprecated('set b')", PROPERTY[3]),
        ["use_deprecated a x.a = …: set b"],
    ),
    "to delete": (
        of_class(*PROPERTY, "@a.deleter", "def a(self): ..."),
        warning(*PROPERTY, accessor="deleter", arguments="self"),
        ["use_deprecated a del x.a: set b instead"],
    ),
    "to read and to assign": (
        of_class(*PROPERTY),
        warning("@property", "def a(self):\n        warnings.warn('gone soon', DeprecationWarning)"),
        ["deprecated a gone soon"],
    ),
    "before": (warning(*PROPERTY[:2]), warning(*PROPERTY[:2]), []),
    "only if the value is of an old kind": (
        of_class(*PROPERTY),
        WARNS
        + of_class(*PROPERTY[:3], "def a(self, value):\n        if value: warnings.warn('old', DeprecationWarning)"),
        [],
    ),
    "what could not be assigned before": (
        of_class(*PROPERTY[:2]),
        warning(*PROPERTY[:2]),
        ["use a x.a = …"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), DEPRECATED.values(), ids=DEPRECATED)
def test_ways_that_are_deprecated(old, new, expected):
    rows = [row for row in changes(old, new) if row["path"] == "pkg.C.a"]
    assert [f"{row['kind']} a {row['new']}" for row in rows] == expected
    assert not any(row["breaking"] for row in rows)


DECLARED = {
    "declared only (marshmallow: Mapping.mapping_type)": (
        "class C:\n    a = dict\n",
        "class C:\n    a: type\n",
        ["C.a"],
    ),
    "of a generic class": (
        "class C:\n    a = dict\n",
        "import typing\nT = typing.TypeVar('T')\nclass C(typing.Generic[T]):\n    a: type[T]\n",
        ["C.a"],
    ),
    "set by the constructor": (
        "class C:\n    a = 1\n",
        "class C:\n    a: int\n    def __init__(self):\n        self.a = 1\n",
        [],
    ),
    "set by a base": (
        "class B:\n    a = 1\nclass C(B):\n    a = 2\n",
        "class B:\n    a = 1\nclass C(B):\n    a: int\n",
        [],
    ),
    "perhaps set by a base that nobody sees": (
        "class C:\n    a = 1\n",
        "from there import B\nclass C(B):\n    a: int\n",
        [],
    ),
    "a field": (
        f"{DATACLASS}@dataclass\nclass C:\n    a: int = 1\n",
        f"{DATACLASS}@dataclass\nclass C:\n    a: int\n",
        [],
    ),
    "declared before": ("class C:\n    a: int\n", "class C:\n    a: str\n", []),
}


@pytest.mark.parametrize(("old", "new", "lost"), DECLARED.values(), ids=DECLARED)
def test_an_attribute_of_a_class_that_has_no_value_any_more(old, new, lost):
    rows = [row for row in changes(old, new) if row["kind"] == "use"]
    assert [row["old"] for row in rows if row["path"] == "pkg.C.a" and row["breaking"]] == lost
    assert len([row for row in rows if row["path"] == "pkg.C.a"]) == len(lost)


GET_SET = "def _get(self): ...", "def _set(self, v): ..."
BY_CALL = {
    "is one by a decorator": (of_class(*PROPERTY), of_class(*GET_SET, "a = property(_get, _set)"), []),
    "lost its setter": (
        of_class(*GET_SET, "a = property(_get, _set)"),
        of_class(*GET_SET, "a = property(_get, doc='it')"),
        ["use a x.a = … None"],
    ),
    # shapely 1.8: Point.coords = …
    "warns of assignments": (
        of_class(*GET_SET, "a = property(fget=_get, fset=_set)"),
        of_class(
            "def _get(self): ...",
            "def _set(self, v):\n        warnings.warn('set b instead', DeprecationWarning)",
            "a = property(_get, _set)",
        ),
        ["use_deprecated a None x.a = …: set b instead"],
    ),
    "warns of reading": (
        of_class(*GET_SET, "a = property(_get)"),
        of_class("def _get(self):\n        warnings.warn('read b instead', DeprecationWarning)", "a = property(_get)"),
        ["deprecated a None read b instead"],
    ),
    "of functions that nobody sees": (
        of_class("a = property(f, g)"),
        of_class("a = property(f)"),
        ["use a x.a = … None"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), BY_CALL.values(), ids=BY_CALL)
def test_a_property_that_a_call_makes(old: str, new: str, expected: list[str]) -> None:
    imports = "import warnings\n"
    rows = changes(imports + old, imports + new)
    assert [f"{row['kind']} {row['path'].rpartition('.')[2]} {row['old']} {row['new']}" for row in rows] == expected
