"""The ends of periods and ranges: what lies on the border."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from packaging.specifiers import SpecifierSet

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.index import IndexFile, Project
from pipeline.index.release_selection import Candidate, Period, ReleaseRequest, finals_of, select

SINCE, UNTIL = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 8, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def test_a_period_has_its_begin_and_not_its_end() -> None:
    period = Period(SINCE, UNTIL)
    times = (SINCE - MOMENT, SINCE, UNTIL - MOMENT, UNTIL)
    assert [period.covers(time) for time in times] == [False, True, True, False]
    assert all(Period().covers(time) for time in times)


def test_a_part_of_a_period_is_bounded_by_the_narrower_of_both() -> None:
    period = Period(SINCE, UNTIL)
    assert period.within(date(2023, 1, 1), date(2024, 1, 7)) == Period(SINCE, datetime(2024, 1, 7, tzinfo=UTC))
    assert period.within(date(2024, 1, 2), date(2025, 1, 1)) == Period(datetime(2024, 1, 2, tzinfo=UTC), UNTIL)


def test_a_file_that_came_at_the_end_of_a_period_is_after_it() -> None:
    def file(uploaded: datetime) -> IndexFile:
        return IndexFile("lib-1.0.tar.gz", "", ArtifactKind.SDIST, "0" * 64, 1, None, False, uploaded)

    project = Project("lib", {"1.0": (file(UNTIL - MOMENT),), "2.0": (file(UNTIL),)})
    finals, refused = finals_of(project, SpecifierSet(), UNTIL)
    assert ([final.version for final in finals], refused) == (["1.0"], [])


def test_the_newest_releases_are_limited_before_the_period_applies() -> None:
    finals = [
        Candidate(version, time, None, before)
        for version, time, before in (("1", SINCE, None), ("2", SINCE, "1"), ("3", UNTIL, "2"))
    ]
    for latest, versions in ((1, []), (2, ["1", "2"]), (3, ["1", "2"]), (None, ["1", "2"])):
        request = ReleaseRequest("lib", SpecifierSet(), latest, Period(SINCE, UNTIL))
        assert [final.version for final in select(finals, request)] == versions
