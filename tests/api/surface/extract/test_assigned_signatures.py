"""Signatures that code assigns, in the changes between two releases."""

import pytest

from tests.api.history.releases import changes

INSPECT = "import inspect\nfrom inspect import Parameter, Signature\n"
ONE = "[Parameter('a', Parameter.POSITIONAL_OR_KEYWORD), Parameter('k', Parameter.KEYWORD_ONLY, default=None)]"
ASSIGNED = {
    "by a class": (
        "class C:\n    def __init__(self, a, b): ...\n",
        f"{INSPECT}class C:\n    __signature__ = Signature({ONE})\n    def __init__(self, *args, **kw): ...\n",
        ["parameter_added_optional k", "parameter_removed b"],
    ),
    "for a class, behind it": (
        "class C:\n    def __init__(self, a, k=None): ...\n",
        f"{INSPECT}class C:\n    def __init__(self, *args, **kw): ...\n"
        f"C.__signature__ = inspect.Signature(parameters={ONE})\n",
        ["parameter_kind k"],
    ),
    "for a function": (
        "def f(a, *, k=None): ...\n",
        f"{INSPECT}def f(*args, **kw): ...\nf.__signature__ = Signature({ONE}, return_annotation=int)\n",
        [],
    ),
    "for a method": (
        "class C:\n    def f(self, a): ...\n",
        f"{INSPECT}class C:\n    def f(*args): ...\n    f.__signature__ = Signature(["
        "Parameter('self', Parameter.POSITIONAL_ONLY), Parameter('b', Parameter.KEYWORD_ONLY)])\n",
        ["parameter_added_required b", "parameter_removed a"],
    ),
    "that of another function": (
        "def f(a, *, k=None): ...\n",
        f"{INSPECT}def _g(a): ...\ndef f(*args, **kw): ...\nf.__signature__ = inspect.signature(_g)\n",
        ["parameter_removed k"],
    ),
    "that of another file: nobody sees it": (
        "def f(a, *, k=None): ...\n",
        f"{INSPECT}from there import g\ndef f(*args, **kw): ...\nf.__signature__ = inspect.signature(g)\n",
        [],
    ),
    "of which only running tells the parameters": (
        "def f(a): ...\n",
        f"{INSPECT}def f(a, b): ...\nf.__signature__ = Signature([Parameter(n, Parameter.KEYWORD_ONLY) for n in 'ab'])\n",
        ["parameter_added_required b"],
    ),
    "by a base, before the own constructor": (
        "class C:\n    def __init__(self, b): ...\n",
        f"{INSPECT}class _B:\n    __signature__ = Signature({ONE})\nclass C(_B):\n    def __init__(self, b): ...\n",
        [],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), ASSIGNED.values(), ids=ASSIGNED)
def test_a_signature_that_is_assigned(old: str, new: str, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["kind"].startswith("parameter")]
    assert [f"{row['kind']} {row['parameter']}" for row in rows] == expected
