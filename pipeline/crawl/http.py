"""HTTP with limits: retries with backoff, time-outs, bounded downloads that are checked against their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from pipeline import __version__
from pipeline.lake.tables import replacing

RETRY_STATUSES = (429, 500, 502, 503, 504)
CHUNK = 1 << 16


class Unreachable(Exception):
    """The host did not answer, or only with errors that may pass; trying again later can help."""


class BrokenOff(Unreachable):
    """The answer began and did not end."""


class NotFound(Exception):
    """The host says that there is no such thing."""


class BadAnswer(Exception):
    """The host answered with something else than its format promises."""


class WrongHash(Exception):
    """What was downloaded is not what the index announced."""


class Fetcher:
    """One HTTP session for one source.

    `timeout_s` bounds the wait for each packet, `retries` how often a passing failure is tried again, with
    exponential backoff from `backoff_s` and the server's own Retry-After where it gives one.
    """

    def __init__(self, *, timeout_s: float, retries: int = 4, backoff_s: float = 0.5) -> None:
        self.timeout_s = timeout_s
        # The retry policy of urllib3 ends where the body begins.
        self.broken_off_retries = min(retries, 2)
        policy = Retry(total=retries, backoff_factor=backoff_s, status_forcelist=RETRY_STATUSES, raise_on_status=False)
        self.session = requests.Session()
        self.session.headers["User-Agent"] = f"driftline/{__version__}"
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, HTTPAdapter(max_retries=policy))

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, stream: bool = False) -> requests.Response:
        """Fetch an address.

        Errors: Unreachable, NotFound (404 and 410), BadAnswer for any other refusal.
        """
        try:
            answer = self.session.get(url, headers=headers, timeout=self.timeout_s, stream=stream)
        except requests.RequestException as error:
            raise Unreachable(f"{url}: {_cause(error)}") from None
        if answer.status_code in (404, 410):
            raise NotFound(f"{url}: status {answer.status_code}")
        if answer.status_code in RETRY_STATUSES:
            raise Unreachable(f"{url}: status {answer.status_code} after every retry")
        if not answer.ok:
            raise BadAnswer(f"{url}: status {answer.status_code}")
        return answer

    def get_json(self, url: str) -> Any:
        """Fetch an address and parse its JSON.

        Errors: as get(), and BadAnswer where the body is not JSON.
        """
        answer = self.get(url, {"Accept": "application/json"})
        try:
            return answer.json()
        except requests.JSONDecodeError:
            kind = answer.headers.get("Content-Type", "no content type")
            raise BadAnswer(f"{url}: not JSON but {kind}, {len(answer.content)} bytes") from None

    def download(self, url: str, path: Path, *, sha256: str, max_bytes: int) -> None:
        """Store an address under a path, which appears only when it is complete and its hash is right.

        Errors: as get(), WrongHash, BadAnswer where the body is longer than `max_bytes`.
        """
        for attempt in range(self.broken_off_retries + 1):
            try:
                self._download(url, path, sha256, max_bytes)
            except BrokenOff:
                if attempt == self.broken_off_retries:
                    raise
            else:
                return

    def _download(self, url: str, path: Path, sha256: str, max_bytes: int) -> None:
        digest = hashlib.sha256()
        length = 0
        with replacing(path) as temporary:
            with self.get(url, stream=True) as answer, temporary.open("wb") as file:
                try:
                    for chunk in answer.iter_content(CHUNK):
                        length += len(chunk)
                        if length > max_bytes:
                            raise BadAnswer(f"{url}: longer than the limit of {max_bytes} bytes")
                        digest.update(chunk)
                        file.write(chunk)
                except requests.RequestException as error:
                    raise BrokenOff(f"{url}: broke off after {length} bytes: {_cause(error)}") from None
            if digest.hexdigest() != sha256:
                raise WrongHash(f"{url}: sha256 {digest.hexdigest()}, the index says {sha256} ({length} bytes came)")


def _cause(error: BaseException) -> str:
    """Return the innermost reason in one line, without the address of the pool object that urllib3 prints."""
    while error.args and isinstance(error.args[0], BaseException):
        error = error.args[0]
    reason = getattr(error, "reason", None) or error
    return f"{type(reason).__name__}: {str(reason).split('>: ')[-1]}"
