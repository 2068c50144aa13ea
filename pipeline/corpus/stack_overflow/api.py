"""The Stack Exchange API 2.3 (https://api.stackexchange.com/docs): one answer at a time, with the waits it asks for."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import requests

from pipeline.core.credentials import cut_bytes
from pipeline.core.errors import CodedError
from pipeline.corpus.stack_overflow.rules import AskingRules
from pipeline.index.http import BadAnswer, Fetcher, Unreachable

THROTTLED = 502
"""The error_id of throttle_violation; its message says for how many seconds."""

MARGIN_S = 2.0
"""What is waited beyond `backoff`: those who came back at once were throttled
(https://meta.stackexchange.com/questions/377674)."""

_PASSING = frozenset({500, 503})
_SECONDS = re.compile(r"(\d+) seconds?")
_PASSING_WAIT_S = 1.0
_LONG = frozenset({"include"})
"""Parameters that messages leave out."""


class RateLimited(CodedError):
    """The API lets us ask no more for now, or not before a longer time than the rule allows to wait."""

    code = "stack_exchange_limit"


@dataclass(frozen=True, slots=True)
class Answer:
    """The wrapper around what a method gives: its items, and whether there is another page."""

    items: list[dict[str, Any]]
    has_more: bool


class StackExchange:
    """Asks the API, and waits between requests for as long as it says.

    `key` raises the daily quota from 300 to 10,000 requests; it never appears in a message. `sleep` takes seconds.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        url: str,
        key: str | None,
        rules: AskingRules,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._url = url.rstrip("/")
        self._key = key
        self._rules = rules
        self._sleep = sleep
        self._backoff_s = 0.0
        self._quota_remaining = 1

    def ask(self, method: str, parameters: Mapping[str, str | int]) -> Answer:
        """Ask a method of the API.

        Errors: RateLimited, Unreachable, BadAnswer where it refuses or answers with something else than its wrapper.
        """
        loggable = {name: value for name, value in parameters.items() if name not in _LONG}
        place = f"{self._url}/{method}?{urlencode(loggable)}"
        for _ in range(self._rules.max_tries):
            self._wait(place)
            body = self._get(place, method, parameters)
            error = body.get("error_id")
            if error is None:
                return self._unwrapped(place, body)
            message = f"{place}: error {error} {body.get('error_name')}: {body.get('error_message')}"
            if error == THROTTLED:
                self._backoff_s = _seconds(str(body.get("error_message")), self._rules.max_wait_s)
            elif error in _PASSING:
                self._backoff_s = max(self._backoff_s, _PASSING_WAIT_S)
            else:
                raise BadAnswer(message)
        if error == THROTTLED:
            raise RateLimited(message)
        raise Unreachable(message)

    def _wait(self, place: str) -> None:
        if not self._quota_remaining:
            raise RateLimited(
                f"{place}: the quota of requests is used up for today. Run again tomorrow to go on from here"
                + ("." if self._key else ", or set STACKEXCHANGE_KEY, which allows 10,000 a day.")
            )
        if self._backoff_s > self._rules.max_wait_s:
            raise RateLimited(
                f"{place}: told to wait {self._backoff_s:.0f} s, the rule allows {self._rules.max_wait_s:.0f}."
                " Run again later to go on from here."
            )
        if self._backoff_s:
            self._sleep(self._backoff_s + MARGIN_S)
            self._backoff_s = 0.0

    def _get(self, place: str, method: str, parameters: Mapping[str, str | int]) -> dict[str, Any]:
        """Return the body of an answer, which says more of an error than its status does."""
        fetcher = self._fetcher
        fetcher.requests += 1
        query = {**parameters, "key": self._key} if self._key else dict(parameters)
        try:
            # Not through Fetcher.get, which drops the body of a refusal.
            answer = fetcher.session.get(f"{self._url}/{method}", params=query, timeout=fetcher.timeout_s)
            fetcher.received_bytes += len(answer.content)
        except requests.RequestException as error:
            raise Unreachable(f"{place}: {type(error).__name__}") from None
        try:
            body = json.loads(cut_bytes(answer.content))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            kind = answer.headers.get("Content-Type", "no content type")
            message = f"{place}: status {answer.status_code}, not a JSON object but {kind}, {len(answer.content)} bytes"
            raise (Unreachable if answer.status_code in (429, *range(500, 600)) else BadAnswer)(message)
        return body

    def _unwrapped(self, place: str, body: Mapping[str, Any]) -> Answer:
        self._backoff_s = _number(place, body, "backoff", 0)
        self._quota_remaining = _number(place, body, "quota_remaining", 1)
        items, has_more = body.get("items"), body.get("has_more", False)
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise BadAnswer(f"{place}: no list of items, but {', '.join(sorted(body)) or 'nothing'}")
        if has_more and not items:
            raise BadAnswer(f"{place}: no items, and yet more of them")
        return Answer(items, bool(has_more))


def _number(place: str, body: Mapping[str, Any], name: str, default: int) -> int:
    value = body.get(name, default)
    if not isinstance(value, int) or value < 0:
        raise BadAnswer(f"{place}: {name} is {value!r}")
    return value


def _seconds(message: str, default: float) -> float:
    """Return how long a throttle lasts: "more requests available in 81 seconds"."""
    match = _SECONDS.search(message)
    return float(match[1]) if match else default
