"""Sentinels as defaults, in the changes between two releases."""

import pytest

from tests.api.history.releases import Files, changes

ENUM = "import enum\nclass _T(enum.Enum):\n    token = 0\n"
SENTINELS = {
    "named otherwise": (
        "_Default = object()\ndef f(a=_Default): ...\n",
        "_UNSET = object()\ndef f(a=_UNSET): ...\n",
        [],
    ),
    "annotated": (
        "_Default = object()\ndef f(a=_Default): ...\n",
        "from typing import Any\n_UNSET: Any = object()\ndef f(a=_UNSET): ...\n",
        [],
    ),
    "of a constructor and a method": (
        "_A = object()\nclass C:\n    def __init__(self, a=_A): ...\n    def f(self, a=_A): ...\n",
        "_B = object()\nclass C:\n    def __init__(self, a=_B): ...\n    def f(self, a=_B): ...\n",
        [],
    ),
    "of another module": (
        {"pkg/__init__.py": "from pkg._a import _A\ndef f(a=_A): ...\n", "pkg/_a.py": "_A = object()\n"},
        {"pkg/__init__.py": "from pkg import _b\ndef f(a=_b.B): ...\n", "pkg/_b.py": "B = object()\n"},
        [],
    ),
    "a class without content": (
        "_A = object()\ndef f(a=_A): ...\n",
        "class _Unset:\n    def __repr__(self): return 'unset'\n_B = _Unset()\ndef f(a=_B): ...\n",
        [],
    ),
    "a class with content": (
        "_A = object()\ndef f(a=_A): ...\n",
        "class Retry:\n    def run(self): ...\n_B = Retry()\ndef f(a=_B): ...\n",
        ["parameter_default _A → _B"],
    ),
    "the member of an enumeration (urllib3 2.0)": (
        "_A = object()\ndef f(a=_A): ...\n",
        f"{ENUM}_B = _T.token\ndef f(a=_B): ...\n",
        [],
    ),
    "one of several members": (
        "_A = object()\ndef f(a=_A): ...\n",
        f"{ENUM}    other = 1\n_B = _T.token\ndef f(a=_B): ...\n",
        ["parameter_default _A → _B"],
    ),
    "none in its place": (
        "_A = object()\ndef f(a=_A): ...\n",
        "def f(a=None): ...\n",
        ["parameter_default _A → None"],
    ),
    "what a call makes": (
        "_A = object()\ndef f(a=_A): ...\n",
        "import there\n_B = there.make()\ndef f(a=_B): ...\n",
        ["parameter_default _A → _B"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), SENTINELS.values(), ids=SENTINELS)
def test_the_name_of_a_sentinel_is_no_default(old: Files, new: Files, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["kind"].startswith("parameter")]
    assert [f"{row['kind']} {row['old']} → {row['new']}" for row in rows] == expected
