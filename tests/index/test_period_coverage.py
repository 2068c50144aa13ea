"""Weeks taken when they had just ended, and the same weeks taken later, in any order: the same releases."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.index import IndexFile, Project
from pipeline.index.period_coverage import CoveredPeriod, as_progress, cover, periods_of, with_withdrawn
from pipeline.index.release_selection import Period, ReleaseRequest

START = datetime(2026, 1, 5, 3, tzinfo=UTC)
WEEKS = [Period(START + timedelta(days=7 * n), START + timedelta(days=7 * n + 7)) for n in range(8)]


def index_file(version: str, kind: ArtifactKind, day: int) -> IndexFile:
    suffix = "-py3-none-any.whl" if kind is ArtifactKind.WHEEL else ".tar.gz"
    name = f"demo-{version}{suffix}"
    return IndexFile(name, name, kind, f"{name}@{day}", 1, None, False, START + timedelta(days=day))


def versions() -> st.SearchStrategy[str]:
    return st.builds("{}.{}".format, st.integers(0, 3), st.integers(0, 5))


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Releases before, in and after the eight weeks, in no order of versions; some get a wheel later on."""
    releases = {}
    for version in draw(st.lists(versions(), unique=True, max_size=12)):
        day = draw(st.integers(-20, 70))
        files = [index_file(version, ArtifactKind.SDIST, day)]
        if draw(st.booleans()):
            files.append(index_file(version, ArtifactKind.WHEEL, day + draw(st.integers(0, 30))))
        releases[version] = tuple(files)
    return Project("demo", releases)


def at(project: Project, time: datetime | None) -> Project:
    """The index as it was."""
    if time is None:
        return project
    seen = {v: tuple(f for f in files if f.uploaded and f.uploaded < time) for v, files in project.releases.items()}
    return Project("demo", {version: files for version, files in seen.items() if files})


@dataclass
class Lake:
    """What a stage keeps of a library: all that was ever taken, what it shows, and the periods."""

    versions: str = ""
    latest: int | None = None
    taken: dict[str, Any] = field(default_factory=dict)
    shown: list[Any] = field(default_factory=list)
    progress: Mapping[str, Any] | None = None

    def refresh(self, found: Project, period: Period, now: datetime = WEEKS[-1].until or START) -> None:
        wanted = ReleaseRequest("demo", SpecifierSet(self.versions), self.latest, period)
        periods = periods_of(self.progress, period, self.latest is not None)
        covered = cover(found, wanted, periods, list(self.taken.values()))
        rows = {version: self.taken[version] for version in covered.retained}
        for version, want in covered.releases.items():
            assert want.candidate.file is not None
            row = {"version": version, "release_time": want.candidate.uploaded, "sha256": want.candidate.file.sha256}
            rows[version] = row | {"as_of": want.as_of}
        self.shown = [rows[v] | {"predecessor": covered.predecessors[v]} for v in sorted(rows)]
        self.taken |= rows
        self.progress = {"periods": as_progress(periods, now)}


RANGES = st.sampled_from(["", ">=1.0", "<3"])
LATEST = st.sampled_from([None, 2, 3])


@given(projects(), RANGES, LATEST)
def test_a_backfill_in_order_shows_after_each_week_what_that_week_had_shown(
    project: Project, versions: str, latest: int | None
) -> None:
    weekly, backfill = Lake(versions, latest), Lake(versions, latest)
    for week in WEEKS:
        weekly.refresh(at(project, week.until), week)
        backfill.refresh(project, week)
        assert backfill.shown == weekly.shown
        assert all(week.until and row["release_time"] < week.until for row in backfill.shown)


@given(projects(), RANGES, LATEST, st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=4))
def test_weeks_in_any_order_and_again_come_to_the_same(
    project: Project, versions: str, latest: int | None, order: Sequence[int], again: Sequence[int]
) -> None:
    ordered, mixed = Lake(versions, latest), Lake(versions, latest)
    for week in WEEKS:
        ordered.refresh(at(project, week.until), week)
    for number in [*order, *again, 7]:
        mixed.refresh(project, WEEKS[number])
    assert mixed.shown == ordered.shown


@given(projects(), st.integers(1, 7))
def test_older_weeks_taken_after_newer_ones_show_what_they_would_have_shown(project: Project, first: int) -> None:
    weekly, late = Lake(), Lake()
    for week in WEEKS[first:]:
        late.refresh(project, week)
    for week in WEEKS[:first]:
        weekly.refresh(at(project, week.until), week)
        late.refresh(project, week)
        assert late.shown == weekly.shown


