"""Programs that display nothing of what a library does."""

from __future__ import annotations

import pytest

from pipeline.families.uninformative import uninformative
from pipeline.lake.rows import RewriteCheck


@pytest.mark.parametrize(
    ("statements", "is_trivia"),
    [
        (["print(type(x).__name__)"], True),
        (["type(x)"], True),
        (["import lib\nprint(type(lib.x))"], True),
        (["print(isinstance(x, int))", "print(x is not None)"], True),
        (["not callable(x) and issubclass(x, int)"], True),
        (["with lib.open() as x:\n    print(x is None)"], True),
        (["print(isinstance(x, int))", "print(x)"], False),
        (["print(type(x).__name__, x)"], False),
        (["print(x.__name__)"], False),
        (["print(x == 2)"], False),
        (["isinstance"], False),
        # what a call raises is what it does
        (["try:\n    x()\nexcept ValueError as error:\n    print(type(error).__name__)"], False),
        ([], False),
    ],
)
def test_what_kind_of_thing_something_is_uninformative(statements: list[str], is_trivia: bool) -> None:
    little = uninformative([{"statement": each, "expected": "True\n", "options": []} for each in statements])
    assert bool(little) is is_trivia


@pytest.mark.parametrize(
    ("statements", "is_trivia"),
    [
        ([("x = lib.A()", None), ("print(type(x))", "A\n")], True),
        ([("x = lib.A()", None), ("print('')", "\n")], True),
        ([("isinstance(x, int)", None)], False),
        ([("assert isinstance(x, int)", None), ("print(x)", "1\n")], False),
        ([("print x", "1\n")], False),
    ],
    ids=["a type", "a blank", "no output is stated", "an output", "another Python"],
)
def test_only_statements_that_display_something_count(
    statements: list[tuple[str, str | None]], is_trivia: bool
) -> None:
    checks: list[RewriteCheck] = [
        {"statement": statement, "expected": expected, "options": []} for statement, expected in statements
    ]
    assert bool(uninformative(checks)) is is_trivia
