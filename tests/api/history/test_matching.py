"""How sure it is that two states are one API: what speaks for it and against it, and what says nothing."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.similarity import Common, Likeness, confidence
from tests.api.history.releases import TAGGING, changes, described

WEIGHTS = TAGGING.likeness
NOTHING = Likeness(None, None, None, None, None)
BODY = "    total = a\n    for b in range(a):\n        total += b\n    print(total)\n    return total\n"

MATCHES = {
    "the same body under another name": (f"def f(a):\n{BODY}", f"def other(a):\n{BODY}", ["renamed pkg.f -> pkg.other"]),
    "a tiny body proves nothing": ("def f(a): return a\n", "def other(a): return a\n",
                                   ["introduced pkg.other", "removed pkg.f"]),
    "the library says so, and it is elsewhere": (
        {"pkg/__init__.py": "", "pkg/a.py": "@deprecated('use b.better instead')\ndef worse(x): ...\n", "pkg/b.py": ""},
        {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": "def better(y): ...\n"},
        ["renamed pkg.a.worse -> pkg.b.better"],
    ),
    "another name of it remains": ("def new(a): ...\nold = new\n", "def new(a): ...\n", ["renamed pkg.old -> pkg.new"]),
    "inherited members come and go with their bases": (
        f"class A:\n    def m(self, a):\n    {BODY.replace(chr(10), chr(10) + '    ')}\nclass B(A): ...\nclass C: ...\n",
        f"class A:\n    def m(self, a):\n    {BODY.replace(chr(10), chr(10) + '    ')}\nclass B: ...\nclass C(A): ...\n",
        ["bases pkg.B", "bases pkg.C", "introduced pkg.C.m", "removed pkg.B.m"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), MATCHES.values(), ids=MATCHES)
def test_what_lives_on_as_what(old, new, expected):
    assert sorted(described(changes(old, new))) == expected


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Likeness)])
@given(share=st.floats(0, 1), amount=st.floats(0, 100))
def test_what_is_more_alike_is_surer_and_what_is_unlike_never_helps(field, share, amount):
    def sure(part: float) -> float:
        return confidence(dataclasses.replace(NOTHING, **{field: Common(part, amount)}), 0.0, WEIGHTS)

    assert sure(0.0) <= sure(share) <= sure(1.0)
    assert sure(0.0) <= confidence(NOTHING, 0.0, WEIGHTS) == 0.5 <= sure(1.0)
