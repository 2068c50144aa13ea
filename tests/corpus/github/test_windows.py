"""Searches in parts: every repository is seen though GitHub shows a thousand results, and none is asked for twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.github.outcomes import Outcomes
from pipeline.corpus.github.search import Search
from pipeline.corpus.github.windows import GITHUB_BEGAN, MAX_RESULTS, Results, Window, parts, window_of
from pipeline.index.release_selection import Period
from tests.corpus.github.conftest import MakeGitHub, day
from tests.corpus.github.hub import Hub
from tests.corpus.github.test_source import IN_2021

TIMES = st.datetimes(datetime(2009, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@given(st.integers(0, 100), st.integers(0, 100))
def test_halves_cover_the_same_once(first: int, length: int) -> None:
    window = Window("size", first, first + length)
    halves = window.halves()
    if halves is None:
        assert length == 0
    else:
        covered = [number for half in halves for number in range(half.first, half.last + 1)]
        assert covered == list(range(window.first, window.last + 1))


@given(st.lists(st.integers(0, 5000), max_size=12), st.integers(1, 3000))
def test_parts_cover_a_window_once_and_each_is_small_enough(places: Sequence[int], max_results: int) -> None:
    # Each place stands for 400 results.
    def ask(window: Window) -> Results[int]:
        result = [place for place in places if window.first <= place <= window.last] * 400
        return Results(len(result), False, iter(result))

    covering = list(parts(Window("size", 0, 5000), ask, max_results))
    assert covering[0][0].first == 0
    assert covering[-1][0].last == 5000
    assert all(before.last + 1 == after.first for (before, _), (after, _) in pairwise(covering))
    assert sum(results.total for _, results in covering) == len(places) * 400
    for part, results in covering:
        assert min(max_results, results.total) <= MAX_RESULTS or part.first == part.last


@given(TIMES, TIMES, TIMES)
def test_a_window_holds_just_the_seconds_of_the_period(since: datetime, until: datetime, time: datetime) -> None:
    time = time.replace(microsecond=0)
    period = Period(since, until)
    window = window_of(period, "created", until)
    assert period.covers(time) == (window.first <= time.timestamp() <= window.last)


def test_a_period_without_ends_is_bounded_by_github_and_the_next_midnight() -> None:
    window = window_of(Period(), "pushed", day("2022-06-01") + timedelta(hours=5))
    assert str(window) == "pushed:2008-01-01T00:00:00Z..2022-06-01T23:59:59Z"
    assert window == window_of(Period(day("1999-01-01"), day("2022-06-02")), "pushed", GITHUB_BEGAN)
    assert str(Window("size", 0, 99)) == "size:0..99"


def search(github: MakeGitHub, **take: object) -> Search:
    search_rules = {"code_queries": (), "queries": ("topic:{library}",), "licences": ("MIT",), "windows": ("created",)}
    source = github(take=take, search=search_rules)
    return Search(source.client, "demo", IN_2021, source.rules, day("2022-06-01"), Outcomes(3))


def many(hub: Hub, count: int, *, at_once: bool = False) -> None:
    for number in range(count):
        created = day("2021-01-01") + timedelta(hours=0 if at_once else 6 * number)
        hub.add(f"ada/app{number}", topics=("demo",), stars=20 + number, created=f"{created:%Y-%m-%dT%H:%M:%SZ}")


def test_more_results_than_the_limit_are_read_in_parts(hub: Hub, github: MakeGitHub) -> None:
    many(hub, 1300)
    search_run = search(github, max_repositories=2000)
    assert len(search_run.repositories()) == 1300
    assert search_run.rejects == []
    # Of the whole the first page alone, then every page of both halves.
    assert len([target for target in hub.targets if "&page=" not in target]) == 3
    assert len(hub.targets) == 1 + 8 + 6


def test_a_few_of_many_are_requested_without_parts(hub: Hub, github: MakeGitHub) -> None:
    many(hub, 1300)
    result = search(github, max_repositories=150).repositories()
    assert sorted(item.stars for item in result) == list(range(1170, 1320))
    assert len(hub.targets) == 2


def test_more_results_of_the_same_moment_than_the_limit_are_a_reject(hub: Hub, github: MakeGitHub) -> None:
    many(hub, 1100, at_once=True)
    search_run = search(github, max_repositories=2000)
    assert len(search_run.repositories()) == 1000
    assert {(reject.key.rpartition(" ")[2], reject.reason) for reject in search_run.rejects} == {
        ("created:2021-01-01T00:00:00Z..2021-01-01T00:00:00Z", RejectReason.OVER_QUOTA)
    }


def test_a_search_that_ran_out_of_time_is_parted_until_it_does_not(hub: Hub, github: MakeGitHub) -> None:
    many(hub, 4)
    hub.slow_days = 100
    search_run = search(github)
    assert len(search_run.repositories()) == 4
    assert search_run.rejects == []
    hub.targets.clear()
    search(github).repositories()
    # What GitHub broke off was not kept, what was whole was.
    assert hub.targets


@pytest.mark.parametrize(
    "period", [Period(day("2022-01-01"), day("2022-01-01")), Period(day("2023-01-01"), day("2022-01-01"))]
)
def test_an_empty_period_asks_nothing(hub: Hub, github: MakeGitHub, period: Period) -> None:
    search_run = search(github)
    search_run.period = period
    assert search_run.repositories() == []
    assert not hub.requests
