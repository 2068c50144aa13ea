"""The labels that say where a release may have names without a row."""

import pytest

from tests.api.surface.trees import rows

TWO = "print('two'\n"

CASES = {
    "modules that do not parse, private ones too, are named at the top": (
        {"pkg/__init__.py": "", "pkg/a/__init__.py": TWO, "pkg/a/b.py": "", "pkg/_c.py": TWO},
        {"pkg": ["unparsed:pkg._c", "unparsed:pkg.a"], "pkg.a": ["unparsed"], "pkg.a.b": []},
    ),
    "star imports from what no source shows, also through others": (
        {
            "pkg/__init__.py": "from ._m import *\nfrom .a import *\nfrom math import *\n",
            "pkg/_m.py": TWO,
            "pkg/a.py": "from ._speed import *\nfrom other import *\n",
        },
        {
            "pkg": ["stars:other", "stars:pkg._m", "stars:pkg._speed", "unparsed:pkg._m"],
            "pkg.a": ["stars:other", "stars:pkg._speed"],
        },
    ),
    "but not through a module that lists all it has": (
        {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from other import *\n__all__ = ['x']\n"},
        {"pkg": [], "pkg.a": ["stars:other"]},
    ),
    "star imports in a circle come to an end": (
        {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from .b import *\n", "pkg/b.py": "from .a import *\n"},
        {"pkg": [], "pkg.a": [], "pkg.b": []},
    ),
    "names that are made as the module runs": (
        {
            "pkg/__init__.py": "from .a import *\n",
            "pkg/a.py": "for key in kinds:\n    globals()[key] = 1\n",
            "pkg/b.py": "globals().update(kinds)\n",
            "pkg/c.py": "exec(text)\n",
            "pkg/d.py": "import sys\nfor key in kinds:\n    setattr(sys.modules[__name__], key, 1)\n",
            "pkg/e.py": "def f():\n    globals()['x'] = 1\n    print(vars())\n",
        },
        {
            "pkg": ["stars:pkg.a"],
            "pkg.a": ["stars:pkg.a"],
            "pkg.b": ["stars:pkg.b"],
            "pkg.c": ["stars:pkg.c"],
            "pkg.d": ["stars:pkg.d"],
            "pkg.e": [],
        },
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_labels_of_modules(files, expected):
    assert {path: row["labels"] for path, row in rows(files).items() if row["kind"] == "module"} == expected


@pytest.mark.parametrize(
    ("body", "open_"),
    [
        ("if name == 'a':\n        return 1\n    raise AttributeError(name)", False),
        ("if name in {'a'}:\n        return 1\n    else:\n        raise AttributeError(name)", False),
        ("if name not in known:\n        raise AttributeError(name)\n    return load(name)", False),
        ("return getattr(other, name)", True),
        ("if name.startswith('x'):\n        return 1\n    raise AttributeError(name)", True),
        (
            "if name == 'a':\n        return 1\n    try:\n        return load(name)\n    except KeyError:\n        raise",
            True,
        ),
        ("with lock:\n        return load(name)", True),
        ("raise AttributeError(name)", False),
    ],
)
def test_a_getattr_of_a_module_tells_its_names_or_not(body, open_):
    found = rows(f"known = ['a']\ndef __getattr__(name):\n    {body}\n")
    assert ("dynamic" in found["pkg"]["labels"]) == open_


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("ops.add_special_methods(C, **methods)", ["given:add_special_methods"]),
        ("install_operators(C)\nadd_methods(C)", ["given:add_methods", "given:install_operators"]),
        ("for name in names:\n    C.add(name)", ["given:add"]),
        ("for name, value in pairs:\n    C._make(name, 1)", ["given:_make"]),
        ("register(C)", []),
        ("made = add_methods(C)", []),
        ("add_methods(Other)", []),
        ("for name in names:\n    C.add(1)", []),
        ("for name in names:\n    print(name)", []),
    ],
)
def test_a_class_may_be_given_members_by_a_call(statement, given):
    found = rows(f"class C:\n    class C: ...\nclass D(C): ...\n{statement}\n")
    assert [found[f"pkg.{name}"]["labels"] for name in ("C", "D", "C.C")] == [given, given, []]


@pytest.mark.parametrize(
    ("class_", "open_"),
    [
        ("class C(metaclass=Meta): ...", True),
        ("class C(metaclass=Derived): ...", True),
        ("class C(metaclass=_meta.Meta): ...", True),
        ("class Base(metaclass=Meta): ...\nclass C(Base): ...", True),
        ("class C(metaclass=Plain): ...", False),
        ("class C(metaclass=abc.ABCMeta): ...", False),
        ("class C(metaclass=made()): ...", False),
        ("class C(Meta): ...", True),
        ("class C(other=Meta): ...", False),
    ],
)
def test_a_class_may_answer_names_in_its_metaclass(class_, open_):
    meta = "class Meta(type):\n    def __getattr__(cls, name): ...\nclass Derived(Meta): ...\nclass Plain(type): ...\n"
    heads = "import abc\nfrom . import _meta\nfrom ._meta import Derived, Meta, Plain\n"
    found = rows({"pkg/__init__.py": f"{heads}{class_}\n", "pkg/_meta.py": meta})
    assert ("dynamic" in found["pkg.C"]["labels"]) == open_


@pytest.mark.parametrize(
    "source",
    [
        "__getattr__ = migrated(__name__)\n",
        "__getattr__, __dir__, names = attach(__name__)\n",
        "from ._lazy import __getattr__\n",
    ],
)
def test_a_getattr_from_elsewhere_may_answer_any_name(source):
    assert "dynamic" in rows(source)["pkg"]["labels"]


def test_what_is_given_the_globals_of_a_module_may_bind_any_name():
    assert rows("NAMES = table()\nlazy_import(globals(), NAMES)\n")["pkg"]["labels"] == ["stars:pkg"]


def test_names_that_are_told_beside_the_globals_are_those_that_are_bound():
    told = rows("lazy_import(globals(), aliases={'new': '.client'}, deprecated_aliases={'old': '.client'})\n")
    assert told["pkg"]["labels"] == []
    assert {path for path in told if path.startswith("pkg.")} == {"pkg.new", "pkg.old"}
    assert told["pkg.old"]["deprecation"]
    assert not told["pkg.new"]["deprecation"]
