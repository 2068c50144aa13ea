"""Programs that display nothing of what a library does."""

from __future__ import annotations

import pytest

from pipeline.families.uninformative import uninformative


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
