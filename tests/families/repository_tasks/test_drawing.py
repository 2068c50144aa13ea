"""Which tests of a project judge a function: every line and branch, then every test function."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.families.repository_tasks.drawing import draw_tests


def test_a_parametrised_test_does_not_fill_the_quota() -> None:
    reached = {f"t.py::test_many[{number}]": {1, 2, 3} for number in range(9)}
    reached |= {"t.py::test_a": {1, 2, 3}, "t.py::test_b": {1, 2, 3}, "t.py::test_elsewhere": {9}}
    assert draw_tests(reached, range(1, 4), 4) == [
        "t.py::test_a",
        "t.py::test_b",
        "t.py::test_many[0]",
        "t.py::test_many[1]",
    ]


def test_a_line_and_a_branch_that_no_other_test_takes_come_before_another_function() -> None:
    reached = {"t.py::test_a[1]": {1, 2, 4}, "t.py::test_a[2]": {1, 3, 4}, "t.py::test_a[3]": {1, 4}}
    reached |= {"t.py::test_b": {1, 2, 4}}
    assert draw_tests(reached, range(1, 5), 3) == ["t.py::test_a[1]", "t.py::test_a[2]", "t.py::test_a[3]"]


def test_tests_named_after_the_function_come_before_others_that_reach_no_more() -> None:
    reached = {f"t.py::MetaTest::test_{number}": {1, 2, 3} for number in range(9)}
    reached |= {"t.py::RemoveTagsTest::test_b": {1, 2}, "t.py::test_remove_tags": {1, 2}, "remove_tags.py::test_c": {1}}
    assert draw_tests(reached, range(1, 4), 5, "remove_tags") == [
        "t.py::RemoveTagsTest::test_b",
        "t.py::MetaTest::test_0",
        "remove_tags.py::test_c",
        "t.py::test_remove_tags",
        "t.py::MetaTest::test_1",
    ]


def test_a_short_name_is_a_word_of_the_name_of_a_test() -> None:
    reached = {"t.py::test_target": {1}, "t.py::TestGetItem::test_it": {1}, "t.py::test_all": {1, 2}}
    assert draw_tests(reached, range(1, 3), 1, "get") == ["t.py::TestGetItem::test_it"]
    assert draw_tests(reached, range(1, 3), 1, "arg") == ["t.py::test_all"]


@given(
    st.dictionaries(
        st.builds("t.py::test_{}[{}]".format, st.integers(0, 3), st.integers(0, 5)),
        st.sets(st.integers(1, 6)),
        max_size=12,
    )
)
def test_what_is_drawn_first_reaches_all_that_any_test_reaches(reached: dict[str, set[int]]) -> None:
    drawn = draw_tests(reached, range(1, 5), len(reached))
    assert set(drawn) == {test for test, lines in reached.items() if lines & {1, 2, 3, 4}}
    kinds = {frozenset(lines & {1, 2, 3, 4}) for lines in reached.values()} - {frozenset()}
    first = draw_tests(reached, range(1, 5), len(kinds))
    assert set().union(*(reached[test] & {1, 2, 3, 4} for test in first)) == set().union(*kinds)
