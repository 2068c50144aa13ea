"""Old parameters, new parameters, and what changed between them."""

import pytest

from tests.lifecycle.releases import changes

CASES = [
    ("a", "a", []),
    ("a", "a, b", [("parameter_added_required", "b", True)]),
    ("a", "a, b=1", [("parameter_added_optional", "b", False)]),
    ("a", "a, *args, **kw", [("parameter_added_optional", "args", False), ("parameter_added_optional", "kw", False)]),
    ("*args, **kw", "*rest, **options", []),
    ("a, b=1", "a", [("parameter_removed", "b", True)]),
    ("a, *, b=1", "a, **kw", [("parameter_added_optional", "kw", False), ("parameter_removed", "b", False)]),
    ("a, **kw", "a", [("parameter_removed", "kw", True)]),
    ("path, b", "filename, b", [("parameter_renamed", "path", True)]),
    ("path, /", "filename, /", [("parameter_renamed", "path", False)]),
    ("on_update=None", "token=None", [("parameter_added_optional", "token", False),
                                      ("parameter_removed", "on_update", True)]),
    ("json_data", "s, /", [("parameter_kind", "json_data", True), ("parameter_renamed", "json_data", True)]),
    ("errors=None", "error=None", [("parameter_renamed", "errors", True)]),
    ("a: int", "b: str", [("parameter_added_required", "b", True), ("parameter_removed", "a", True)]),
    ("a, b", "b, a", [("parameter_moved", "a", True), ("parameter_moved", "b", True)]),
    ("a, b", "a, *, b", [("parameter_kind", "b", True)]),
    ("a, *, b", "a, b", [("parameter_kind", "b", False)]),
    ("a, /", "a", [("parameter_kind", "a", False)]),
    ("a=1", "a", [("parameter_required", "a", True)]),
    ("a", "a=1", [("parameter_optional", "a", False)]),
    ("a=1", "a=2", [("parameter_default", "a", True)]),
    ("a=None", "a=MISSING", [("parameter_default", "a", False)]),
    ("a=1", "a=True", [("parameter_default", "a", True)]),
    ("a='x'", 'a="x"', []),
    ("a: int", "a: str", [("parameter_type", "a", False)]),
    ("a: Literal['x']", "a: Literal['y']", [("parameter_type", "a", False)]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_parameters(old, new, expected):
    rows = changes(f"def f({old}): ...\n", f"def f({new}): ...\n")
    assert [(str(row["kind"]), row["parameter"], row["breaking"]) for row in rows] == expected


def test_griffe_is_not_said_to_report_what_breaks_nothing():
    (loosened,) = changes("def f(*, b): ...\n", "def f(b): ...\n")
    (tightened,) = changes("def f(b): ...\n", "def f(*, b): ...\n")
    assert (loosened["griffe_kind"], tightened["griffe_kind"]) == (None, "Parameter kind was changed")
