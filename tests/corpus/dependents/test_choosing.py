"""Which releases of a dependent are read: one for each release of the library, and the same ones as time goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.dependents.choosing import Days, DependentRelease, choose
from pipeline.corpus.pins.matrix import Published
from pipeline.index.index import IndexFile, Project
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject

FIRST = datetime(2021, 1, 1, tzinfo=UTC)
HISTORY = [
    Published(version, FIRST + timedelta(days), None) for version, days in (("1.0", 0), ("1.1", 10), ("2.0", 20))
]
COVERED = {"1.0", "1.1", "2.0"}


def file(version: str, day: float, kind: ArtifactKind = ArtifactKind.SDIST, *, yanked: bool = False) -> IndexFile:
    name = f"user-{version}{'.tar.gz' if kind is ArtifactKind.SDIST else '-py3-none-any.whl'}"
    return IndexFile(name, f"/{name}", kind, "0" * 64, 1, None, yanked, FIRST + timedelta(day))


def project(**days: float) -> Project:
    """A dependent: `v1_2` of day 3 is release 1.2."""
    named = {name.removeprefix("v").replace("_", "."): day for name, day in days.items()}
    return Project("user", {version: (file(version, day),) for version, day in named.items()})


def chosen(
    project: Project,
    covered: set[str] = COVERED,
    period: Period | None = None,
    most: int = 9,
    history: list[Published] = HISTORY,
) -> list[str]:
    choices = choose(project, "demo", Days(history), covered, period or Period(), most)
    return [str(item.reason) if isinstance(item, Reject) else item.version for item in choices]


def test_the_last_of_the_days_of_each_release_of_the_library() -> None:
    assert chosen(project(v0_9=-1, v1_0=1, v1_1=9, v1_2=10, v1_3=25, v1_4=24)) == ["1.1", "1.2", "1.3"]


def test_days_of_releases_that_the_lake_lacks_are_passed_over() -> None:
    assert chosen(project(v1_1=9, v1_2=12, v1_3=25), covered={"1.1"}) == ["1.2"]


def test_only_releases_of_the_period() -> None:
    period = Period(FIRST + timedelta(5), FIRST + timedelta(12))
    assert chosen(project(v1_0=4, v1_1=5, v1_2=11, v1_3=12), period=period) == ["1.1", "1.2"]


def test_a_fix_of_an_older_series_is_not_the_newest() -> None:
    history = [*HISTORY, Published("1.1.1", FIRST + timedelta(30), None)]
    assert chosen(project(v1_0=31), covered={"1.1.1", "2.0"}, history=history) == ["1.0"]
    assert chosen(project(v1_0=31), covered={"1.1.1"}, history=history) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ((file("1.0", 1), file("1.0", 1, ArtifactKind.WHEEL)), "1.0"),
        ((file("1.0", 1, ArtifactKind.WHEEL),), "no_files"),
        ((file("1.0", 1, yanked=True),), "yanked"),
        ((file("1.0", 1, yanked=True), file("1.0", 1, ArtifactKind.WHEEL)), "no_files"),
    ],
)
def test_unreadable_releases_are_refused(files: tuple[IndexFile, ...], expected: str) -> None:
    assert chosen(Project("user", {"1.0": files})) == [expected]


@pytest.mark.parametrize(("version", "reason"), [("1.1rc1", "pre_release"), ("1.1-final-really", "invalid_version")])
def test_other_than_final_releases_are_refused_unless_there_is_one(version: str, reason: str) -> None:
    odd: dict[str, tuple[IndexFile, ...]] = {version: (file("x", 5),)}
    assert chosen(Project("user", odd)) == [reason]
    assert chosen(Project("user", odd | {"1.0": (file("1.0", 4),)})) == ["1.0"]


def test_a_reject_names_the_release() -> None:
    [refused] = choose(
        Project("user", {"1.0": ()} | {"1.1b1": (file("1.1b1", 1),)}), "demo", Days(HISTORY), COVERED, Period(), 9
    )
    assert isinstance(refused, Reject)
    assert (refused.key, refused.reason) == ("pkg:pypi/user@1.1b1", RejectReason.PRE_RELEASE)


def test_without_upload_times_nothing_can_be_placed() -> None:
    undated = IndexFile("user-1.0.tar.gz", "/", ArtifactKind.SDIST, "0" * 64, 1, None, False, None)
    assert chosen(Project("user", {"1.0": (undated,)})) == []


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30, unique=True), st.integers(1, 8), st.integers(0, 400))
def test_chosen_releases_stay_or_give_way_to_new_ones(days: list[int], most: int, today: int) -> None:
    """A later refresh replaces what it must and nothing else, so that the table grows as slowly as the world does."""
    history = [Published(f"1.{n}", FIRST + timedelta(10 * n), None) for n in range(40)]
    covered = {published.version for published in history}

    def read(until: int) -> dict[str, str]:
        result = Project("user", {f"0.{day}": (file(f"0.{day}", day),) for day in sorted(days) if day < until})
        choices = choose(result, "demo", Days(history), covered, Period(), most)
        assert len(choices) <= most
        return {item.version: item.purl for item in choices if isinstance(item, DependentRelease)}

    before, after = read(today), read(401)
    new = after.keys() - before.keys()
    assert len(before.keys() - after.keys()) <= len(new)
    assert all(int(version.split(".")[1]) >= today for version in new)


def test_a_release_is_the_newest_from_the_moment_of_its_upload() -> None:
    days, moment = Days(HISTORY), timedelta(microseconds=1)
    assert days.newest_at(FIRST - moment) is None
    assert days.newest_at(FIRST) == "1.0"
    assert days.newest_at(FIRST + timedelta(10) - moment) == "1.0"
    assert days.newest_at(FIRST + timedelta(10)) == "1.1"


def test_a_dependent_of_the_first_moment_counts_and_one_of_the_end_does_not() -> None:
    week = Period(FIRST + timedelta(1), FIRST + timedelta(9))
    assert chosen(project(v1_0=1), period=week) == ["1.0"]
    assert chosen(project(v1_0=9), period=week) == []


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_so_many_are_read_and_no_more(most: int) -> None:
    assert len(chosen(project(v1_0=1, v1_1=11, v1_2=21), most=most)) == most
