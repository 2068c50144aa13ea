"""Overloads, the standard mark of deprecation (PEP 702), and libraries' decorators for signatures."""

import pytest

from pipeline.api.surface.extract.signature_decorators import HelperRules
from pipeline.api.surface.visit import visit_file
from pipeline.core.rules.load import RULES, load
from tests.api.surface.trees import SURFACE_RULES, rows

OVERLOADED = """
from typing import overload
@overload
def f(a: int, /, b: str = ...) -> X: ...
@overload
def f(*args, key, **kw): ...
def f(*args, **kw): ...
class C:
    @overload
    def m(self, *, a: 'int'=1) -> list[int]: ...
    @overload
    @staticmethod
    def m(a, /): ...
    def m(self): ...
"""


def test_overloads_are_shown():
    found = rows(OVERLOADED)
    assert found["pkg.f"]["overloads"] == ["(a: int, /, b: str = ...) -> X", "(*args, key, **kw)"]
    assert found["pkg.C.m"]["overloads"] == ["(*, a: int = 1) -> list[int]", "(a, /)"]


def test_a_stub_has_overloads_without_an_implementation():
    stub = "@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef g(a): ...\n"
    found = rows({"pkg/__init__.pyi": "from typing import overload\n" + stub})
    assert found["pkg.f"]["overloads"] == ["(a: int) -> int", "(a: str) -> str"]
    assert [p["annotation"] for p in found["pkg.f"]["parameters"]] == ["int"]
    assert found["pkg.g"]["overloads"] == []


@pytest.mark.parametrize("module", ["typing", "warnings", "typing_extensions"])
@pytest.mark.parametrize("more", ["", ", category=None", ", category=FutureWarning, stacklevel=2"])
def test_the_standard_mark(module, more):
    source = f"import {module}\nfrom {module} import deprecated\n"
    source += (
        f"@deprecated('Use g instead'{more})\ndef f(): ...\n@{module}.deprecated('Use D instead'{more})\nclass C: ..."
    )
    found = rows(source)
    marks = [found[f"pkg.{name}"]["deprecation"] for name in ("f", "C")]
    assert [(str(m["channel"]), m["replacement"], m["since"]) for m in marks] == [
        ("decorator", "g", None),
        ("decorator", "D", None),
    ]


@pytest.mark.parametrize(("marked", "expected"), [((True, False), False), ((True, True), True)])
@pytest.mark.parametrize("file", ["pkg/__init__.py", "pkg/__init__.pyi"])
def test_a_deprecated_overload_does_not_mark_the_function(file, marked, expected):
    source = "from typing import overload\nfrom typing_extensions import deprecated\n"
    for kind, mark in zip(("int", "str"), marked, strict=True):
        source += "@overload\n" + "@deprecated('no more')\n" * mark + f"def f(a: {kind}): ...\n"
    if file.endswith(".py"):
        source, expected = source + "def f(a): ...\n", False
    assert bool(rows({file: source})["pkg.f"]["deprecation"]) == expected


def test_decorators_of_libraries_change_what_can_be_given():
    source = (
        b"@deprecate_kwarg(old_arg_name='cols', new_arg_name='columns')\ndef f(columns, **kw):\n    kw.pop('x', 1)\n"
    )
    helpers = load(RULES / "helpers.yaml", HelperRules)
    read = visit_file("pkg", "pkg/__init__.py", source, SURFACE_RULES, helpers).definitions["f"].called
    assert [(p["name"], str(p["known_from"])) for p in read] == [
        ("columns", "signature"),
        ("cols", "helper"),
        ("x", "kwargs"),
        ("kw", "signature"),
    ]
    assert read[1]["deprecation"]
    assert read[1]["deprecation"]["replacement"] == "columns"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("_api.deprecate_privatize_attribute('3.8', alternative='new')", ("3.8", "new")),
        ("_api.deprecated('3.6')(property(lambda self: self._x))", ("3.6", None)),
        ("property(deprecated('3.6', alternative='new')(get))", ("3.6", "new")),
        ("np.deprecate_with_doc('Use new instead.')(g)", (None, "new")),
        ("np.deprecate(g, new_name='new')", (None, "new")),
        ("deprecated_alias('new', since='1.2')", ("1.2", None)),
        ("property(get, set)", None),
        ("make(deprecated('1.2'))", None),
        ("deprecate_kwarg('a', 'b')(g)", None),
    ],
)
def test_what_a_helper_makes_of_another_name_is_deprecated(value, expected):
    found = rows(f"def g(): ...\nclass C:\n    old = {value}\n")["pkg.C.old"]["deprecation"]
    assert (found and (found["since"], found["replacement"])) == expected


@pytest.mark.parametrize(
    ("decorator", "labels"),
    [("@async_variant(g)", []), ("@contextlib.asynccontextmanager", []), ("@other", ["async"])],
)
def test_a_decorator_may_make_a_plain_function_of_a_coroutine_function(decorator, labels):
    # jinja2 3.0: filters
    assert rows(f"import contextlib\n{decorator}\nasync def f(): ...\n")["pkg.f"]["labels"] == labels


GONE = """
class Base:
    @property
    def body(self): return 1
class C(Base):
    @property
    def body(self):
        '''Gone.'''
        raise AttributeRemovedError('Use text.')
    @body.setter
    def body(self, value):
        SETS
    @property
    def password(self):
        raise AttributeError('not readable')
    @password.setter
    def password(self, value):
        self.hash = value
"""


def test_a_property_that_only_raises_attribute_error_is_not_there():
    # falcon 4.0: Response.body; what can be set is there all the same
    found = rows(GONE.replace("SETS", "raise AttributeRemovedError('Use text.')"))
    assert ("pkg.C.body" in found, "pkg.Base.body" in found, "pkg.C.password" in found) == (False, True, True)
    assert "pkg.C.body" in rows(GONE.replace("SETS", "self.text = value"))
