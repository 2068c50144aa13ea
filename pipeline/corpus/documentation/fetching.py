"""The pages of a documentation site, on the web or in a folder: bounded, and none from outside the site."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, unquote, urljoin, urlsplit

import requests

from pipeline.core.credentials import cut_bytes, remember, without_userinfo
from pipeline.index.http import CHUNK, BadAnswer, Fetcher, NotFound, Unreachable

_INDEX = "index.html"


class TooLarge(Exception):
    """It is larger than the rule allows."""


class Outside(Exception):
    """It does not lie on the site."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came: the bytes, from which address, after redirects, and the content type as the server states it."""

    content: bytes
    url: str
    content_type: str


def fetch(fetcher: Fetcher, url: str, max_bytes: int, headers: Mapping[str, str] | None = None) -> Fetched:
    """Fetch an address.

    Errors: as Fetcher.get(), TooLarge, of which no more than `max_bytes` are read.
    """
    with fetcher.get(url, headers, stream=True) as answer:
        content = bytearray()
        announced = answer.headers.get("Content-Length", "")
        if announced.isdecimal() and int(announced) > max_bytes:
            raise TooLarge(f"{url}: {announced} bytes, the limit is {max_bytes}")
        try:
            for chunk in answer.iter_content(CHUNK):
                content += chunk
                if len(content) > max_bytes:
                    raise TooLarge(f"{url}: longer than the limit of {max_bytes} bytes")
        except requests.RequestException as error:
            raise Unreachable(f"{url}: broke off after {len(content)} bytes: {type(error).__name__}") from None
        return Fetched(bytes(content), answer.url, answer.headers.get("Content-Type", ""))


def fetch_json(fetcher: Fetcher, url: str, max_bytes: int, headers: Mapping[str, str] | None = None) -> Any:
    """Fetch an address and parse its JSON.

    Errors: as fetch(), BadAnswer where the body is not JSON.
    """
    fetched = fetch(fetcher, url, max_bytes, {"Accept": "application/json", **(headers or {})})
    return parse_json(fetched.content, url, fetched.content_type)


def parse_json(content: bytes, place: str, content_type: str = "") -> Any:
    """Parse JSON. Errors: BadAnswer that names the place."""
    try:
        return json.loads(cut_bytes(content))
    except (ValueError, RecursionError):
        kind = f" but {content_type}" if content_type else ""
        raise BadAnswer(f"{place}: not JSON{kind}, {len(content)} bytes") from None


class Site(Protocol):
    """A documentation site of one version."""

    def read(self, page: str, max_bytes: int) -> bytes:
        """Return the bytes of a page, by its path on the site.

        Errors: NotFound, TooLarge, Outside, BadAnswer, Unreachable; each names the page.
        """
        ...

    def url(self, page: str, anchor: str = "") -> str:
        """Return where a person can look at a page, or at an anchor of it."""
        ...


def open_site(address: str, fetcher: Fetcher, public_address: str | None = None) -> Site:
    """Return the site at an address, `http(s)://…` or `file:///folder`; `public_address` is that for people."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return FolderSite(Path(unquote(parts.path)), public_address)
    remember(address)
    return WebSite(fetcher, f"{without_userinfo(address).rstrip('/')}/")


@dataclass(frozen=True, slots=True)
class FolderSite:
    """A site in a folder of this machine, whose path stays here: what people are told is the path on the site."""

    root: Path
    public_address: str | None = None

    def read(self, page: str, max_bytes: int) -> bytes:
        """Return the bytes of a page; a link may lead around inside the folder, and not out of it."""
        name = unquote(page)
        root = self.root.resolve()
        try:
            path = (root / (f"{name}{_INDEX}" if not name or name.endswith("/") else name)).resolve()
            if not path.is_relative_to(root):
                raise Outside(f"{page}: leads out of the site")
            size = path.stat().st_size
            if size > max_bytes:
                raise TooLarge(f"{page}: {size} bytes, the limit is {max_bytes}")
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise NotFound(f"{page}: no such file on the site") from None
        except (OSError, ValueError) as error:
            raise BadAnswer(f"{page}: {type(error).__name__}, it cannot be read") from None

    def url(self, page: str, anchor: str = "") -> str:
        """Return the address of a page below `public_address`, or its path on the site where none is given."""
        return _joined(f"{self.public_address.rstrip('/')}/" if self.public_address else "", page, anchor)


@dataclass(slots=True)
class WebSite:
    """A site on the web; where its first page is redirected to, the site is there."""

    fetcher: Fetcher
    base: str
    _settled: bool = field(default=False, init=False)

    def read(self, page: str, max_bytes: int) -> bytes:
        """Return the bytes of a page; one that the server takes to another site is Outside."""
        url = urljoin(self.base, page)
        if not url.startswith(self.base):
            raise Outside(f"{page}: leads out of the site")
        fetched = fetch(self.fetcher, url, max_bytes)
        if not fetched.url.startswith(self.base):
            if self._settled or not fetched.url.endswith(f"/{page}"):
                raise Outside(f"{page}: redirected to {fetched.url}")
            self.base = fetched.url.removesuffix(page)
        self._settled = True
        return fetched.content

    def url(self, page: str, anchor: str = "") -> str:
        """Return the address of a page."""
        return _joined(self.base, page, anchor)


def _joined(base: str, page: str, anchor: str) -> str:
    return base + quote(page, safe="/%") + (f"#{quote(anchor, safe='.-_%')}" if anchor else "")