@given(projects())
def test_weeks_after_a_first_refresh_of_everything_add_to_it(project: Project) -> None:
    """What came without an end stays as it was taken; only what is new is added."""
    lake = Lake()
    lake.refresh(at(project, WEEKS[0].until), Period(), now=WEEKS[0].until or START)
    for before, week in itertools.pairwise(WEEKS):
        shown = {row["version"]: (row["sha256"], row["as_of"]) for row in lake.shown}
        lake.refresh(project, week)
        now = {row["version"]: (row["sha256"], row["as_of"]) for row in lake.shown}
        assert shown.items() <= now.items()
        new = [row for row in lake.shown if row["version"] not in shown]
        assert all(before.until and row["release_time"] >= before.until for row in new)


def test_a_release_that_was_withdrawn_since_stays_where_it_was() -> None:
    lake = Lake()
    names = ("1.0", "1.1", "1.2")
    releases: dict[str, tuple[IndexFile, ...]] = {
        name: (index_file(name, ArtifactKind.WHEEL, day),) for day, name in enumerate(names)
    }
    lake.refresh(Project("demo", releases), WEEKS[0])
    before = lake.shown
    del releases["1.1"]
    covered = cover(
        Project("demo", releases),
        ReleaseRequest("demo", SpecifierSet(""), None, WEEKS[1]),
        periods_of(lake.progress, WEEKS[1], has_latest=False),
        list(lake.taken.values()),
    )
    assert dict(covered.predecessors) == {row["version"]: row["predecessor"] for row in before}


def moment(day: float) -> datetime:
    return START + timedelta(days=day)


@pytest.mark.parametrize(
    ("until", "is_open", "end", "cut", "as_of"),
    [
        (7, False, None, 7, 7),
        (7, True, None, 7, None),
        (7, True, 7, 7, None),
        (7, True, 6, 6, 6),
        (None, True, None, None, None),
        (None, True, 7, 7, 7),
    ],
)
def test_an_open_period_is_as_of_an_end_only_where_that_cuts_it(
    until: float | None, is_open: bool, end: float | None, cut: float | None, as_of: float | None
) -> None:
    period = CoveredPeriod(None, None if until is None else moment(until), is_open)
    at_end = None if end is None else moment(end)
    assert period.cut(at_end) == (None if cut is None else moment(cut))
    assert period.as_of(at_end) == (None if as_of is None else moment(as_of))


@pytest.mark.parametrize(("uploaded", "is_retained"), [(6.999, True), (7, False), (7.001, False)])
def test_what_the_lake_has_from_the_end_on_is_no_part_of_a_past_week(uploaded: float, is_retained: bool) -> None:
    row: Any = {"version": "1.0", "release_time": moment(uploaded)}
    narrow = ReleaseRequest("demo", SpecifierSet(">=2"), None, Period(START, moment(7)))
    covered = cover(Project("demo", {}), narrow, periods_of(None, narrow.period, False), [row])
    assert (covered.retained == {"1.0"}) is is_retained
    assert [final.version for final in with_withdrawn([], [row], moment(7))] == (["1.0"] if is_retained else [])


@pytest.mark.parametrize(("end", "as_of"), [(365, 365), (365.001, None)])
def test_a_release_is_settled_after_a_year(end: float, as_of: float | None) -> None:
    project = Project("demo", {"1.0": (index_file("1.0", ArtifactKind.SDIST, 0),)})
    request = ReleaseRequest("demo", SpecifierSet(), None, Period(None, moment(end)))
    covered = cover(project, request, periods_of(None, request.period, False), [])
    assert covered.releases["1.0"].as_of == (None if as_of is None else moment(as_of))


@pytest.mark.parametrize(
    ("earlier", "period", "has_latest", "stay"),
    [
        ((START, 7, True), Period(START), False, False),
        ((START, 7, True), Period(START), True, True),
        ((START, 7, True), Period(START, moment(7)), False, True),
        ((START, 7, False), Period(START, moment(7)), False, False),
        ((START, 7, False), Period(START), False, True),
        ((None, 7, True), Period(START), False, True),
    ],
)
def test_a_period_replaces_an_equal_one_and_an_open_one_that_began_alike(
    earlier: tuple[datetime | None, float, bool], period: Period, has_latest: bool, stay: bool
) -> None:
    since, until, is_open = earlier
    noted = as_progress([CoveredPeriod(since, moment(until), is_open)], moment(9))
    periods = periods_of({"periods": noted}, period, has_latest)
    assert periods[-1] == CoveredPeriod(period.since, period.until, period.until is None)
    assert len(periods) == 1 + stay


def test_noted_periods_are_in_the_order_of_their_ends_and_then_begins() -> None:
    one, two, three = (CoveredPeriod(since, moment(end), False) for since, end in ((START, 3), (None, 7), (START, 7)))
    assert as_progress([three, two, one], START) == as_progress([one, two, three], START)
    assert [since is None for since, _, _ in as_progress([three, two, one], START)] == [False, True, False]
