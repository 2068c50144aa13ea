"""Names that loops, metaclasses, stubs and other names of `warnings.warn` make: old source, new source, changes."""

import pytest

from tests.api.history.releases import Files, changes, described

LOOP = "class C:\n    def f(self): ...\nNAMES = ('a', '{}')\n"
METACLASS = (
    "class M(type):\n    @property\n    def a(cls): ...\n"
    "    def __new__(m, name, bases, ns):\n        ns['b'] = 1\n        return super().__new__(m, name, bases, ns)\n"
    "    def __init__(cls, name, bases, ns):\n        cls.c = 2\n        setattr(cls, 'd', 3)\n"
)
MEMBERS = "".join(f"    {name} = 1\n" for name in "abcde")
WARNS = "{}\ndef f():\n    {}('use g', DeprecationWarning)\ndef g(): ...\n"
STUB = {"pkg/__init__.py": "from ._c import *\nx = 1\n", "pkg/_c.pyi": "def f(): ...\n"}
CASES: dict[str, tuple[Files, Files, list[str]]] = {
    "a loop that sets members of a class": (
        LOOP.format("b") + "for name in NAMES:\n    setattr(C, name, make(name))\n",
        LOOP.format("c") + "for name in NAMES:\n    setattr(C, name, make(name))\n",
        ["removed pkg.C.b", "introduced pkg.C.c"],
    ),
    "names that are made of those of the loop": (
        LOOP.format("b") + "for name in NAMES:\n    setattr(C, f'is_{name}', make(name))\n",
        LOOP.format("c") + "for name in NAMES:\n    setattr(C, f'is_{name}', make(name))\n",
        ["removed pkg.C.is_b", "introduced pkg.C.is_c"],
    ),
    "another loop over what only running tells": (
        LOOP.format("b") + "for name in NAMES + more():\n    setattr(C, name, make(name))\n",
        LOOP.format("c") + "for name in NAMES + more():\n    setattr(C, name, make(name))\n",
        [],
    ),
    "a loop in a class": (
        "class C:\n    for name in ('a', 'b'):\n        locals()[name] = 1\n",
        "class C:\n    for name in ('a', 'c'):\n        locals()[name] = 1\n",
        ["removed pkg.C.b", "introduced pkg.C.c"],
    ),
    "a loop in a module": (
        "for name in ['a', 'b']:\n    globals()[name] = 1\n",
        "for name in ['a', 'c']:\n    globals()[name] = 1\n",
        ["removed pkg.b", "introduced pkg.c"],
    ),
    "a metaclass has them now": (
        METACLASS + "class C:\n" + MEMBERS,
        METACLASS + "class C(metaclass=M): ...\n",
        ["removed pkg.C.e"],
    ),
    "a metaclass had them": (
        METACLASS + "class C(metaclass=M): ...\n",
        METACLASS + "class C:\n" + MEMBERS,
        ["introduced pkg.C.e"],
    ),
    "warn by another name": (
        WARNS.format("from warnings import warn as w", "v"),
        WARNS.format("from warnings import warn as w", "w"),
        ["deprecated pkg.f"],
    ),
    "warn by a name that is assigned": (
        WARNS.format("import warnings\nsay = warnings.warn", "v"),
        WARNS.format("import warnings\nsay = warnings.warn", "say"),
        ["deprecated pkg.f"],
    ),
    "what is called so without being it": (
        WARNS.format("from there import tell as w", "v"),
        WARNS.format("from there import tell as w", "w"),
        [],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=CASES)
def test_made_names(old: Files, new: Files, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["path"] not in {"pkg.NAMES"}]
    ours = [row for row in rows if not row["path"].startswith("pkg.M")]
    assert [line for line in described(ours) if not line.startswith("bases")] == expected


def test_what_only_a_stub_shows_is_less_sure() -> None:
    grown = STUB | {"pkg/_c.pyi": STUB["pkg/_c.pyi"] + "def g(): ...\n"}
    (row,) = (row for row in changes(STUB, grown) if row["path"] == "pkg.g")
    assert (row["kind"], row["confidence"]) == ("introduced", 0.35)
    (alone,) = changes({"pkg/__init__.pyi": ""}, {"pkg/__init__.pyi": "def g(): ...\n"})
    assert alone["confidence"] == 1.0


def test_so_is_a_member_of_a_class_that_only_a_stub_shows() -> None:
    class_ = "class _B:\n    def f(self): ...\nclass A(_B):\n    def g(self): ...\n"
    files = {"pkg/__init__.py": "from ._c import *\nfrom ._c import A\n", "pkg/__init__.pyi": class_}
    grown = class_.replace("f(self): ...", "f(self): ...\n    def h(self): ...") + "    def i(self): ...\n"
    rows = changes(files, files | {"pkg/__init__.pyi": grown})
    assert [(row["path"], row["kind"], row["confidence"]) for row in rows] == [
        ("pkg.A.h", "introduced", 0.35),
        ("pkg.A.i", "introduced", 0.35),
    ]
