"""Old source, new source, and the changes between them: nothing more, and nothing less."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.api.history.compare import Comparison
from pipeline.api.history.states import compare_states
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.lake.schema import table
from tests.api.history.releases import TAGGING, Files, changes, changes_between, described, index

TRY = "try:\n    from ._speed import f\nexcept ImportError:\n    from ._native import f\n"
NATIVE = {
    "pkg/__init__.py": TRY,
    "pkg/_speed.pyi": "def f(s: str) -> str: ...\n",
    "pkg/_native.py": "def f(s): ...\n",
}
WARNS = "import warnings\ndef f(s):\n    warnings.warn(\"use 'g' instead\", DeprecationWarning)\n"
STARRED = {
    "pkg/__init__.py": "from ._core import *\n",
    "pkg/__init__.pyi": "class Limits:\n    def __init__(self, dtype: type): ...\nclass Made: ...\n",
    "pkg/_core.py": "class Limits:\n    def __init__(self, int_type): ...\nfor name in KINDS: globals()[name] = 1\n",
}

WORDS = "    '''What it is.\n\n    In more words.\n    And in yet more.\n    '''\n"
LONG = f"def f(alpha, beta):\n{WORDS}"
CLASS = f"class C:\n{WORDS}    def one(self): ...\n    def two(self): ...\n    def three(self): ...\n"

CASES = {
    "a compiled function whose Python twin begins to warn (MarkupSafe 2.0)": (
        NATIVE,
        NATIVE | {"pkg/_native.py": WARNS},
        ["deprecated pkg.f"],
    ),
    "... wherever it comes from": (
        {**NATIVE, "pkg/__init__.py": "from ._both import f\n", "pkg/_both.py": TRY},
        {**NATIVE, "pkg/__init__.py": "from ._both import f\n", "pkg/_both.py": TRY, "pkg/_native.py": WARNS},
        ["deprecated pkg.f"],
    ),
    "what a star import brings is what its source shows, not what a stub tells (NumPy 1.26)": (
        STARRED,
        {**STARRED, "pkg/__init__.py": "from ._core import Limits\nMade = 1\n", "pkg/__init__.pyi": ""},
        ["kind pkg.Made"],
    ),
    "nothing else is taken where what is left is refused": (
        "def f(**kw):\n    kw.pop('a', 1)\n    if kw:\n        raise TypeError(kw)\n",
        "def f(**kw):\n    if kw:\n        raise TypeError(kw)\n",
        ["parameter_removed pkg.f a"],
    ),
    "another spelling of an empty default, of a type": (
        "import typing as t\ndef f(a={}, b=(), c: t.Text = ''): ...\n",
        "def f(a=dict(), b=tuple(), c: str = ''): ...\n",
        [],
    ),
    "a named tuple with a constructor of its own (urllib3 2.0)": (
        "from typing import NamedTuple\nclass C:\n    def __new__(cls, a=1): ...\n",
        "from typing import NamedTuple\nclass C(NamedTuple('C', [('a', int)])):\n    def __new__(cls, a=1): ...\n",
        ["bases pkg.C", "introduced pkg.C.a"],
    ),
    "overloads of a constructor": (
        "from typing import overload\nclass C:\n    @overload\n    def __init__(self, a: int): ...\n"
        "    @overload\n    def __init__(self, a: str, b: int): ...\n    def __init__(self, *args): ...\n",
        "from typing import overload\nclass C:\n    @overload\n    def __init__(self, a: int): ...\n"
        "    @overload\n    def __init__(self, a: str): ...\n    def __init__(self, *args): ...\n",
        ["overloads pkg.C"],
    ),
    "the default that a call is passed on with is no parameter (Flask 2.2)": (
        "def f(**kw):\n    g(**kw)\n",
        "def f(**kw):\n    kw.setdefault('a', 1)\n    g(**kw)\n",
        [],
    ),
    "nothing": ("def f(): ...\n", "def f(): ...\n", []),
    "introduced and removed": ("def aaa(x): ...\n", "class Zzz: ...\n", ["introduced pkg.Zzz", "removed pkg.aaa"]),
    "of a class that goes as a whole there is one row": (CLASS, "", ["removed pkg.C"]),
    "of a module too": (
        {"pkg/__init__.py": "", "pkg/m.py": CLASS},
        {"pkg/__init__.py": ""},
        ["removed pkg.m"],
    ),
    "one row for a definition with two paths": (
        {"pkg/__init__.py": "from .m import f\n", "pkg/m.py": "def f(): ...\ndef g(): ...\n"},
        {"pkg/__init__.py": "", "pkg/m.py": "def g(): ...\n"},
        ["removed pkg.f"],
    ),
    "one row for a method that many classes inherit": (
        "class A:\n    def m(self, x): ...\nclass B(A): ...\nclass D(A): ...\n",
        "class A:\n    def m(self, x, y): ...\nclass B(A): ...\nclass D(A): ...\n",
        ["parameter_added_required pkg.A.m y"],
    ),
    "one row for its removal": (
        "class A:\n    def m(self, x): ...\nclass B(A): ...\n",
        "class A: ...\nclass B(A): ...\n",
        ["removed pkg.A.m"],
    ),
    "a class that loses a base loses its members": (
        "class A:\n    def m(self, x): ...\nclass B(A): ...\n",
        "class A:\n    def m(self, x): ...\nclass B: ...\n",
        ["bases pkg.B", "removed pkg.B.m"],
    ),
    "renamed by similarity": ("def get_items(a): ...\n", "def get_item(a): ...\n",
                              ["renamed pkg.get_items -> pkg.get_item"]),
    "not renamed: other parameters": ("def get_items(a): ...\n", "def get_item(b): ...\n",
                                      ["introduced pkg.get_item", "removed pkg.get_items"]),
    "not renamed: nothing to tell by": ("def get_items(): ...\n", "def get_item(): ...\n",
                                        ["introduced pkg.get_item", "removed pkg.get_items"]),
    "renamed, as the docstring shows": (LONG, LONG.replace("f(", "entirely_other("),
                                        ["renamed pkg.f -> pkg.entirely_other"]),
    "renamed, as the library says": (
        "@deprecated('use better instead')\ndef worse(a): ...\n",
        "def better(a, b): ...\n",
        ["renamed pkg.worse -> pkg.better"],
    ),
    "a class renamed with its members": (CLASS, CLASS.replace("C:", "Entirely:"), ["renamed pkg.C -> pkg.Entirely"]),
    "moved to another module": (
        {"pkg/__init__.py": "", "pkg/a.py": LONG, "pkg/b.py": ""},
        {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": LONG},
        ["moved pkg.a.f -> pkg.b.f"],
    ),
    "an alias that went, the definition stays": (
        {"pkg/__init__.py": "from .m import f\n", "pkg/m.py": "def f(): ...\n"},
        {"pkg/__init__.py": "", "pkg/m.py": "def f(): ...\n"},
        ["moved pkg.f -> pkg.m.f"],
    ),
    "a rename that keeps the old name as an alias breaks nothing, and its members change by both names": (
        "class Old:\n    def isvalid(self, v): ...\n",
        "class New:\n    def is_valid(self, v): ...\nOld = New\n",
        ["introduced pkg.New", "renamed pkg.Old.isvalid -> pkg.Old.is_valid"],
    ),
    "names that a module now only explains": (
        "class Cone:\n    def tip(self): ...\nEDGES = 8\ndef disc(): ...\n",
        "_WENT = {'Cone': 'use disc', 'EDGES': 'no bodies'}\ndef disc(): ...\ndef __getattr__(name):\n"
        "    if name in _WENT:\n        raise AttributeError(_WENT[name])\n    raise AttributeError(name)\n",
        ["removed pkg.Cone", "removed pkg.EDGES"],
    ),
    "in a private package beside": (
        {
            "pkg/__init__.py": "from _pkg.core import Loader, load\n__all__ = ['Loader', 'load']\n",
            "_pkg/__init__.py": "",
            "_pkg/core.py": "def load(path, kind=None): ...\nclass Loader:\n    def once(self): ...\n"
            "    def run(self): ...\n",
        },
        {
            "pkg/__init__.py": "from _pkg.core import Loader, load\n__all__ = ['Loader', 'load']\n",
            "_pkg/__init__.py": "",
            "_pkg/core.py": "def load(path): ...\nclass Loader:\n    def run(self, sure): ...\n",
        },
        ["removed pkg.Loader.once", "parameter_added_required pkg.Loader.run sure", "parameter_removed pkg.load kind"],
    ),
    "moved into a module that came with it": (
        {"pkg/__init__.py": "", "pkg/a.py": LONG + "def stays(): ...\n"},
        {"pkg/__init__.py": "", "pkg/a.py": "def stays(): ...\n", "pkg/b.py": LONG},
        ["moved pkg.a.f -> pkg.b.f", "introduced pkg.b"],
    ),
    "not moved: another one of its name in a module that came": (
        {"pkg/__init__.py": "", "pkg/a.py": "def run(alpha, beta, gamma): ...\ndef stays(): ...\n"},
        {"pkg/__init__.py": "", "pkg/a.py": "def stays(): ...\n", "pkg/b.py": "def run(path): ...\n"},
        ["removed pkg.a.run", "introduced pkg.b"],
    ),
    "an ellipsis is a default in a source": (
        "def f(x=None, y=...): ...\n", "def f(x=..., y=...): ...\n", ["parameter_default pkg.f x"]
    ),
    "and in a stub a default that is not told": (
        {"pkg.pyi": "def f(x=None, y=...): ...\n"}, {"pkg.pyi": "def f(x=..., y=3): ...\n"}, []
    ),
    "attributes that a constructor sets by unpacking, in a loop and in a with": (
        "class C:\n    def __init__(self, given):\n        self.a, (self.b, *self.c) = given\n        [self.d, e] = 4, 5\n"
        "        for self.i in given: ...\n        with given as self.w: ...\n",
        "class C:\n    def __init__(self, given): ...\n",
        [f"removed pkg.C.{name}" for name in "abcdiw"],
    ),
    "what several targets get of a literal": (
        "a, (b, *c), d = 1, (2, 3, 4), 5\n", "a, (b, *c), d = 1, (2, 3, 5), 5\n", ["attribute_value pkg.c"]
    ),
    "behind a lazy name": (
        {"pkg/__init__.py": "def disc(radius, fill=None): ...\n", "pkg/_shapes.py": ""},
        {
            "pkg/__init__.py": "def __getattr__(name):\n    if name == 'disc':\n        from ._shapes import disc\n"
            "        return disc\n    raise AttributeError(name)\n",
            "pkg/_shapes.py": "def disc(radius): ...\n",
        },
        ["parameter_removed pkg.disc fill"],
    ),
    "what goes from a module that binds more in a loop over literals (numpy 2.0)": (
        "def mean(): ...\ndef mat(): ...\n",
        "def mean(): ...\nfor n in ['wide']:\n    try:\n        globals()[n] = getattr(core, n)\n"
        "    except AttributeError:\n        pass\n",
        ["removed pkg.mat"],
    ),
}  # fmt: skip

STILL_THERE: dict[str, tuple[Files, Files]] = {
    "members of a base that is an attribute of another module (numpy.recarray 2.0)": (
        "class Array:\n    def sum(self): ...\nclass Record(Array): ...\n",
        {
            "pkg/__init__.py": "from ._records import Record\nfrom ._core import Array\n",
            "pkg/_core.py": "from compiled import Array\n",
            "pkg/_records.py": "from . import _core as c\nArray = c.Array\nclass Record(Array): ...\n",
        },
    ),
    "what is below a private module that was importable_names, and is listed now (py.path of pytest 8.0)": (
        {"pkg/__init__.py": "", "pkg/way.py": "import pkg._way as way\n", "pkg/_way.py": "def go(): ...\n"},
        {
            "pkg/__init__.py": "",
            "pkg/way.py": "import pkg._way as way\n__all__ = ['way']\n",
            "pkg/_way.py": "def go(): ...\n",
        },
    ),
    "a base that only the stub of a compiled module tells": (
        {"pkg/__init__.py": "class Array:\n    def sum(self): ...\nclass Record(Array): ...\n"},
        {
            "pkg/__init__.py": "from ._core import Array\nfrom ._records import Record\n",
            "pkg/__init__.pyi": "class Array:\n    def sum(self): ...\n",
            "pkg/_core.py": "from ._native import *\n__all__ = ['Array']\n",
            "pkg/_core.pyi": "from pkg import Array as Array\n",
            "pkg/_native.so": "",
            "pkg/_records.py": "from . import _core\nclass Record(_core.Array): ...\n",
        },
    ),
    "moved to a private module and re-exported": (
        {"pkg/__init__.py": "from .m import f\n", "pkg/m.py": LONG},
        {"pkg/__init__.py": "from ._m import f\n", "pkg/_m.py": LONG, "pkg/m.py": "from ._m import f\n"},
    ),
    "a method that moves to a private base (flask 3.0)": (
        {"pkg/__init__.py": "class C:\n    def m(self, a): ...\n"},
        {"pkg/__init__.py": "from ._b import B\nclass C(B): ...\n", "pkg/_b.py": "class B:\n    def m(self, a): ...\n"},
    ),
    "became a re-export of another distribution": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "from other import C\n"},
    ),
    "became lazy": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "def __getattr__(name):\n    if name == 'C':\n        return load()\n"},
    ),
    "is imported, though __all__ came and leaves it out": (
        "def f(): ...\ndef g(): ...\n",
        "__all__ = ['f']\ndef f(): ...\ndef g(): ...\n",
    ),
    "a name like __version__ in any form, listed or not (packaging 23.0, semver 3.0.1)": (
        {
            "pkg/__init__.py": "from ._about import __title__\n__all__ = ['__title__']\n",
            "pkg/_about.py": "__title__ = 1\n",
        },
        {"pkg/__init__.py": "__title__ = 1\n"},
    ),
    "imported from a private module, and no longer listed": (
        {
            "pkg/__init__.py": "from ._about import __title__\n__all__ = ['__title__']\n",
            "pkg/_about.py": "__title__ = 1\n",
        },
        {"pkg/__init__.py": "from ._about import __title__\n", "pkg/_about.py": "__title__ = 1\n"},
    ),
    "bound where something fails only (arrow 1.0)": (
        "def f(x): ...\n",
        "try:\n    import fast\nexcept ImportError:\n    def f(x): ...\n",
    ),
    "star-imported where star imports are not public": (
        {"pkg/__init__.py": "", "pkg/a.py": "def f(): ...\n", "pkg/b.py": "def g(): ...\n"},
        {"pkg/__init__.py": "", "pkg/a.py": "from .b import *\n", "pkg/b.py": "def f(): ...\ndef g(): ...\n"},
    ),
    "a module that is no longer imported by name, but by what is below it": (
        {
            "pkg/__init__.py": "from .a import *\n",
            "pkg/a/__init__.py": "from . import b\nfrom .b import *\n",
            "pkg/a/b.py": "def f(): ...\n",
        },
        {
            "pkg/__init__.py": "from .a import *\n",
            "pkg/a/__init__.py": "from .b import f\n",
            "pkg/a/b.py": "def f(): ...\n",
        },
    ),
    "an override that a base of the standard library has": (
        "class C(dict):\n    def copy(self): ...\n",
        "class C(dict): ...\n",
    ),
    "a class that answers any name": (
        "class C:\n    def m(self): ...\n",
        "class C:\n    def __getattr__(self, name): ...\n",
    ),
    "a class whose metaclass answers any name (pandas 1.0)": (
        "class Meta(type): ...\nclass C(metaclass=Meta):\n    def m(self): ...\n",
        "class Meta(type):\n    def __getattr__(cls, name): ...\nclass C(metaclass=Meta): ...\n",
    ),
    "a class that is given members by a decorator (pandas 0.24)": (
        "class C:\n    x = 1\n",
        "@delegate_names(Other, Other.names, typ='property')\nclass C: ...\n",
    ),
    "a class that its module begins to give members (pandas 0.13)": (
        "class C:\n    def m(self): ...\n    def n(self): ...\nadd_methods(C)\n",
        "class C:\n    def n(self): ...\nadd_methods(C)\nops.add_flex_methods(C, **ops.methods)\n",
    ),
    "a class that its module begins to give members in a loop (pandas 0.11)": (
        "class B:\n    def m(self): ...\nclass C(B): ...\n",
        "class B:\n    def n(self): ...\nfor name, made in indexers():\n    B._make(name, made)\nclass C(B): ...\n",
    ),
    "a class whose attributes are set in a loop": (
        "class C:\n    x = 1\n",
        "class C: ...\nfor name, value in read():\n    setattr(C, name, value)\n",
    ),
    "a module that passes names on (numpy.core 2.0)": (
        {"pkg/__init__.py": "", "pkg/core.py": "def f(): ...\nclass C:\n    def m(self): ...\n"},
        {
            "pkg/__init__.py": "",
            "pkg/core.py": """
                def __getattr__(name):
                    from . import _core
                    if name == 'gone':
                        raise AttributeError(name)
                    found = getattr(_core, name, None)
                    if found is None:
                        raise AttributeError(name)
                    return found
            """,
        },
    ),
    "a module that binds names in a loop (numpy.core.numerictypes)": (
        {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.py": "def f(): ...\n"},
        {
            "pkg/__init__.py": "from ._m import *\n",
            "pkg/_m.py": "__all__ = []\nfor key in kinds:\n    globals()[key] = kinds[key]\n    __all__.append(key)\n",
        },
    ),
    "a module that binds names in a loop, and later passes names on (numpy.core.numerictypes 2.0)": (
        {"pkg/__init__.py": "", "pkg/m.py": "def f(): ...\nfor key in kinds:\n    globals()[key] = kinds[key]\n"},
        {"pkg/__init__.py": "", "pkg/m.py": "def __getattr__(name):\n    return getattr(kinds, name)\n"},
    ),
    "importable below the own name of a module that is there under another (numpy.char)": (
        {"pkg/__init__.py": "", "pkg/char.py": "def f(): ...\n"},
        {"pkg/__init__.py": "from . import _char as char\n", "pkg/_char.py": "__all__ = []\ndef f(): ...\n"},
    ),
    "the same of a public module": (
        {"pkg/__init__.py": "", "pkg/char.py": "def f(): ...\n", "pkg/core.py": ""},
        {"pkg/__init__.py": "from . import core as char\n", "pkg/core.py": "__all__ = []\ndef f(): ...\n"},
    ),
    "a private module that was listed (numpy.core._dtype)": (
        {"pkg/__init__.py": "__all__ = ['_m']\n", "pkg/_m.py": ""},
        {"pkg/__init__.py": "__all__ = []\n", "pkg/_m.py": ""},
    ),
    "an attribute that is a slot from now on (sympy.Rational.p)": (
        "class C:\n    x: int\n",
        "class C:\n    __slots__ = ('x', '_y')\n",
    ),
    "a class that newly has a base we cannot tell (sympy 1.9)": (
        "class C:\n    def m(self): ...\n",
        "from other import B as _B\nclass C(_B): ...\n",
    ),
    "a module of the standard library that was listed (pyparsing.re)": (
        "import re\n__all__ = ['re']\n",
        "import re\n__all__ = []\n",
    ),
    "members that a call made": (
        "import enum\nflags = enum.IntEnum('flags', names())\n",
        "import enum\nclass flags(enum.IntEnum):\n    A = 1\n",
    ),
    "compiled from now on": (
        {"pkg/__init__.py": "from .speed import fast\n", "pkg/speed.py": "def fast(x): ...\n"},
        {"pkg/__init__.py": "from .speed import fast\n", "pkg/speed.pyi": "def fast(x): ...\n"},
    ),
    "a module that does not parse": (
        {"pkg/__init__.py": "from .m import C\n", "pkg/m.py": CLASS + "def f(): ...\n"},
        {"pkg/__init__.py": "from .m import C\n", "pkg/m.py": "print('two'\n"},
    ),
    "the package itself does not parse": (
        {"pkg/__init__.py": "from .m import C\nX = 1\n", "pkg/m.py": CLASS},
        {"pkg/__init__.py": "print('two'\n", "pkg/m.py": CLASS},
    ),
    "for type checkers only": (
        "def f(x): ...\n",
        "import typing as t\nif t.TYPE_CHECKING:\n    from other import Y\ndef f(x): ...\n",
    ),
    "spelling": (
        "import typing as t\ndef f(a: t.Optional[str], b: 'int' = 1, c: t.List[int]=[1]) -> t.Union[int, None]: ...\n",
        "def f(a: str | None, b: int = 0x1, c: list[int] = [1, ]) -> None | int: ...\n",
    ),
    "a first annotation is no change": ("def f(a): ...\n", "def f(a: int) -> int: ...\n"),
    "the value of a version": ("version = '1.0'\nDATE = 1\n", "version = '1.1'\nDATE = 2\n"),
    "a value that is no literal, or made for each instance": (
        "L = make(1)\nclass C:\n    def __init__(self):\n        self.x = 1\n",
        "L = make(2)\nclass C:\n    def __init__(self):\n        self.x = 2\n",
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=CASES)
def test_changes(old, new, expected):
    assert described(changes(old, new)) == expected


@pytest.mark.parametrize(("old", "new"), STILL_THERE.values(), ids=STILL_THERE)
def test_no_api_went_or_came(old, new):
    ended = {"removed", "renamed", "moved", "kind"}
    assert [line for line in described(changes(old, new)) if line.split()[0] in ended] == []


@pytest.mark.parametrize("name", ["spelling", "a first annotation is no change", "the value of a version",
                                  "a module that does not parse", "compiled from now on", "for type checkers only",
                                  "a name like __version__ in any form, listed or not (packaging 23.0, semver 3.0.1)",
                                  "bound where something fails only (arrow 1.0)",
                                  "imported from a private module, and no longer listed",
                                  "a value that is no literal, or made for each instance"])  # fmt: skip
def test_nor_is_there_any_change_either_way(name):
    old, new = STILL_THERE[name]
    assert (described(changes(old, new)), described(changes(new, old))) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("def f(): ...", "async def f(): ...", ["async pkg.f"]),
        ("def f() -> int: ...", "def f() -> str: ...", ["returns pkg.f"]),
        ("X = 1", "X = 2", ["attribute_value pkg.X"]),
        ("X: int = f()", "X: str = f()", ["attribute_type pkg.X"]),
        ("X = 1", "def X(): ...", ["kind pkg.X"]),
        ("def X(a): ...", "class X:\n    def __init__(self, a): ...", ["kind pkg.X"]),
        ("class C:\n    def p(self): ...", "class C:\n    @property\n    def p(self): ...", ["kind pkg.C.p"]),
        ("class C(A): ...\nclass A: ...", "class C(B): ...\nclass A: ...\nclass B(A): ...",
         ["introduced pkg.B", "bases pkg.C"]),
        ("def f(a: 'not an expression!'): ...", "def f(a: 'no expression either!'): ...", ["parameter_type pkg.f a"]),
        ("def f(a: Union[int]): ...", "def f(a: int): ...", []),
        ("def f(): ...", "@deprecated('gone soon')\ndef f(): ...", ["deprecated pkg.f"]),
        ("@deprecated('gone soon')\ndef f(): ...", "def f(): ...", ["undeprecated pkg.f"]),
        ("from markupsafe import M", "def __getattr__(n):\n    if n == 'M':\n        warnings.warn('M is deprecated. "
         "Use \\'markupsafe.M\\' instead.', DeprecationWarning)\n        return 1", ["deprecated pkg.M"]),
    ],
)  # fmt: skip
def test_changes_of_one_api(old, new, expected):
    assert described(changes(old, new)) == expected


def test_what_a_row_says():
    old = "@deprecated('Use `pkg.better` instead.')\ndef worse(a, /, *, b=1): ...\nclass A: ...\nclass C(A): ...\n"
    new = "def better(): ...\nclass A: ...\nclass C: ...\n"
    rows = {row["path"]: row for row in changes(old + "def better(): ...\n", new)}
    for row in rows.values():
        table("changes").check(row)
    worse = rows["pkg.worse"]
    keys = ("kind", "old", "new", "breaking", "griffe_kind", "replacement", "versicode_tag", "libevolutioneval_tag",
            "gitchameleon_category", "confidence", "evidence")  # fmt: skip
    assert [worse[key] for key in keys] == [
        "removed", "function (a, /, *, b=1)", None, True, "Public object was removed", "pkg.better", "deprecation",
        "deprecated", "name", 1.0, "static",
    ]  # fmt: skip
    assert (rows["pkg.C"]["kind"], rows["pkg.C"]["breaking"]) == ("bases", True)


@pytest.mark.parametrize(
    "new",
    [
        {"pkg/__init__.py": "B = 1\n_GONE = {'A': 'Use `pkg.B` instead.'}\n"},
        {
            "pkg/__init__.py": "from ._gone import GONE as _GONE\nB = 1\n",
            "pkg/_gone.py": "GONE = {'A': 'Use `p.B` instead.'}\n",
        },
    ],
    ids=["its own mapping", "one that it imports (NumPy 2.0)"],
)
def test_what_to_use_instead_is_what_a_module_says_of_names_that_it_lacks(new):
    getattr_ = "def __getattr__(name):\n    if name in _GONE:\n        raise AttributeError(_GONE[name])\n    raise AttributeError(name)\n"
    rows = changes("A = 1\nB = 1\n", new | {"pkg/__init__.py": new["pkg/__init__.py"] + getattr_})
    assert [(row["path"], row["replacement"]) for row in rows] == [("pkg.A", "pkg.B")]


def test_what_changed_in_annotations_alone_breaks_nothing_and_is_no_breakage_of_griffes():
    rows = changes("X: int = f()\ndef g(a: int) -> int: ...\n", "X: str = f()\ndef g(a: str) -> str: ...\n")
    assert [(str(row["kind"]), row["breaking"], row["griffe_kind"]) for row in rows] == [
        ("attribute_type", False, None),
        ("parameter_type", False, None),
        ("returns", False, None),
    ]


def test_a_removal_from_a_class_with_an_unobservable_base_is_unsure():
    old = "from other import B\nclass C(B):\n    def m(self): ...\n"
    new = "from other import B\nclass C(B): ...\n"
    assert [row["confidence"] for row in changes(old, new)] == [TAGGING.confidence_removed_unseen]
    # what comes to be defined may have been there before
    assert [row["confidence"] for row in changes(new, old)] == [TAGGING.confidence_introduced_unseen]


def test_so_is_one_from_a_class_that_always_answered_any_name():
    dynamic = "class C:\n    def __getattr__(self, name): ...\n"
    (row,) = changes(dynamic + "    def m(self): ...\n", dynamic)
    assert (row["path"], str(row["kind"]), row["confidence"]) == (
        "pkg.C.m",
        "removed",
        TAGGING.confidence_removed_unseen,
    )


@pytest.mark.parametrize(
    ("class_", "sure"),
    [
        ("class C:\n    n: int\n    x: int\n", TAGGING.confidence_introduced_declared),
        (
            "from typing import ClassVar\nclass C:\n    n: int\n    x: ClassVar[int]\n",
            TAGGING.confidence_introduced_declared,
        ),
        ("class C:\n    n: int\n    x: int = 1\n", 1.0),
        ("class C:\n    n: int\n    x: int\n    def __init__(self): self.x = 1\n", 1.0),
        ("class C:\n    n: int\n    x = None\n", 1.0),
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int\n    x: int\n", 1.0),
        ("from typing import NamedTuple\nclass C(NamedTuple):\n    n: int\n    x: int\n", 1.0),
        ("from typing import TypedDict\nclass C(TypedDict):\n    n: int\n    x: int\n", 1.0),
        ("from typing import TypedDict\nclass B(TypedDict): ...\nclass C(B):\n    n: int\n    x: int\n", 1.0),
        ("from typing import Protocol\nclass C(Protocol):\n    n: int\n    x: int\n", 1.0),
        (
            "from other import Unseen\nclass C(Unseen):\n    n: int\n    x: int\n",
            TAGGING.confidence_introduced_declared,
        ),
    ],
)
def test_an_attribute_that_is_only_declared_may_have_been_there_before(class_, sure):
    before = "\n".join(line for line in class_.split("\n") if "x" not in line)
    assert [row["confidence"] for row in changes(before, class_) if row["kind"] == "introduced"] == [sure]


def test_what_goes_from_a_class_that_is_given_members_all_along_is_unsure():
    given = "class C:\n    def n(self): ...\n{}for name in names():\n    C.add(name)\n"
    (row,) = changes(given.format("    def m(self): ...\n"), given.format(""))
    assert (row["path"], row["kind"], row["confidence"]) == ("pkg.C.m", "removed", TAGGING.confidence_removed_unseen)


def test_what_is_annotated_may_be_a_property_as_it_runs():
    declared, is_set = "class C:\n    x: int\n    y = made()\n", "class C:\n    x = 1\n    y = made()\n"
    made = "class C:\n    @property\n    def x(self) -> int: ...\n    @property\n    def y(self): ...\n"
    assert [str(row["kind"]) for pair in ((declared, made), (made, declared)) for row in changes(*pair)] == []
    assert [str(row["kind"]) for row in changes(is_set, made)] == ["kind"]


LINES = (
    "def f(a): ...", "def f(a, b=1): ...", "class C:\n    def m(self): ...", "class D(C): ...", "x = 1", "x = 2",
    "g = f", "from ._p import h", "__all__ = ['f', 'x']", "from markupsafe import Markup",
    "def __getattr__(name):\n    if name == 'lazy':\n        return 1",
)  # fmt: skip
sources = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(sources, sources)
def test_a_release_does_not_differ_from_itself_and_rows_are_deterministic(old, new):
    same = index({"pkg/__init__.py": old, "pkg/_p.py": "def h(): ...\n"})
    assert changes_between(same, same) == []
    assert changes(old, new) == changes(old, new)
    ids = [row["id"] for row in changes(old, new)]
    assert len(ids) == len(set(ids))


# one method at several paths, of which only some have another state: by a base's name, an alias, an override
SHARED = (
    "class A:\n    def m(self, a): ...\n    x = 1\n", "class A:\n    def m(self, a, b=1): ...\n    x = 2\n",
    "class B(A): ...\n", "class B(A):\n    def m(self, c): ...\n", "class C(A):\n    n = A.m\n    __version__ = A.x\n",
    "class D(B, C): ...\n", "E = A\n", "from ._p import E\n", "f = A.m\n",
)  # fmt: skip
shared = st.lists(st.sampled_from(SHARED), min_size=2, max_size=7).map("".join)


@settings(max_examples=100, deadline=None)
@given(shared, shared)
def test_what_is_compared_once_for_several_paths_is_what_each_of_them_comes_to(old, new):
    before, after = (index({"pkg/__init__.py": text, "pkg/_p.py": "class E: ...\n"}) for text in (old, new))
    comparison = Comparison(before, after, TAGGING)
    for path in sorted(before.rows.keys() & after.rows.keys()):
        was, is_ = comparison.states(path)
        alone = [] if was is None or is_ is None or was is is_ else list(compare_states(was, is_, after, TAGGING))
        unknown = before.unknown(path) or after.unknown(path)
        assert comparison.differences(path) == ([] if unknown else alone)


@settings(max_examples=60, deadline=None)
@given(shared, shared, st.sampled_from(["class E: ...\n", "def E(:\n"]), st.sampled_from(["E = 1\n", "def E(:\n"]))
def test_an_index_made_of_the_one_before_is_that_of_the_release_itself(old, new, part, other):
    files = ({"pkg/__init__.py": old, "pkg/_p.py": part}, {"pkg/__init__.py": new, "pkg/_p.py": other})
    before, whole = (index(one) for one in files)
    went = [path for path, row in before.rows.items() if whole.rows.get(path) != row]
    come = [row for path, row in whole.rows.items() if before.rows.get(path) != row]
    imported = {path: whole.importable_names.get(path) for path in before.importable_names | whole.importable_names}
    made = before.advance(went, come, imported)
    for name in ("rows", "owners", "importable_names", "unparsed", "bases"):
        assert getattr(made, name) == getattr(whole, name)
    for row in whole.rows.values():
        assert made.named(row["canonical_path"]) == whole.named(row["canonical_path"])
        assert made.below(row["path"]) == whole.below(row["path"])


OVERLOADED = "from typing import Optional, Sequence, Type, overload\nimport collections.abc as cabc\n@overload\ndef f(a: {}, b: int = ...) -> int: ...\ndef f(a, b=1): ...\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Optional[Type[int]]", "type[int] | None", []),
        ("cabc.Sequence[str]", "Sequence[str]", []),
        ("Optional[str]", "str", ["overloads pkg.f"]),
    ],
)
def test_overloads_that_are_only_spelt_otherwise_are_the_same(old, new, expected):
    # click 8.2
    assert described(changes(OVERLOADED.format(old), OVERLOADED.format(new))) == expected


WHAT_RUNS = {
    "awaited": ("def f(): ...", "async def f(): ...", ["async f not async -> async !"]),
    "an asynchronous generator": (
        "def f(): yield 1",
        "async def f(): yield 1",
        ["async f not async -> async generator !"],
    ),
    "a generator inside": ("def f(): ...", "async def f():\n    def g(): yield 1", ["async f not async -> async !"]),
    "only raised": ("def f(): raise OSError('no')", "async def f(): return 1", ["use f None -> f()"]),
    "only raised below a comment": (
        "def f():\n    # as g\n\n    # does\n    raise OSError('no')",
        "async def f(): return 1",
        ["use f None -> f()"],
    ),
    "constants by name": ("_A = 5\ndef f(x=_A): ...", "def f(x=5): ...", []),
    "another constant": ("_A = 5\ndef f(x=_A): ...", "_A = 6\ndef f(x=_A): ...", ["parameter_default f 5 -> 6 !"]),
    "a constant of a class": (
        "class C:\n    A = 's'\n    def __init__(self, x='s', y=A): ...\n    def m(self, x=A): ...",
        "class C:\n    A = 's'\n    def __init__(self, x=A, y='s'): ...\n    def m(self, x='t'): ...",
        ["parameter_default C.m 's' -> 't' !"],
    ),
    "a member of an enumeration": (
        "import enum\nclass _E(enum.Enum):\n    A = 1\ndef f(x=_E.A): ...",
        "import enum\nclass _E(enum.Enum):\n    A = 2\ndef f(x=_E.A): ...",
        [],
    ),
    "by a condition": (
        "import sys\nif sys.platform == 'win32':\n    _A = 1\nelse:\n    _A = 2\ndef f(x=_A): ...",
        "def f(x=2): ...",
        [],
    ),
    "by a metaclass": (
        "class _M(type):\n    def __call__(cls, a, b=1): ...\nclass C(metaclass=_M):\n    def __init__(self, z): ...",
        "class _M(type):\n    def __call__(cls, a): ...\nclass C(metaclass=_M):\n    def __init__(self, z): ...",
        ["parameter_removed C b=1 -> None !"],
    ),
    "by a metaclass that passes all on": (
        "class _M(type):\n    def __call__(cls, *a, **k): ...\nclass C(metaclass=_M):\n    def __init__(self, z, y=1): ...",
        "class _M(type):\n    def __call__(cls, *a, **k): ...\nclass C(metaclass=_M):\n    def __init__(self, z): ...",
        ["parameter_removed C y=1 -> None !"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), WHAT_RUNS.values(), ids=WHAT_RUNS)
def test_what_runs_is_compared_and_not_its_spelling(old: str, new: str, expected: list[str]) -> None:
    rows = changes(f"{old}\n", f"{new}\n")
    written = [
        f"{row['kind']} {row['path'].removeprefix('pkg.')} {row['old']} -> {row['new']}{' !' * row['breaking']}"
        for row in rows
    ]
    assert written == expected


def test_a_constant_of_another_module_is_what_it_is_there() -> None:
    uses = "from pkg._values import LIMIT\ndef f(x=LIMIT): ...\n"
    old = {"pkg/__init__.py": uses, "pkg/_values.py": "LIMIT = 1\n"}
    rows = changes(old, old | {"pkg/_values.py": "LIMIT = 2\n"})
    assert ("parameter_default", "pkg.f", "1", "2") in [(r["kind"], r["path"], r["old"], r["new"]) for r in rows]


def test_what_other_systems_had_says_so() -> None:
    (row,) = changes("import sys\nif sys.platform == 'win32':\n    def f(): ...\n", "import sys\n")
    assert ChangeKind(row["kind"]).behaviour.words(row) == "removed (only on some systems, or beside another package)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use g.", ["deprecated"]),
        ("This function is deprecated, use the *a* argument of g.", ["deprecated"]),
        ("Passing it on was a mistake. Use the *a* argument of g.", ["deprecated"]),
        ("*a* is ignored.", []),
        ("The `a` argument is ignored.", []),
        ("It is now deprecated to pass the instance using the keyword argument *a*.", []),
        ("Passing ``a`` as a keyword argument is deprecated.", []),
    ],
)
def test_a_directive_about_an_argument_is_no_mark_of_the_function(text: str, expected: list[str]) -> None:
    new = f'def f(a):\n    """Do.\n\n    .. deprecated:: 1.1\n        {text}\n    """\n'
    rows = changes('def f(a):\n    """Do."""\n', new)
    assert [row["kind"] for row in rows if row["kind"] == "deprecated"] == expected


ADVISED = "_GONE = {%s}\ndef __getattr__(name):\n    if name in _GONE:\n        raise AttributeError(_GONE[name])\n"


@pytest.mark.parametrize(
    ("advice", "expected"),
    [
        # numpy 2.0: np.mat went, "Use `np.asmatrix` instead", and stands as numpy.matrixlib.mat still
        ("'mat': 'Use `pkg.asmatrix` instead.'", "pkg.asmatrix"),
        ("'mat': 'It went.'", "pkg.lib.mat"),
    ],
)
def test_of_all_names_that_remain_the_one_that_the_library_states_is_the_new_path(advice: str, expected: str) -> None:
    defined = "def asmatrix(a): ...\nmat = asmatrix\n"
    old = {"pkg/__init__.py": "from pkg.lib import asmatrix, mat\n", "pkg/lib.py": defined}
    new = {"pkg/__init__.py": "from pkg.lib import asmatrix\n" + ADVISED % advice, "pkg/lib.py": defined}
    (row,) = changes(old, new)
    assert (row["path"], row["new"], row["replacement"]) == ("pkg.mat", expected, expected)
