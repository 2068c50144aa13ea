"""HTTP with limits: retries with backoff, time-outs, bounded downloads checked against their hash, parts of files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from urllib3.util import Retry

from pipeline.core.build import VERSION
from pipeline.core.credentials import cut_bytes, cut_message, sign_in_for, without_userinfo
from pipeline.core.errors import CodedError, FatalError
from pipeline.index.rates import wait_for_turn

RETRY_STATUSES = (429, 500, 502, 503, 504)
CHUNK = 1 << 16
_SIGN_IN = (401, 407)
_FIRST_CONTACT_S = 10.0
# A host that asks for more patience is asked again sooner, and then left for another day.
_LONGEST_WAIT_S = 120

_CONTENT_RANGE = re.compile(r"bytes +(\d+)-(\d+)/(\d+)")
_Result = TypeVar("_Result")


class FetchError(CodedError):
    """Something could not be fetched; the message has its address, and never what one signs in with there.

    An index may be asked under `https://name:token@host`, and messages become rows of `rejects`; a server may also
    repeat in its answer what it was sent.
    """

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(cut_message(message), code=code)


class Unreachable(FetchError, FatalError):
    """The host did not answer, or only with errors that may pass; trying again later can help."""

    code = "unreachable"


class BrokenOff(Unreachable):
    """The answer began and did not end."""

    code = "broken_off"


class NotFound(FetchError):
    """The host says that there is no such thing."""

    code = "not_found"


class BadAnswer(FetchError, FatalError):
    """The host answered with something else than its format promises."""

    code = "bad_answer"


class WrongHash(FetchError):
    """What was downloaded is not what the index announced."""

    code = "wrong_hash"


class NoRanges(FetchError):
    """The file cannot be had, or cannot be trusted, in parts; whole it may be fine."""

    code = "no_ranges"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file: where it starts, its bytes, how long the whole file is, and the file's entity tag."""

    start: int
    content: bytes
    total: int
    etag: str | None


class Polite(HTTPAdapter):
    """Sends a request when its host may be asked once more by any of us (`rates.yaml`)."""

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        """Wait, then send."""
        wait_for_turn(request.url or "")
        return super().send(request, *args, **more)


