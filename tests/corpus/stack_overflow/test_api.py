"""The API as it is documented, with its limits and errors, and as it misbehaves: over HTTP, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.stack_overflow.api import MARGIN_S
from pipeline.corpus.stack_overflow.mentions import stack_overflow_rules
from pipeline.corpus.stack_overflow.source import StackOverflow
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject
from tests.corpus.stack_overflow.builders import PANDAS, POSTS, day
from tests.corpus.stack_overflow.site import Reply, Site, Written, refusal, serve, stamp, with_fields
from tests.errors import raises

RULE = stack_overflow_rules(RULES)
SMALL_PAGES = RULE.model_copy(update={"asking": RULE.asking.model_copy(update={"page_size": 2})})
CLOSED = Period(until=day(2030))
TITLES = 3
"""Listings of titles that follow that of the tag."""


def thread(number: int) -> Written:
    return Written(
        number,
        "",
        "<p>With pandas 1.3.5:</p><pre><code>a.b()</code></pre>",
        day(2022, 1, number),
        title="T",
        tags=("pandas",),
    )


MANY = [thread(number) for number in range(1, 6)]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site(MANY)) as served:
        yield served


class Asking:
    """A source that notes how long it would sleep."""

    def __init__(self, site: Site, cache: Path, key: str | None = None) -> None:
        self.slept: list[float] = []
        fetcher = Fetcher(timeout_s=5, retries=1, backoff_s=0.01)
        self.source = StackOverflow(
            fetcher, SMALL_PAGES, cache, libraries=["pandas"], api_url=site.url, key=key, sleep=self.slept.append
        )

    def find(self, period: Period = CLOSED) -> tuple[list[str], list[Reject]]:
        rows = list(self.source.find("pandas", PANDAS, period))
        return [r.place for r in rows if isinstance(r, CodeSample)], [r for r in rows if isinstance(r, Reject)]


EVERY = ["1", "2", "3", "4", "5"]
PAGES = [(0, 1), *((stamp(day(2022, 1, number)), 1) for number in (2, 3, 4))]
"""Of two questions each, from the time of the last question of the page before."""


def requested_pages(site: Site) -> list[tuple[int, int]]:
    return [(int(p["min"]), int(p["page"])) for method, p in site.requests if method == "questions"]


def test_all_pages_are_read_and_nothing_is_requested_twice(site: Site, tmp_path: Path) -> None:
    assert Asking(site, tmp_path).find() == (EVERY, [])
    assert requested_pages(site) == PAGES
    site.requests.clear()
    assert Asking(site, tmp_path).find() == (EVERY, [])
    assert site.methods() == ["filters/create"]


def test_requests_have_the_documented_parameters(site: Site, tmp_path: Path) -> None:
    Asking(site, tmp_path, key="our-key").find(Period(day(2022), day(2022, 2)))
    method, parameters = site.requests[1]
    assert method == "questions"
    assert parameters == {
        "site": "stackoverflow",
        "sort": "activity",
        "order": "asc",
        "min": "1641040215",
        "todate": "1643718614",
        "tagged": "pandas",
        "pagesize": "2",
        "page": "1",
        "filter": "!made-for-us",
        "key": "our-key",
    }
    _, created = site.requests[0]
    assert {"question.body", "answer.body", ".backoff", ".quota_remaining"} <= set(created["include"].split(";"))


def test_a_period_without_end_is_requested_again(site: Site, tmp_path: Path) -> None:
    Asking(site, tmp_path).find(Period())
    site.posts = [*MANY, thread(6)]
    places, _ = Asking(site, tmp_path).find(Period())
    assert places == [*EVERY, "6"]


def test_backoff_is_waited_for(site: Site, tmp_path: Path) -> None:
    site.twists = {"questions": [None, with_fields(backoff=10), None, with_fields(backoff=3)]}
    asking = Asking(site, tmp_path)
    assert asking.find() == (EVERY, [])
    assert asking.slept == [10 + MARGIN_S, 3 + MARGIN_S]


def test_a_backoff_that_is_too_long_ends_the_reading_and_the_next_run_goes_on(site: Site, tmp_path: Path) -> None:
    site.twists = {"questions": [None, with_fields(backoff=100_000)]}
    asking = Asking(site, tmp_path)
    places, rejects = asking.find()
    assert places == ["1", "2", "3"]
    assert [r.reason for r in rejects] == [RejectReason.RATE_LIMITED]
    assert "100000 s" in rejects[0].detail
    assert asking.slept == []
    site.requests.clear()
    assert Asking(site, tmp_path).find() == (EVERY, [])
    assert requested_pages(site) == PAGES[2:]


def test_a_question_that_moves_while_we_read_hides_no_other(site: Site, tmp_path: Path) -> None:
    def move(reply: Reply) -> Reply:
        site.posts = [replace(MANY[0], edited=day(2023)), *MANY[1:]]
        return reply

    site.twists = {"questions": [move]}
    assert Asking(site, tmp_path).find() == (EVERY, [])


def test_all_questions_of_the_same_moment_are_read(tmp_path: Path) -> None:
    with serve(Site([replace(post, created=day(2022)) for post in MANY])) as site:
        assert Asking(site, tmp_path).find() == (EVERY, [])


@pytest.mark.parametrize(
    ("key", "advice"), [(None, "set STACKEXCHANGE_KEY"), ("our-key", "tomorrow to go on from here.")]
)
def test_a_quota_that_is_used_up_ends_the_reading(site: Site, tmp_path: Path, key: str | None, advice: str) -> None:
    site.quota = 3
    places, rejects = Asking(site, tmp_path, key).find()
    assert places == ["1", "2", "3"]
    assert [r.reason for r in rejects] == [RejectReason.RATE_LIMITED]
    assert advice in rejects[0].detail
    assert "our-key" not in rejects[0].detail
    assert len(site.requests) == 3


def test_a_short_throttle_is_waited_for(site: Site, tmp_path: Path) -> None:
    throttled = refusal(
        502, "throttle_violation", "too many requests from this IP, more requests available in 7 seconds"
    )
    site.twists = {"questions": [lambda _: throttled]}
    asking = Asking(site, tmp_path)
    assert asking.find() == (EVERY, [])
    assert asking.slept == [7 + MARGIN_S]


@pytest.mark.parametrize("status", [400, 503])
def test_a_long_throttle_is_not(site: Site, tmp_path: Path, status: int) -> None:
    throttled = refusal(
        502, "throttle_violation", "too many requests from this IP, more requests available in 81234 seconds"
    )
    site.twists = {"questions": [None, *[lambda _: replace(throttled, status=status)] * 3]}
    asking = Asking(site, tmp_path)
    places, rejects = asking.find()
    assert places == ["1", "2"]
    assert [r.reason for r in rejects] == [RejectReason.RATE_LIMITED]
    assert "81234 s" in rejects[0].detail
    assert asking.slept == []


def test_an_endless_throttle_is_an_error(site: Site, tmp_path: Path) -> None:
    throttled = refusal(
        502, "throttle_violation", "too many requests from this IP, more requests available in 7 seconds"
    )
    site.twists = {"questions": [lambda _: throttled] * 10}
    asking = Asking(site, tmp_path)
    places, rejects = asking.find()
    assert places == []
    assert [r.reason for r in rejects] == [RejectReason.RATE_LIMITED]
    assert asking.slept == [7 + MARGIN_S] * (RULE.asking.max_tries - 1)


def test_a_passing_error_is_tried_again(site: Site, tmp_path: Path) -> None:
    site.twists = {"questions": [lambda _: refusal(503, "temporarily_unavailable", "try later")] * 2}
    assert Asking(site, tmp_path).find() == (EVERY, [])


def test_a_lasting_error_is_unreachable_after_earlier_pages(site: Site, tmp_path: Path) -> None:
    site.twists = {"questions": [None, *[lambda _: refusal(500, "internal_error", "sorry")] * 9]}
    rows = Asking(site, tmp_path).source.find("pandas", PANDAS, CLOSED)
    first = next(rows)
    assert isinstance(first, CodeSample)
    with raises(Unreachable, "internal_error", code="unreachable"):
        list(rows)


@pytest.mark.parametrize(
    ("number", "name"), [(400, "bad_parameter"), (403, "access_denied"), (404, "no_method"), (405, "key_required")]
)
def test_a_refusal_is_a_reject_in_the_words_of_the_api(site: Site, tmp_path: Path, number: int, name: str) -> None:
    site.twists = {"questions": [lambda _: refusal(number, name, "`key` is wrong")] * 9}
    places, rejects = Asking(site, tmp_path, "our-key").find()
    assert places == []
    assert {r.reason for r in rejects} == {RejectReason.BAD_ANSWER}
    assert f"error {number} {name}: `key` is wrong" in rejects[0].detail
    assert "our-key" not in rejects[0].detail


HTML = b"<!DOCTYPE html><title>Human verification</title>"

BROKEN = {
    "HTML in place of JSON": lambda reply: replace(reply, body=HTML, headers={"Content-Type": "text/html"}),
    "status 403 with HTML": lambda reply: Reply(403, HTML, {"Content-Type": "text/html"}),
    "truncated JSON": lambda reply: replace(reply, body=reply.body[:-20]),
    "no object": lambda reply: replace(reply, body=b"[1]"),
    "no items": lambda reply: replace(reply, body=b"{}"),
    "items that are none": lambda reply: replace(reply, body=b'{"items": [1]}'),
    "more of nothing": lambda reply: replace(reply, body=b'{"items": [], "has_more": true}'),
    "nothing": lambda reply: replace(reply, body=b"", gzipped=False),
    "a backoff that is none": with_fields(backoff="soon"),
    "not UTF-8": lambda reply: replace(reply, body=b'{"items": ["\xff"]}'),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_page_that_cannot_be_read_is_a_reject_and_the_next_run_asks_for_it_again(
    site: Site, tmp_path: Path, broken: str
) -> None:
    site.twists = {"questions": [None, BROKEN[broken]]}
    places, rejects = Asking(site, tmp_path).find()
    assert places == ["1", "2", "4", "5"]
    begin = stamp(day(2022, 1, 2))
    assert [(r.key, r.reason) for r in rejects] == [(f"pandas:questions:{begin}:1", RejectReason.BAD_ANSWER)]
    assert f"min={begin}&page=1" in rejects[0].detail
    assert Asking(site, tmp_path).find() == (EVERY, [])


def test_two_bad_pages_in_a_row_end_a_listing(site: Site, tmp_path: Path) -> None:
    site.twists = {"questions": [BROKEN["truncated JSON"]] * 10}
    places, rejects = Asking(site, tmp_path).find()
    assert (places, [r.key for r in rejects]) == ([], ["pandas:questions:0:1", "pandas:questions:0:2"])
    assert site.methods().count("search/advanced") == TITLES


@pytest.mark.parametrize("cut", [0, 20])
def test_an_answer_that_breaks_off_is_unreachable(site: Site, tmp_path: Path, cut: int) -> None:
    site.twists = {"questions": [None, *[lambda reply: replace(reply, cut=cut)] * 9]}
    with pytest.raises(Unreachable):
        Asking(site, tmp_path).find()


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_overrun_is_unreachable(site: Site, tmp_path: Path, status: int) -> None:
    site.twists = {"questions": [lambda reply: Reply(status, HTML, {"Content-Type": "text/html"})] * 9}
    with raises(Unreachable, str(status), code="unreachable"):
        Asking(site, tmp_path).find()


@pytest.mark.parametrize(
    "item",
    [{}, {"question_id": "x"}, {"question_id": 1, "title": None}, {"question_id": 7, "title": "T", "tags": ["pandas"]}],
)
def test_an_item_that_is_no_question_is_a_reject_and_the_others_are_read(
    site: Site, tmp_path: Path, item: dict[str, object]
) -> None:
    site.twists = {"questions": [with_fields(items=[item])]}
    places, rejects = Asking(site, tmp_path).find()
    assert places == ["3", "4", "5"]
    assert [r.reason for r in rejects] == [RejectReason.BAD_ANSWER]
    assert "not a question" in rejects[0].detail


def test_missing_answers_of_a_question_are_requested(tmp_path: Path) -> None:
    with serve(Site(POSTS, inline_answers=1)) as site:
        places, _ = Asking(site, tmp_path).find()
        assert {"100/101", "100/102"} <= set(places)
        assert site.methods().count("questions/100/answers") == 1


def test_a_refused_filter_makes_the_source_unavailable(site: Site, tmp_path: Path) -> None:
    site.twists = {"filters/create": [lambda _: refusal(400, "bad_parameter", "include")] * 2}
    asking = Asking(site, tmp_path)
    assert "bad_parameter" in str(asking.source.unavailable())
    places, rejects = asking.find()
    assert (places, [r.reason for r in rejects]) == ([], [RejectReason.BAD_ANSWER])
