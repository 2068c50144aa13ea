"""The same test in two releases."""

from __future__ import annotations

import pytest

from pipeline.corpus.own_tests.lineage import match

TEXT = "def test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n"
LISTED = "def test_listed():\n    assert {}.__name__ in validators.__all__\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a.py::test_x": "1"}, {"a.py::test_x": "2"}, {"a.py::test_x": "a.py::test_x"}),
        ({"a.py::T::test_x": "1"}, {"b.py::T::test_x": "2"}, {"b.py::T::test_x": "a.py::T::test_x"}),
        (
            {"a.py::test_total": TEXT},
            {"a.py::test_sum": TEXT.replace("total", "sum_of")},
            {"a.py::test_sum": "a.py::test_total"},
        ),
        ({"a.py::test_x": TEXT}, {"a.py::test_y": "def test_y():\n    raise ValueError\n"}, {}),
        ({"a.py::test_total": TEXT}, {"b.py::test_other": TEXT}, {}),
        (
            {"a.py::Provides::test_listed": LISTED.format("provides"), "a.py::And::test_listed": LISTED.format("and_")},
            {"a.py::Or::test_listed": LISTED.format("or_"), "a.py::And::test_listed": LISTED.format("and_")},
            {"a.py::And::test_listed": "a.py::And::test_listed"},
        ),
    ],
)
def test_match(old: dict[str, str], new: dict[str, str], expected: dict[str, str]) -> None:
    assert match(old, new, 0.6) == expected


def test_the_most_similar_of_several_counts() -> None:
    old = {"a.py::test_one": TEXT, "a.py::test_two": TEXT.replace("== 0", "== 0.0")}
    new = {"a.py::test_three": TEXT.replace("== 0", "== 0.0").replace("test_total", "test_three")}
    assert match(old, new, 0.6) == {"a.py::test_three": "a.py::test_two"}
