"""Read the Docs, API v3: the versions of a project's documentation (docs.readthedocs.com, "API v3").

Without a token five requests a minute are let through, so that an answer is kept for some hours.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import msgspec

from pipeline.corpus.documentation.fetching import fetch_json
from pipeline.index.http import BadAnswer, Fetcher
from pipeline.lake.ids import sha256_text
from pipeline.lake.tables import replacing

_MAX_BYTES = 16 << 20
_MAX_PAGES = 100


class _Urls(msgspec.Struct):
    documentation: str


class Version(msgspec.Struct, frozen=True):
    """A version of a project, as the API describes it; `ref` is what `stable` stands for."""

    slug: str
    urls: _Urls
    verbose_name: str = ""
    ref: str | None = None
    type: str = ""
    built: bool = True
    active: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """What the version is called, what tells most first."""
        return tuple(name for name in (self.ref, self.verbose_name, self.slug) if name)


class _Page(msgspec.Struct):
    results: list[Version]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ReadTheDocs:
    """The API at an address, asked with a token if there is one; answers are kept in a folder for `keep_s` seconds."""

    fetcher: Fetcher
    api: str
    cache: Path
    keep_s: float
    token: str | None = field(default=None, repr=False)

    def versions(self, project: str) -> list[Version]:
        """Return the versions of a project, by its slug, that are built, in the order of their slugs.

        Errors: NotFound where there is no such project, BadAnswer, Unreachable.
        """
        url = f"{self.api.rstrip('/')}/projects/{quote(project, safe='')}/versions/?active=true&built=true&limit=100"
        path = self.cache / f"versions-{sha256_text(url)}.json"
        if (cached := _cached(path, self.keep_s)) is not None:
            return cached
        by_slug = {version.slug: version for page in self._pages(url) for version in page.results}
        versions = [by_slug[slug] for slug in sorted(by_slug) if by_slug[slug].built and by_slug[slug].active]
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as partial:
            partial.write_bytes(msgspec.json.encode(versions))
        return versions

    def _pages(self, url: str) -> Iterator[_Page]:
        visited: set[str] = set()
        while url not in visited and len(visited) < _MAX_PAGES:
            visited.add(url)
            page = _page(fetch_json(self.fetcher, url, _MAX_BYTES, self._headers()), url)
            yield page
            if not page.next:
                return
            # by its path alone: whatever host an answer names, the token goes to that of the settings
            following = urlsplit(urljoin(url, page.next))
            url = urlunsplit(urlsplit(url)._replace(path=following.path, query=following.query))
        raise BadAnswer(f"{url}: pages without end")

    def _headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Token {self.token}"} if self.token else {}


def _page(answer: object, url: str) -> _Page:
    try:
        return msgspec.convert(answer, _Page)
    except msgspec.ValidationError as error:
        raise BadAnswer(f"{url}: not a list of versions: {error}") from None


def _cached(path: Path, keep_s: float) -> list[Version] | None:
    """Return the versions of an answer that is not too old; None where there is none."""
    try:
        if time.time() - path.stat().st_mtime > keep_s:
            return None
        return msgspec.json.decode(path.read_bytes(), type=list[Version])
    except (OSError, msgspec.DecodeError):
        return None
