"""Changes by what a user must do: every change in one block, every block in one group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.upgrade_guide import grouped, only_breaking
from pipeline.core.vocabularies.changes import OF_TYPES, ChangeKind, Work
from pipeline.lake.schema import Row
from tests.api.history.releases import changes
from tests.families.completions_and_migrations.rows import change

TITLES = [work.value for work in Work]


def row(kind: ChangeKind, breaking: bool, path: str = "lib.f", parameter: str | None = None) -> Row:
    return change(kind, path, "1.0", "2.0", breaking=breaking, parameter=parameter)


@pytest.mark.parametrize(
    ("kind", "breaking", "title"),
    [
        (ChangeKind.REMOVED, True, "Code that uses these fails: rewrite"),
        (ChangeKind.RENAMED, True, "Write the new path"),
        (ChangeKind.MOVED, True, "Write the new path"),
        (ChangeKind.PARAMETER_REMOVED, True, "Check your calls"),
        (ChangeKind.DEPRECATED, False, "Prepare: deprecated, and what to use"),
        (ChangeKind.PARAMETER_DEPRECATED, False, "Prepare: deprecated, and what to use"),
        (ChangeKind.INTRODUCED, False, "New"),
        (ChangeKind.PARAMETER_REMOVED, False, "Nothing to do"),
        (ChangeKind.RETURNS, False, "Types: annotations alone"),
    ],
)
def test_the_group_of_a_change(kind: ChangeKind, breaking: bool, title: str) -> None:
    ((found, (block,)),) = grouped([row(kind, breaking)])
    assert (found, block.path) == (title, "lib.f")


ROWS = st.builds(row, st.sampled_from(ChangeKind), st.booleans(), st.sampled_from(["lib.f", "lib.g", "lib.C.m"]))


@given(st.lists(ROWS))
def test_every_change_stands_once_and_every_api_in_one_group_but_for_its_types(given_rows: list[Row]) -> None:
    groups = grouped(given_rows)
    blocks = [block for _, blocks in groups for block in blocks]
    assert sorted(map(id, given_rows)) == sorted(id(change) for block in blocks for change in block.changes)
    assert len({(block.path, block.changes[0]["kind"] in OF_TYPES) for block in blocks}) == len(blocks)
    assert [title for title, _ in groups] == [title for title in TITLES if title in dict(groups)]


def test_an_api_stands_where_its_most_urgent_change_belongs() -> None:
    found = grouped(
        changes(
            "def f(a: int, b=1): ...\ndef g(): ...\ndef old(): ...\n",
            "def f(a: str, *, c): ...\ndef g(x=1): ...\ndef new(): ...\n",
        )
    )
    assert [(title, [block.path for block in blocks]) for title, blocks in found] == [
        ("Code that uses these fails: rewrite", ["pkg.old"]),
        ("Check your calls", ["pkg.f"]),
        ("New", ["pkg.new"]),
        ("Nothing to do", ["pkg.g"]),
        ("Types: annotations alone", ["pkg.f"]),
    ]


def test_two_parameters_make_another_shape() -> None:
    one, two = (row(ChangeKind.PARAMETER_REMOVED, True, parameter=name) for name in "ab")
    again = row(ChangeKind.PARAMETER_DEFAULT, True, parameter="a")
    typed = row(ChangeKind.PARAMETER_TYPE, False, parameter="b")
    cases = ([one], [one, again], [one, typed], [one, two])
    assert [grouped(rows)[0][1][0].reshaped for rows in cases] == [False, False, False, True]


def test_only_what_breaks_is_kept_in_order() -> None:
    rows = [row(kind, breaking) for kind in ChangeKind for breaking in (True, False)]
    assert only_breaking(rows) == rows[::2]
