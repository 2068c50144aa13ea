"""The counts of each release are those of the rows that they are made from."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import InvalidVersion

from pipeline.api.history.evolution import (
    INTRODUCED,
    MODIFIED,
    REMOVED,
    as_rows,
    evolution_of,
    since,
)
from pipeline.core.vocabularies.changes import MARKED, RELOCATED, ChangeKind
from pipeline.lake.rows import ChangeRow
from tests.api.history.releases import Files
from tests.api.history.releases import history as released
from tests.families.completions_and_migrations.rows import change, life, releases

VERSIONS = ("1.0", "1.1", "2.0", "2.0.1")
SETS = {"introduced": INTRODUCED, "deprecated": MARKED, "removed": REMOVED, "moved": RELOCATED, "modified": MODIFIED}


def row(at: int, kind: ChangeKind, path: str, breaking: bool) -> Any:
    return change(kind, path, VERSIONS[at - 1], VERSIONS[at], breaking=breaking)


CHANGES = st.lists(
    st.builds(row, st.integers(1, 3), st.sampled_from(ChangeKind), st.sampled_from("abcd"), st.booleans())
)


def test_every_kind_of_change_is_counted_in_one_column() -> None:
    assert [sum(kind in kinds for kinds in SETS.values()) for kind in ChangeKind] == [1] * len(ChangeKind)


@given(CHANGES)
def test_counts_are_those_of_the_changes(changes: list[ChangeRow]) -> None:
    steps = evolution_of(releases(*VERSIONS), changes, [])
    for column, kinds in SETS.items():
        counted = {(c["new_version"], c["path"]) for c in changes if c["kind"] in kinds}
        assert sum(getattr(step, column) for step in steps) == len(counted)
    broken = {(c["new_version"], c["path"]) for c in changes if c["kind"] in MODIFIED and c["breaking"]}
    assert sum(step.breaking for step in steps) == len(broken)
    assert all(step.breaking <= step.modified <= step.total for step in steps)


def counted(*sources: Files) -> list[tuple[int, ...]]:
    _, lived = released(*sources)
    versions = [f"1.{at}" for at in range(len(sources))]
    steps = evolution_of(releases(*versions), lived.tables["changes"], lived.tables["lifecycles"])
    return [(s.introduced, s.deprecated, s.removed, s.moved, s.modified, s.breaking, s.size) for s in steps]


def test_a_history_in_numbers() -> None:
    assert counted(
        "def f(a): ...\ndef h(x): ...\n",
        "def f(a, b=1): ...\ndef g(): ...\ndef h(): ...\n",
        "import warnings\ndef f(a, b=1):\n    warnings.warn('no', DeprecationWarning)\ndef g(): ...\ndef h(): ...\n",
        "def g(): ...\ndef h(): ...\n",
    ) == [(0, 0, 0, 0, 0, 0, 3), (1, 0, 0, 0, 2, 1, 4), (0, 1, 0, 0, 0, 0, 4), (0, 0, 1, 0, 0, 0, 3)]


@pytest.mark.parametrize("ends", [("1.1", None), ("2.0.1", "1.1")])
def test_the_size_is_what_lives_whether_or_not_its_end_is_written(ends: Sequence[str | None]) -> None:
    lives = [life("lib.a", "1.0", "1.1"), life("lib.b", "1.1", "2.0.1"), life("lib.c", "2.0", "2.0.1")]
    lives[1]["last_version"] = None if None in ends else "2.0.1"
    assert [step.size for step in evolution_of(releases(*VERSIONS), [], lives)] == [1, 2, 2, 2]


def test_releases_come_in_order_with_majors_and_gaps_named() -> None:
    rows = releases("0.9", "0.10", "1.0", "1.0.post1", "2!1.0")
    rows[3]["predecessor"] = "1.0.dev1"
    steps = evolution_of(list(reversed(rows)), [], [])
    assert [step.version for step in steps] == ["0.9", "0.10", "1.0", "1.0.post1", "2!1.0"]
    assert [step.major for step in steps] == [True, False, True, False, True]
    assert [step.compared for step in steps] == [False, True, True, False, True]


def test_from_a_version_on() -> None:
    steps = evolution_of(releases(*VERSIONS), [], [])
    assert [step.version for step in since(steps, "1.1.5")] == ["2.0", "2.0.1"]
    with pytest.raises(InvalidVersion):
        since(steps, "newest")


def test_rows_are_plain_values() -> None:
    (first, *_) = as_rows(evolution_of(releases(*VERSIONS), [], [life("lib.a", "1.0", "1.0")]))
    assert first == {
        "version": "1.0",
        "release_time": "2021-01-01T00:00:00+00:00",
        "major": True,
        "compared": False,
        "introduced": 0,
        "deprecated": 0,
        "removed": 0,
        "moved": 0,
        "modified": 0,
        "breaking": 0,
        "size": 1,
    }