class Fetcher:
    """HTTP to one source; may be used by many threads, and after a fork.

    `timeout_s` bounds the wait for each packet, `retries` how often a passing failure is tried again, with
    exponential backoff from `backoff_s` and the server's own Retry-After where it gives one. `requests` and
    `received_bytes` (of bodies) count what this process asked and got.
    """

    def __init__(self, *, timeout_s: float, retries: int = 4, backoff_s: float = 0.5) -> None:
        self.timeout_s = timeout_s
        self.requests = 0
        self.received_bytes = 0
        # The retry policy of urllib3 ends where the body begins.
        self._broken_off_retries = min(retries, 2)
        self._policy = Retry(
            total=retries,
            backoff_factor=backoff_s,
            status_forcelist=RETRY_STATUSES,
            raise_on_status=False,
            retry_after_max=_LONGEST_WAIT_S,
        )
        self._counting = threading.Lock()
        self._session: tuple[int, requests.Session] | None = None

    @property
    def session(self) -> requests.Session:
        """The session of this process: a connection that two processes share would mix their answers."""
        if self._session is None or self._session[0] != os.getpid():
            session = requests.Session()
            session.headers["User-Agent"] = f"driftline/{VERSION}"
            for scheme in ("http://", "https://"):
                session.mount(scheme, Polite(max_retries=self._policy))
            self._session = os.getpid(), session
        return self._session[1]

    def no_way_to(self, url: str) -> str | None:
        """Return why no connection to a host can be made, asked once and without waiting for better times, or None."""
        try:
            with requests.head(
                without_userinfo(url), timeout=min(self.timeout_s, _FIRST_CONTACT_S), allow_redirects=False
            ):
                return None
        except requests.RequestException as error:
            return cut_message(f"no way to {url}: {_cause(error)}")

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, stream: bool = False) -> requests.Response:
        """Fetch an address, signed in where its origin is known to want that (`credentials.sign_in_for`).

        Errors: Unreachable, also where a sign-in lacks, NotFound (404 and 410), NoRanges (416 for a range), BadAnswer
        for any other refusal.
        """
        try:
            answer = self.session.get(
                without_userinfo(url), headers=headers, auth=_auth_for(url), timeout=self.timeout_s, stream=stream
            )
        except requests.RequestException as error:
            self._count(1, 0)
            raise Unreachable(f"{url}: {_cause(error)}") from None
        tries = answer.raw.retries.history if answer.raw.retries else ()
        self._count(1 + len(tries) + len(answer.history), 0 if stream else answer.raw.tell())
        if answer.status_code in (404, 410):
            raise NotFound(f"{url}: status {answer.status_code}")
        if answer.status_code in _SIGN_IN:
            raise Unreachable(
                f"{url}: status {answer.status_code}, it wants a sign-in: put user and password into the address of the"
                " index (DRIFTLINE_INDEX_URL, or pip's index-url), or a line for this host into ~/.netrc",
                code="sign_in_needed",
            )
        if answer.status_code in RETRY_STATUSES:
            raise Unreachable(f"{url}: status {answer.status_code} after every retry")
        if answer.status_code == requests.codes.requested_range_not_satisfiable and "Range" in (headers or {}):
            raise NoRanges(f"{url}: status {answer.status_code}, the file ends before the range begins")
        if not answer.ok:
            raise BadAnswer(f"{url}: status {answer.status_code}")
        return answer

    def get_json(self, url: str) -> Any:
        """Fetch an address and parse its JSON.

        Errors: as get(), and BadAnswer where the body is not JSON.
        """
        answer = self.get(url, {"Accept": "application/json"})
        try:
            return json.loads(cut_bytes(answer.content))
        except ValueError:
            kind = answer.headers.get("Content-Type", "no content type")
            raise BadAnswer(f"{url}: not JSON but {kind}, {len(answer.content)} bytes") from None

    def get_span(self, url: str, start: int, stop: int | None = None, *, etag: str | None = None) -> Span:
        """Fetch bytes [start, stop) of a file, or its last ones where `start` is negative (RFC 9110 §14).

        With the entity tag of an earlier part, a file that has changed since is NoRanges (If-Range, §13.1.5).

        Errors: as get(), NoRanges where the whole file comes instead, BadAnswer where another part comes.
        """
        return self._again(lambda: self._get_span(url, start, stop, etag))

    def _get_span(self, url: str, start: int, stop: int | None, etag: str | None) -> Span:
        byte_range = f"bytes={start}" if stop is None else f"bytes={start}-{stop - 1}"
        headers = {"Range": byte_range, "Accept-Encoding": "identity"}
        if etag and not etag.startswith("W/"):
            headers["If-Range"] = etag
        with self.get(url, headers, stream=True) as answer:
            if answer.status_code != requests.codes.partial_content:
                raise NoRanges(f"{url}: status {answer.status_code} for {byte_range}")
            begin, end, total = _content_range(url, byte_range, answer)
            expected = (max(0, total + start), total) if stop is None else (start, min(stop, total))
            if (begin, end) != expected or begin >= end:
                raise BadAnswer(f"{url}: bytes {begin}-{end - 1}/{total} came for {byte_range}")
            content = bytearray()
            for chunk in self._chunks(url, answer):
                content += chunk
                if len(content) > end - begin:
                    break
            if len(content) != end - begin:
                raise BadAnswer(
                    f"{url}: {len(content)} bytes or more came for {byte_range}, announced were {end - begin}"
                )
            return Span(begin, bytes(content), total, answer.headers.get("ETag"))

    def download(self, url: str, file: IO[bytes], *, sha256: str, max_bytes: int) -> int:
        """Write what stands at an address into an empty file, and return its length when its hash is right.

        Errors: as get(), WrongHash, BadAnswer where the body is longer than `max_bytes`.
        """
        return self._again(lambda: self._download(url, file, sha256, max_bytes))

    def _download(self, url: str, file: IO[bytes], sha256: str, max_bytes: int) -> int:
        digest = hashlib.sha256()
        length = 0
        file.seek(0)
        file.truncate()
        with self.get(url, stream=True) as answer:
            for chunk in self._chunks(url, answer):
                length += len(chunk)
                if length > max_bytes:
                    raise BadAnswer(f"{url}: longer than the limit of {max_bytes} bytes")
                digest.update(chunk)
                file.write(chunk)
        if digest.hexdigest() != sha256:
            raise WrongHash(f"{url}: sha256 {digest.hexdigest()}, the index says {sha256} ({length} bytes came)")
        return length

    def _again(self, action: Callable[[], _Result]) -> _Result:
        """Begin again what broke off in the middle of a body."""
        for _ in range(self._broken_off_retries):
            try:
                return action()
            except BrokenOff:
                continue
        return action()

    def _chunks(self, url: str, answer: requests.Response) -> Iterator[bytes]:
        try:
            yield from answer.iter_content(CHUNK)
        except requests.RequestException as error:
            raise BrokenOff(f"{url}: broke off after {answer.raw.tell()} bytes: {_cause(error)}") from None
        finally:
            self._count(0, answer.raw.tell())

    def _count(self, sent: int, received: int) -> None:
        with self._counting:
            self.requests += sent
            self.received_bytes += received


def _auth_for(url: str) -> HTTPBasicAuth | None:
    """Return the sign-in of a request in UTF-8 (RFC 7617, 2.1); requests drops it where a redirect leaves the host."""
    sign_in = sign_in_for(url)
    return HTTPBasicAuth(*(part.encode() for part in sign_in)) if sign_in else None


def _content_range(url: str, byte_range: str, answer: requests.Response) -> tuple[int, int, int]:
    """Return begin, end and total of a 206 answer.

    Errors: BadAnswer for what is not a single range, NoRanges where the length of the file is not told.
    """
    header = answer.headers.get("Content-Range", "")
    if answer.headers.get("Content-Encoding", "identity") != "identity" or header.endswith("/*"):
        raise NoRanges(f"{url}: {byte_range} came encoded, or without the length of the file")
    match = _CONTENT_RANGE.fullmatch(header.strip())
    if not match:
        raise BadAnswer(f"{url}: status 206 for {byte_range} with Content-Range {header!r}")
    return int(match[1]), int(match[2]) + 1, int(match[3])


def _cause(error: BaseException) -> str:
    """Return the innermost reason in one line, without the address of the pool object that urllib3 prints."""
    while error.args and isinstance(error.args[0], BaseException):
        error = error.args[0]
    reason = getattr(error, "reason", None) or error
    return f"{type(reason).__name__}: {str(reason).split('>: ')[-1]}"
