"""GitHub's rate limits: waited for within a budget, and otherwise a reject, without asking again and again."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.github.limits import Pause, RateLimited, Turns, is_refusal, limit_of, pause_of
from pipeline.lake.rows import ReleaseRow
from tests.corpus.github.conftest import MakeGitHub
from tests.corpus.github.hub import Hub, json_reply
from tests.corpus.github.test_faults import HTML, NO_CODE, always, both, only_bob
from tests.corpus.github.test_source import collect, user
from tests.errors import raises
from tests.index_server import Reply

CORE, SEARCH, CODE = "/repos/a/b", "/search/repositories?q=x", "/search/code?q=x"
PRIMARY = json_reply(403, {"message": "API rate limit exceeded for user ID 1."}, {"X-RateLimit-Remaining": "0"})
SECONDARY = json_reply(
    403,
    {
        "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        "documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
    },
)


def with_headers(reply: Reply, **headers: str) -> Reply:
    return replace(reply, headers=reply.headers | {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("status", "headers", "message", "refused"),
    [
        (403, {"x-ratelimit-remaining": "0"}, "", True),
        (403, {"retry-after": "60"}, "", True),
        (403, {}, "You have exceeded a secondary rate limit.", True),
        (403, {"x-ratelimit-remaining": "10"}, "API rate limit exceeded for 1.2.3.4.", True),
        (429, {}, "", True),
        (403, {"x-ratelimit-remaining": "10"}, "Resource not accessible by personal access token", False),
        (200, {"x-ratelimit-remaining": "0"}, "", False),
        (404, {"x-ratelimit-remaining": "0"}, "Not Found", False),
        (503, {"retry-after": "60"}, "", False),
    ],
)
def test_a_refusal_because_of_a_limit(status: int, headers: dict[str, str], message: str, refused: bool) -> None:
    assert is_refusal(status, headers, message) is refused


EVERY = ("core", "search", "code_search")
AT_NINE = "Sun, 22 Nov 2026 09:00:00 GMT"
NINE = 1795338000


@pytest.mark.parametrize(
    ("url", "headers", "refused", "pause"),
    [
        (CORE, {"retry-after": "60"}, True, (60, EVERY)),
        (CORE, {"retry-after": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1100"}, True, (60, EVERY)),
        (CORE, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1100"}, True, (101, ("core",))),
        (SEARCH, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1030"}, False, (31, ("search",))),
        (CODE, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900"}, False, (1, ("code_search",))),
        (CORE, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NINE + 20), "date": AT_NINE}, True, (21, ("core",))),
        (CORE, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, True, (7, EVERY)),
        (CORE, {"retry-after": "in a while"}, True, (7, EVERY)),
        (CORE, {"retry-after": "-5"}, True, (7, EVERY)),
        (CORE, {}, True, (7, EVERY)),
        (CORE, {"x-ratelimit-remaining": "1", "x-ratelimit-reset": "1100"}, False, None),
        (CORE, {"retry-after": "60"}, False, None),
    ],
)  # fmt: skip
def test_how_long_to_be_silent(
    url: str, headers: dict[str, str], refused: bool, pause: tuple[float, tuple[str, ...]] | None
) -> None:
    result = pause_of(url, headers, refused=refused, secondary_s=7, now=1000)
    assert (result and (result.seconds, result.limits)) == pause


@given(
    st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]), st.text())
)
def test_headers_of_any_kind_are_read_without_an_error(headers: dict[str, str]) -> None:
    pause = pause_of(CORE, headers, refused=True, secondary_s=7, now=1000)
    assert isinstance(pause, Pause)
    assert pause.seconds >= 0


def test_which_limit_a_request_counts_against() -> None:
    assert [limit_of(f"https://host{path}") for path in (CORE, SEARCH, CODE)] == ["core", "search", "code_search"]


class Clock:
    """A clock that sleeping sets forward."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_all_waits_together_are_bounded() -> None:
    clock = Clock()
    turns = Turns(max_wait_s=100, secondary_s=60, clock=lambda: clock.now, sleep=clock.sleep)
    turns.before(CORE)
    assert turns.after(CORE, 403, {"retry-after": "50"}, "")
    turns.before(CORE)
    assert turns.after(SEARCH, 429, {"retry-after": "40"}, "")
    turns.before(CORE)
    assert turns.after(CORE, 403, {"retry-after": "30"}, "")
    for _ in range(2):
        with raises(RateLimited, "max_wait_s", code="github_limit"):
            turns.before(CORE)
    assert clock.slept == [50, 40]
    turns.begin()
    turns.before(CORE)
    assert clock.slept == [50, 40, 30]


def test_refused_again_at_once_waits_twice_as_long() -> None:
    clock = Clock()
    turns = Turns(max_wait_s=1000, secondary_s=10, clock=lambda: clock.now, sleep=clock.sleep)
    for _ in range(3):
        turns.after(CORE, 403, {}, "You have exceeded a secondary rate limit.")
        turns.before(CORE)
    turns.after(CORE, 200, {}, "")
    turns.after(CORE, 403, {}, "You have exceeded a secondary rate limit.")
    turns.before(CORE)
    assert clock.slept == [10, 20, 40, 10]


