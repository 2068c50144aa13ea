"""Changes by what a user must do: every change in one block, every block in one group."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.upgrade_guide import PARTS, Part, changes_in, grouped, of_part, shortened
from pipeline.core.vocabularies.changes import OF_TYPES, ChangeKind, Reach, Work
from tests.api.history.releases import changes
from tests.families.completions_and_migrations.rows import change


def row(kind: ChangeKind, breaking: bool, path: str = "lib.f", parameter: str | None = None) -> Any:
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
    assert (found.value, block.path) == (title, "lib.f")


ROWS = st.builds(
    row, st.sampled_from(ChangeKind), st.booleans(), st.sampled_from(["lib.f", "lib.g", "lib.C.m"])
).filter(lambda made: not made["breaking"] or made["kind"] not in OF_TYPES)


@given(st.lists(ROWS))
def test_every_change_stands_once_and_every_api_in_one_group_but_for_its_types(given_rows: list[Any]) -> None:
    groups = grouped(given_rows)
    blocks = [block for _, blocks in groups for block in blocks]
    assert sorted(map(id, given_rows)) == sorted(id(change) for block in blocks for change in block.changes)
    assert len({(block.path, block.changes[0]["kind"] in OF_TYPES) for block in blocks}) == len(blocks)
    assert [work for work, _ in groups] == [work for work in Work if work in dict(groups)]


def test_what_is_called_on_short_paths_comes_first_and_constants_last() -> None:
    gone = "A = 1\ndef z(): ...\nclass K:\n    def m(self): ...\n    keep = 1\n"
    ((_, blocks),) = grouped(changes(gone, "class K:\n    keep = 1\n"))
    assert [block.path for block in blocks] == ["pkg.z", "pkg.K.m", "pkg.A"]


def test_an_api_stands_where_its_most_urgent_change_belongs() -> None:
    found = grouped(
        changes(
            "def f(a: int, b=1): ...\ndef g(): ...\ndef old(): ...\n",
            "def f(a: str, *, c): ...\ndef g(x=1): ...\ndef new(): ...\n",
        )
    )
    assert [(work.value, [block.path for block in blocks]) for work, blocks in found] == [
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


def test_what_is_not_offered_stands_apart_and_what_is_listed_first() -> None:
    reaches = {"lib.a": Reach.INTERNAL, "lib.b": Reach.DOCUMENTED, "lib.c": Reach.UNLISTED, "lib.d": Reach.LISTED}
    rows = [change(ChangeKind.REMOVED, path, "1.0", "2.0", reach=reach) for path, reach in reaches.items()]
    rows.append(change(ChangeKind.REMOVED, "lib.e", "1.0", "2.0", replacement="lib.f"))
    found = [(work, [block.path for block in blocks]) for work, blocks in grouped(rows)]
    assert found == [
        (Work.REWRITE, ["lib.e", "lib.d", "lib.b"]),
        (Work.UNLISTED, ["lib.c"]),
        (Work.INTERNAL, ["lib.a"]),
    ]


def test_parts_have_all_groups_but_those_without_work() -> None:
    works = [work for part in Part for work in PARTS[part]]
    assert sorted(works, key=list(Work).index) == [work for work in Work if work is not Work.NOTHING]
    groups = grouped([row(kind, False) for kind in ChangeKind])
    assert [work for work, _ in of_part(groups, Part.DEPRECATED)] == []
    only = grouped([row(ChangeKind.DEPRECATED, False), row(ChangeKind.RETURNS, False)])
    assert [work for work, _ in of_part(only, Part.TYPES)] == [Work.TYPES]


def test_a_short_list_counts_what_it_leaves_out() -> None:
    rows = [row(ChangeKind.REMOVED, True, f"lib.f{number:02}") for number in range(23)]
    rows += [row(ChangeKind.RETURNS, False), row(ChangeKind.PARAMETER_OPTIONAL, False, "lib.g", "a")]
    groups = grouped(rows)
    short, held_back = shortened(groups)
    assert [(work, len(blocks)) for work, blocks in short] == [(Work.REWRITE, 20)]
    assert [(one.work, one.blocks, one.part) for one in held_back] == [
        (Work.REWRITE, 3, Part.BREAKING),
        (Work.NOTHING, 1, None),
        (Work.TYPES, 1, Part.TYPES),
    ]
    assert len([*changes_in(short)]) + sum(one.blocks for one in held_back) == len(rows)
