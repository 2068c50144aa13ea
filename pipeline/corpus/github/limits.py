"""GitHub's rate limits: what an answer says of them, and waiting for our turn, which is bounded.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from github.Requester import Requester
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from pipeline.core.errors import CodedError

REFUSALS = (403, 429)
EVERY = ("core", "search", "code_search")
"""The limits that our requests count against; a secondary limit holds for all of them."""

FAR_AWAY = 1e11
"""Seconds; more are not told apart."""


class RateLimited(CodedError):
    """GitHub lets us ask no more for now, and for longer than we may wait."""

    code = "github_limit"


@dataclass(frozen=True, slots=True)
class Pause:
    """How long which limits let nobody ask, in seconds from the answer; `words` say so without our clock."""

    seconds: float
    limits: tuple[str, ...]
    words: str


def limit_of(url: str) -> str:
    """Return the limit that a request to an address counts against."""
    if "/search/code" in url:
        return "code_search"
    return "search" if "/search/" in url else "core"


def is_refusal(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Tell an answer that was refused because of a limit from one that is forbidden for another reason."""
    used_up = headers.get("x-ratelimit-remaining") == "0"
    return status in REFUSALS and (
        status == 429 or used_up or "retry-after" in headers or Requester.isRateLimitError(message)
    )


def pause_of(url: str, headers: Mapping[str, str], *, refused: bool, secondary_s: float, now: float) -> Pause | None:
    """Return how long to be silent after an answer: as Retry-After says, else until the reset, else `secondary_s`.

    An answer that took the last request of its limit asks for a pause too, though it was not refused.
    """
    limit = limit_of(url)
    retry_after_s = _seconds(headers.get("retry-after")) if refused else None
    if retry_after_s is not None:
        return Pause(retry_after_s, EVERY, f"asks to be left alone for {retry_after_s:.0f} s")
    reset = _number(headers.get("x-ratelimit-reset"))
    if headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        # A second more, since it is not said when within that second; by GitHub's own clock where it gives it.
        seconds = max(0.0, reset - (_date(headers.get("date")) or now)) + 1
        return Pause(seconds, (limit,), f"limit {limit!r} is used up until {_iso(reset)}")
    if refused:
        return Pause(secondary_s, EVERY, f"a secondary limit without a time; {secondary_s:.0f} s is the least wait")
    return None


class Turns:
    """Waits before a request until GitHub's limits allow it.

    All waits together last `max_wait_s` at most, until `begin` opens a new budget; what would take longer is
    RateLimited at once, without asking: who goes on asking may be shut out. Answers from the cache need no turn.
    """

    def __init__(
        self,
        *,
        max_wait_s: float,
        secondary_s: float,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.max_wait_s = max_wait_s
        self.waited_s = 0.0
        self._secondary_s = secondary_s
        self._refusals = 0
        self._closed: dict[str, tuple[float, str]] = {}
        self._clock = clock
        self._sleep = sleep

    def begin(self) -> None:
        """Open a new budget of waiting."""
        self.waited_s = 0.0

    def before(self, url: str) -> None:
        """Wait until a request may be sent.

        Errors: RateLimited.
        """
        limit = limit_of(url)
        until, words = self._closed.get(limit, (0.0, ""))
        wait = until - self._clock()
        if wait > 0:
            if self.waited_s + wait > self.max_wait_s:
                raise RateLimited(f"{words}: longer than max_wait_s ({self.max_wait_s:g}). The next refresh goes on.")
            self._sleep(wait)
            self.waited_s += wait
        self._closed.pop(limit, None)

    def after(self, url: str, status: int, headers: Mapping[str, str], message: str) -> bool:
        """Note what an answer says of the limits; return whether the request was refused and may be sent again."""
        refused = is_refusal(status, headers, message)
        secondary_s = self._secondary_s * 2**self._refusals
        self._refusals = self._refusals + 1 if refused else 0
        now = self._clock()
        if pause := pause_of(url, headers, refused=refused, secondary_s=secondary_s, now=now):
            for limit in pause.limits:
                before = self._closed.get(limit, (0.0, ""))
                self._closed[limit] = max(before, (now + pause.seconds, pause.words))
        return refused


def _seconds(text: str | None) -> float | None:
    """Read Retry-After, seconds or a date (RFC 9110 §10.2.3)."""
    try:
        return max(0.0, Retry(retry_after_max=int(FAR_AWAY)).parse_retry_after(text)) if text else None
    except (InvalidHeader, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return min(max(number, 0.0), FAR_AWAY) if math.isfinite(number) else None


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _iso(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