def test_a_limit_does_not_delay_the_others() -> None:
    clock = Clock()
    turns = Turns(max_wait_s=1000, secondary_s=10, clock=lambda: clock.now, sleep=clock.sleep)
    turns.after(SEARCH, 200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1030"}, "")
    turns.before(CORE)
    assert clock.slept == []
    turns.before(SEARCH)
    assert clock.slept == [31]


COMMITS = "/repos/ada/app/commits"


@pytest.mark.parametrize(
    "refusals",
    [
        [with_headers(SECONDARY, Retry_After="0")],
        [with_headers(SECONDARY, Retry_After="0")] * 3,
        [SECONDARY],
        [with_headers(PRIMARY, X_RateLimit_Reset="1")],
        [Reply(429, {}, b"slow down")],
        [replace(HTML, status=429, headers={"Retry-After": "0"})],
    ],
)
def test_a_short_wait_is_waited(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], refusals: list[Reply]
) -> None:
    both(hub)
    hub.faults = {COMMITS: list(refusals)}
    samples, rejects = collect(github(search=NO_CODE, ask={"max_wait_s": 2}), releases)
    assert len(samples) == 2
    assert rejects == []
    assert hub.requests[COMMITS] == 1 + hub.statuses[403] + hub.statuses[429]


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (with_headers(SECONDARY, Retry_After="3600"), "asks to be left alone for 3600 s: longer than max_wait_s"),
        (replace(HTML, status=403, headers={"Retry-After": "86400"}), "asks to be left alone for 86400 s"),
        (with_headers(PRIMARY, X_RateLimit_Reset="32503680000"), "limit 'core' is used up until 3000-01-01T00:00:00Z"),
        (with_headers(PRIMARY, X_RateLimit_Reset="9" * 200), "limit 'core' is used up until 5138-11-16T09:46:40Z"),
    ],
)
def test_a_long_wait_is_a_reject_and_nobody_asks_again(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], refusal: Reply, words: str
) -> None:
    both(hub)
    hub.twists = {COMMITS: always(refusal)}
    began = time.monotonic()
    samples, rejects = collect(github(search=NO_CODE), releases)
    assert time.monotonic() - began < 5
    assert samples == []
    assert [(reject.key, reject.reason) for reject in rejects] == [
        ("github:ada/app", RejectReason.RATE_LIMITED),
        ("github:bob/well", RejectReason.RATE_LIMITED),
    ]
    assert words in rejects[0].detail
    assert hub.requests[COMMITS] == 1
    assert hub.requests["/repos/bob/well/commits"] == 0


def test_endless_refusals_without_a_wait_end(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    both(hub)
    hub.twists = {COMMITS: always(with_headers(SECONDARY, Retry_After="0"))}
    samples, rejects = collect(github(search=NO_CODE), releases)
    assert only_bob(samples)
    assert [reject.reason for reject in rejects] == [RejectReason.RATE_LIMITED]
    assert hub.requests[COMMITS] == 4


def test_with_an_exhausted_limit_cached_answers_come_and_the_next_refresh_continues(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    for number in range(4):
        user(hub, f"ada/app{number}")
    # Of each repository: commits, releases, tags, tarball.
    hub.limits = {"core": 9}
    first, rejects = collect(github(search=NO_CODE), releases)
    assert [item.origin for item in first] == ["github:ada/app0", "github:ada/app1"]
    assert [(reject.key, reject.reason) for reject in rejects] == [
        ("github:ada/app2", RejectReason.RATE_LIMITED),
        ("github:ada/app3", RejectReason.RATE_LIMITED),
    ]
    hub.limits = {}
    requests = sum(hub.requests.values())
    second, rejects = collect(github(search=NO_CODE), releases)
    assert (len(second), rejects) == (4, [])
    # Three left of the third, and all of the fourth, with both tarballs.
    assert sum(hub.requests.values()) - requests == 3 + 4 + 2


def test_a_limit_of_searches_leaves_the_rest(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    both(hub)
    hub.limits = {"search": 0}
    samples, rejects = collect(github(), releases)
    assert len(samples) == 2
    assert {reject.reason for reject in rejects} == {RejectReason.RATE_LIMITED}
    assert hub.requests["/search/repositories"] == 1


@pytest.mark.parametrize(("wait", "is_fetched"), [("0", True), ("3600", False)])
def test_the_server_of_archives_has_limits_too(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], wait: str, is_fetched: bool
) -> None:
    _, archive = both(hub)
    hub.faults = {archive: [Reply(429, {"Retry-After": wait}, b"slow down")]}
    samples, rejects = collect(github(search=NO_CODE), releases)
    assert len(samples) == (2 if is_fetched else 0)
    assert {reject.reason for reject in rejects} == (set() if is_fetched else {RejectReason.RATE_LIMITED})
