"""Paths that are unobservable in one release neither vanish nor appear: unparsed files, star imports without source."""

import pytest

from tests.api.history.releases import Files, changes, described, history

TWO = "print('two'\n"
BODY = "def f(x): ...\nclass C:\n    def m(self): ...\n"

OUT_OF_SIGHT: dict[str, tuple[Files, Files]] = {
    "star-imported by the package (toolz 0.7.3)": (
        {"pkg/__init__.py": "from .m import *\n", "pkg/m.py": BODY},
        {"pkg/__init__.py": "from .m import *\n", "pkg/m.py": TWO},
    ),
    "through a second star import": (
        {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from ._m import *\n", "pkg/_m.py": BODY},
        {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from ._m import *\n", "pkg/_m.py": TWO},
    ),
    "from a private module, and no longer imported from it": (
        {"pkg/__init__.py": "from ._m import f, C\n", "pkg/_m.py": BODY},
        {"pkg/__init__.py": "", "pkg/_m.py": TWO},
    ),
    "defined in the package, which now star-imports from what does not parse": (
        {"pkg/__init__.py": BODY},
        {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.py": TWO},
    ),
    "a member of a base that does not parse": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "from ._m import B as _B\nclass C(_B): ...\n", "pkg/_m.py": TWO},
    ),
    "a member of a star-imported base that does not parse": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "from ._m import *\nclass C(B): ...\n", "pkg/_m.py": TWO},
    ),
    "inherited from a private base that does not parse": (
        {
            "pkg/__init__.py": "from ._m import B as _B\nclass C(_B): ...\n",
            "pkg/_m.py": "class B:\n    def m(self): ...\n",
        },
        {"pkg/__init__.py": "from ._m import B as _B\nclass C(_B): ...\n", "pkg/_m.py": TWO},
    ),
    "star-imported from a compiled module from now on": (
        {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.py": BODY},
        {"pkg/__init__.py": "from ._m import *\n"},
    ),
    "star-imported from another distribution from now on": (
        {"pkg/__init__.py": BODY},
        {"pkg/__init__.py": "from pkg_core import *\n"},
    ),
    "marked as deprecated in what does not parse": (
        {"pkg/__init__.py": "from ._m import f\n", "pkg/_m.py": "@deprecated('gone soon')\ndef f(x): ...\n"},
        {"pkg/__init__.py": "from ._m import f\n", "pkg/_m.py": TWO},
    ),
    "a compiled class that had a stub": (
        {"pkg/__init__.py": "from ._m import C, f\n", "pkg/_m.so": "", "pkg/_m.pyi": BODY},
        {"pkg/__init__.py": "from ._m import C, f\n", "pkg/_m.so": ""},
    ),
    "star-imported from a compiled module that had a stub": (
        {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.so": "", "pkg/_m.pyi": BODY},
        {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.so": ""},
    ),
    "inherited from a compiled class that had a stub": (
        {"pkg/__init__.py": "from ._m import C as _C\nclass D(_C): ...\n", "pkg/_m.so": "", "pkg/_m.pyi": BODY},
        {"pkg/__init__.py": "from ._m import C as _C\nclass D(_C): ...\n", "pkg/_m.so": ""},
    ),
    "a compiled module that had a stub": (
        {"pkg/__init__.py": "", "pkg/m.so": "", "pkg/m.pyi": BODY},
        {"pkg/__init__.py": "", "pkg/m.so": ""},
    ),
    "given by a class decorator (pandas 1.5, SeriesGroupBy)": (
        {"pkg/__init__.py": "class C:\n    def __getattr__(self, name): ...\n    def m(self): ...\n"},
        {"pkg/__init__.py": "@pin_allowlisted_properties(S, names)\nclass C:\n    def __getattr__(self, name): ...\n"},
    ),
    "given by a loop": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "class C: ...\nfor name in NAMES:\n    setattr(C, name, make(name))\n"},
    ),
    "given by a function (pandas 1.5, Resampler)": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "class C: ...\ndef _add(name):\n    setattr(C, name, make(name))\n_add('m')\n"},
    ),
    "inherited from what a loop gives to": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "class _B: ...\nfor name in NAMES:\n    setattr(_B, name, 1)\nclass C(_B): ...\n"},
    ),
}


