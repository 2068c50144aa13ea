"""What releases share: read one after another, each is what it is when it is read alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.api.surface.visit import visit_file
from tests.api.surface.trees import SURFACE_RULES, reader_of, rows, tree

BASES = (
    "class Base:\n    def m(self): ...\n    def _hidden(self, a): ...\n    class In:\n        x = 1\n",
    "class Base:\n    def m(self, a=1): ...\n    def n(self): ...\n",
    "class Root:\n    def n(self): ...\n    def _hidden(self, b): ...\nclass Base(Root):\n    class In(Root): ...\n",
    "from .other import Base\n",
    "class Base(type):\n    def __getattr__(self, name): ...\n",
    "Base = object\n",
)
OTHERS = (
    "class Base:\n    def m(self): ...\n    @classmethod\n    def n(cls, x): ...\n",
    "class Base:\n    n = m = 1\n    def _hidden(self, c): self.set = c\n",
    "",
)
USERS = (
    "from .base import Base\nclass C(Base):\n    x = 1\n",
    "from .base import Base\nf = Base.m\ng = Base.n\n",
    "from .base import Base\nclass C(metaclass=Base): ...\n",
    "from .base import Base\nhidden = Base._hidden\nclass C(Base.In):\n    def _hidden(self, d): ...\n",
    "from .base import *\nclass C(Base, Other): ...\nother = C.In.x\n",
    "from . import base\nfrom .other import Base as B\nclass C(base.Base):\n    n = B.m\n    def m(self): ...\n    again = m\n",
    "from ._compiled import C\nfrom ._compiled import C as D\n",
)
STUBS = (
    "",
    "class C:\n    def m(self, a): ...\n",
    "class _Base:\n    def n(self): ...\nclass C(_Base):\n    def m(self, b: int): ...\nclass D(C): ...\n",
)


@settings(deadline=None)
@given(st.lists(st.tuples(*map(st.sampled_from, (BASES, OTHERS, USERS, STUBS))), min_size=2, max_size=5))
def test_a_release_read_after_others_is_as_it_is_alone(releases):
    contents: dict[str, bytes] = {}
    reader = reader_of(contents)
    for base, other, user, stub in releases:
        files = {"pkg/__init__.py": "", "pkg/base.py": base, "pkg/other.py": other, "pkg/user.py": user}
        files |= {"pkg/user.pyi": stub, "pkg/_compiled.so": ""}
        sources, added = tree(files)
        contents |= added
        read, alone = reader.read(sources), reader_of(contents).read(sources)
        for name in ("symbols", "importable_names", "documents"):
            assert getattr(read, name) == getattr(alone, name)


SOURCE = """
class C:
    def __init__(self): ...
    def _serves(self, a): self.x = a
    @property
    def _p(self): ...
    def __len__(self): ...
    def __getattr__(self, name): ...
def _f(a): ...
given = C._serves
"""


@pytest.mark.parametrize("known", [{}, {"parse_function": lambda text: None}], ids=["in pieces", "whole text"])
def test_a_method_that_nobody_else_calls_is_read_where_all_of_a_file_is_wanted(known):
    record = visit_file("pkg", "pkg/__init__.py", SOURCE.encode(), SURFACE_RULES, **known)
    assert list(record.definitions) == ["C", "_f", "given"]
    assert list(record.definitions["C"].members) == ["__init__", "_p", "__getattr__", "x"]
    assert (record.unread, record.asks) == (["__len__", "_serves"], ["_serves"])
    whole = visit_file("pkg", "pkg/__init__.py", SOURCE.encode(), SURFACE_RULES, **known, whole=True)
    assert [parameter["name"] for parameter in whole.definitions["C"].members["_serves"].called] == ["self", "a"]
    assert (whole.unread, whole.asks) == ([], ["_serves"])


@pytest.mark.parametrize(
    "given",
    [
        "from ._hidden import C\nf = C._m\n",
        "from . import _hidden\nf = _hidden.C._m\n",
        "from ._hidden import _f as f\n",
    ],
)
def test_what_is_given_the_value_of_a_private_method_is_called_like_it(given):
    hidden = "class C:\n    def _m(self, a, *, b=1):\n        'Doc.'\n_f = C._m\n"
    row = rows({"pkg/__init__.py": given, "pkg/_hidden.py": hidden})["pkg.f"]
    assert (row["canonical_path"], [p["name"] for p in row["parameters"]]) == ("pkg._hidden.C._m", ["self", "a", "b"])
    assert row["docstring_sha256"] is not None


def test_what_a_private_method_takes_the_place_of_is_called_like_it():
    source = "class C:\n    def _new(self, a): ...\n    @replaced_by(_new)\n    def old(): ...\n"
    assert [p["name"] for p in rows(source)["pkg.C.old"]["parameters"]] == ["a"]
