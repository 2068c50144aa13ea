"""The session that speaks to GitHub: answers bounded and whole, kept with their entity tags, asked for in turn."""

from __future__ import annotations

import errno
import io
import json
import sqlite3
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import requests
from github.Requester import Requester
from requests_cache import CachedSession
from requests_cache.backends.sqlite import SQLiteCache
from urllib3 import BaseHTTPResponse, HTTPResponse
from urllib3.util import Retry

from pipeline.core.credentials import cut_bytes
from pipeline.corpus.github.body import chunks
from pipeline.corpus.github.limits import REFUSALS, RateLimited, Turns
from pipeline.corpus.github.rules import AskRules
from pipeline.index.http import BadAnswer, Fetcher, Polite

TRIES = 4
"""How often one request is sent again after it was refused because of a limit."""

WAIT_MS = 60_000
"""How long a writer to the cache waits for others."""

# The cache is one token's own, and would take an answer that varies with the token for another one each time.
_DROPPED = frozenset({"vary", "content-encoding", "content-length", "transfer-encoding"})


def open_session(cache: Path, turns: Turns, rules: AskRules) -> CachedSession:
    """Return a session over a cache on disk, which leaves the token out.

    An answer younger than `rules.fresh_hours` is not asked for again, an older one only conditionally (If-None-Match,
    RFC 9110 §13), which counts against no limit. Only whole JSON is kept.

    Errors: OSError where the cache cannot be used; of a request those of requests, RateLimited, BadAnswer, BrokenOff.
    """
    session = CachedSession(
        backend=_opened(cache),
        expire_after=timedelta(hours=rules.fresh_hours),
        allowable_codes=(200, 301),
        filter_fn=_worth_keeping,
    )
    # Otherwise requests would put what it finds in .netrc in the place of the token.
    session.auth = Requester.noopAuth
    adapter = _Whole(turns, rules)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session


def _opened(cache: Path) -> SQLiteCache:
    """Open the cache, or a new one in the place of what is none; other processes may use it at the same time."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        try:
            opened = SQLiteCache(str(cache), serializer="json", wal=True, busy_timeout=WAIT_MS)
            len(opened.responses)
        except sqlite3.OperationalError as error:
            raise unusable(error) from None
        except sqlite3.DatabaseError:
            cache.unlink()
        else:
            return opened
    raise AssertionError("a new database is one")


def unusable(error: sqlite3.Error) -> OSError:
    """Return the error to raise where the cache fails: the disk is full, or it is not a cache that we made."""
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    words = f"the cache of GitHub's answers cannot be used: {error}. It may be removed, and is made again."
    return OSError(errno.ENOSPC if full else errno.EIO, words)


def archive_fetcher(timeout_s: float, turns: Turns, rules: AskRules) -> Fetcher:
    """Return a fetcher for tarballs, which waits for its turn as the session does.

    Errors of a request: those of the fetcher, and RateLimited.
    """
    fetcher = Fetcher(timeout_s=timeout_s)
    for scheme in ("http://", "https://"):
        fetcher.session.mount(scheme, _InTurn(turns, rules))
    return fetcher


class _InTurn(Polite):
    """Sends a request when it is its turn, and again where it failed in passing."""

    def __init__(self, turns: Turns, rules: AskRules) -> None:
        self._turns = turns
        self._rules = rules
        super().__init__(
            max_retries=Retry(
                total=rules.retries,
                backoff_factor=rules.backoff_s,
                status_forcelist=(500, 502, 503, 504),
                raise_on_status=False,
                # Waiting is bounded by `turns`, and by nothing in urllib3.
                respect_retry_after_header=False,
            )
        )

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        url = request.url or ""
        for _ in range(TRIES):
            self._turns.before(url)
            answer = super().send(request, *args, **more)
            if not self._turns.after(url, answer.status_code, answer.headers, self.message(answer)):
                return answer
            answer.close()
        raise RateLimited(f"{url}: refused {TRIES} times because of a limit")

    def message(self, answer: requests.Response) -> str:
        """Return what an error says of itself, as far as it can be read without end."""
        return ""


class _Whole(_InTurn):
    """Reads all of an answer, within its bounds and without credentials, before anybody sees it."""

    def build_response(self, req: requests.PreparedRequest, resp: BaseHTTPResponse) -> requests.Response:
        url = req.url or ""
        body = cut_bytes(_read(url, resp, self._rules))
        if resp.status == requests.codes.ok:
            _check_json(url, resp.headers, body)
        headers = {name: value for name, value in resp.headers.items() if name.lower() not in _DROPPED}
        whole = HTTPResponse(
            io.BytesIO(body), headers, resp.status, reason=resp.reason, preload_content=False, version=resp.version
        )
        return super().build_response(req, whole)

    def message(self, answer: requests.Response) -> str:
        """Return what GitHub says of an error; what stands between us may say it in HTML."""
        if answer.status_code not in REFUSALS:
            return ""
        try:
            body = answer.json()
        except (ValueError, RecursionError):
            return ""
        message = body.get("message") if isinstance(body, dict) else None
        return message if isinstance(message, str) else ""


def _read(url: str, answer: BaseHTTPResponse, rules: AskRules) -> bytes:
    body = bytearray()
    for chunk in chunks(url, answer, rules.max_answer_s):
        body += chunk
        if len(body) > rules.max_answer_bytes:
            raise BadAnswer(f"{url}: longer than the limit of {rules.max_answer_bytes} bytes")
    return bytes(body)


def _check_json(url: str, headers: Mapping[str, str], body: bytes) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        kind = headers.get("Content-Type", "no content type")
        raise BadAnswer(f"{url}: not JSON but {kind}, {len(body)} bytes") from None


def _worth_keeping(answer: requests.Response) -> bool:
    """Keep no state of limits, and no search that GitHub broke off: asked again it may be complete."""
    if answer.status_code != requests.codes.ok:
        return True
    if answer.url.endswith("/rate_limit"):
        return False
    body = answer.json()
    return not (isinstance(body, dict) and body.get("incomplete_results"))