@pytest.mark.parametrize(("old", "new"), OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_nothing_is_derived_from_what_is_out_of_sight_either_way(old, new):
    ended = {"introduced", "removed", "renamed", "moved", "kind", "deprecated", "undeprecated"}
    found = [described(changes(old, new)), described(changes(new, old))]
    assert [[line for line in lines if line.split()[0] in ended and "._" not in line] for lines in found] == [[], []]


@pytest.mark.parametrize(("old", "new"), OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_a_life_neither_ends_nor_starts_out_of_sight(old, new):
    _, output = history(old, new, old)
    lives = [(r["path"], r["first_version"], r["introduced_in"], r["removed_in"]) for r in output.tables["lifecycles"]]
    assert lives == [(path, "1.0", None, None) for path, *_ in lives]


def test_what_is_gone_after_it_was_out_of_sight_went_nobody_knows_when():
    seen = {"pkg/__init__.py": "from ._m import *\n", "pkg/_m.py": BODY}
    _, output = history(seen, seen | {"pkg/_m.py": TWO}, {"pkg/__init__.py": ""})
    (life,) = [row for row in output.tables["lifecycles"] if row["path"] == "pkg.f"]
    assert (life["last_version"], life["removed_in"]) == ("1.0", None)


STILL_TOLD = {
    "beside what a loop gives to a base in both (scipy.sparse._data)": (
        {"pkg/__init__.py": "class _B: ...\nfor n in N:\n    setattr(_B, n, 1)\nclass C(_B):\n    def f(self): ...\n"},
        {"pkg/__init__.py": "class _B: ...\nfor n in N:\n    setattr(_B, n, 1)\nclass C(_B): ...\n"},
        ["removed pkg.C.f"],
    ),
    "a module whose file is gone (toolz.curried)": (
        {"pkg/__init__.py": "from .m import *\n", "pkg/m.py": BODY, "pkg/curried.py": BODY},
        {"pkg/__init__.py": "from .m import *\n", "pkg/m.py": TWO},
        ["removed pkg.curried"],
    ),
    "beside a star import from another distribution that was there before": (
        {"pkg/__init__.py": "from pkg_core import *\n" + BODY},
        {"pkg/__init__.py": "from pkg_core import *\n"},
        ["removed pkg.C", "removed pkg.f"],
    ),
    "beside a star import from the standard library": (
        {"pkg/__init__.py": BODY},
        {"pkg/__init__.py": "from math import *\n"},
        ["removed pkg.C", "removed pkg.f"],
    ),
    "beside a star import whose module lists all it has": (
        {"pkg/__init__.py": BODY},
        {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from ._m import *\n__all__ = []\n", "pkg/_m.py": TWO},
        ["removed pkg.C", "introduced pkg.a", "removed pkg.f"],
    ),
    "a member of a class that is there": (
        {"pkg/__init__.py": "class C:\n    def m(self): ...\n"},
        {"pkg/__init__.py": "from ._m import *\nclass C: ...\n", "pkg/_m.py": TWO},
        ["removed pkg.C.m"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), STILL_TOLD.values(), ids=STILL_TOLD)
def test_what_is_certain_is_told_all_the_same(old, new, expected):
    assert described(changes(old, new)) == expected


def test_a_base_that_cannot_be_told_is_the_standard_one_of_its_name():
    old = "from ._six.moves.http_client import HTTPConnection as _Base\nclass C(_Base): ...\n"
    new = "from http.client import HTTPConnection as _Base\nclass C(_Base):\n    def close(self): ...\n"
    assert described(changes(old, new)) == []
    assert described(changes(old, new + "    def fresh(self): ...\n")) == ["introduced pkg.C.fresh"]
