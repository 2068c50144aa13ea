"""A documentation site page by page: what its inventory lists is read once, and kept in the cache."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from pipeline.crawl.documentation.fetching import Outside, Site, TooLarge, parse_json
from pipeline.crawl.documentation.inventory import BadInventory, Entry, Head, read_entries, read_head
from pipeline.crawl.documentation.pages import KINDS, READER_VERSION, PageRead, Refused, read_page
from pipeline.crawl.documentation.rules import DocumentationRules
from pipeline.crawl.http import BadAnswer, NotFound, Unreachable
from pipeline.lake import sha256_json
from pipeline.rules import plain
from pipeline.surface import DirectiveRules
from pipeline.terms import RejectReason

INVENTORY = "objects.inv"
_SEARCH_INDEX = "search/search_index.json"
_REASONS: Mapping[type[Exception], RejectReason] = {
    NotFound: RejectReason.VANISHED,
    TooLarge: RejectReason.TOO_LARGE,
    Outside: RejectReason.OUT_OF_SCOPE,
    BadAnswer: RejectReason.BAD_ANSWER,
    BadInventory: RejectReason.BAD_ANSWER,
    Unreachable: RejectReason.SOURCE_LEFT_OUT,
}
FAILURES = tuple(_REASONS)
"""What may be wrong with a page or an inventory."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a site lists: its head, the APIs on each page, and in which lines nothing could be read.

    `pages` are all pages worth reading, in order; `digest` tells whether the site is still the same.
    """

    head: Head
    entries: Mapping[str, Sequence[Entry]]
    pages: tuple[str, ...]
    refused: tuple[Refused, ...]
    digest: str


def refusal(key: str, error: Exception) -> Refused:
    """Return why something of a site cannot be read."""
    reason = next(reason for kind, reason in _REASONS.items() if isinstance(error, kind))
    return Refused(key, reason, str(error))


def list_site(site: Site, rules: DocumentationRules) -> Listed:
    """Read the inventory of a site, or the search index of MkDocs where there is none.

    Errors: those of Site.read(), BadInventory where nothing can be read of it.
    """
    limits = rules.limits
    try:
        packed = site.read(INVENTORY, limits.max_inventory_bytes)
    except NotFound:
        found = _searched(site, rules)
        return Listed(Head(0, "", ""), {}, tuple(found), (), sha256_json(found))
    file = io.BytesIO(packed)
    head = read_head(file)
    entries: dict[str, list[Entry]] = defaultdict(list)
    told: list[str] = []
    refused: list[Refused] = []
    try:
        for entry in read_entries(file, head, limits.max_inventory_bytes):
            if isinstance(entry, str):
                refused.append(Refused(entry, RejectReason.BAD_ANSWER, f"{INVENTORY}: a line that is no entry"))
            elif entry.domain == "py" and entry.role in KINDS:
                entries[entry.page].append(entry)
            elif (entry.domain, entry.role) == ("std", "doc"):
                told.append(entry.page)
    except BadInventory as error:
        # what came before it broke off holds
        refused.append(Refused(INVENTORY, RejectReason.BAD_ANSWER, f"{INVENTORY}: {error}"))
    more = told or _search_index(site, rules)
    pages = sorted({*entries, *filter(rules.wants_blocks, more)})
    kept, beyond = pages[: limits.max_pages], pages[limits.max_pages :]
    refused += [Refused(page, RejectReason.TOO_LARGE, f"{page}: beyond {limits.max_pages} pages") for page in beyond]
    return Listed(head, entries, tuple(kept), tuple(refused), sha256_json([packed.hex(), kept]))


def _search_index(site: Site, rules: DocumentationRules) -> list[str]:
    try:
        return _searched(site, rules)
    except FAILURES:
        return []


def _searched(site: Site, rules: DocumentationRules) -> list[str]:
    """Return the pages that MkDocs' search index lists."""
    answer = parse_json(site.read(_SEARCH_INDEX, rules.limits.max_inventory_bytes), _SEARCH_INDEX)
    docs = answer.get("docs") if isinstance(answer, dict) else None
    if not isinstance(docs, list):
        raise BadAnswer(f"{_SEARCH_INDEX}: no list of pages")
    places = (doc.get("location") for doc in docs if isinstance(doc, dict))
    pages = {place.partition("#")[0] for place in places if isinstance(place, str)}
    return sorted(page for page in pages if rules.wants_blocks(page))


@dataclass(frozen=True, slots=True)
class SiteReader:
    """Reads sites page by page; what a page gave is kept in the cache folder, so that asking again goes on there."""

    rules: DocumentationRules
    directives: DirectiveRules
    cache: Path

    def pages(self, site: Site, listed: Listed) -> Iterator[PageRead]:
        """Yield what each page of a site gave, in order.

        Errors: Unreachable where several pages in a row get no answer; they are asked again the next time.
        """
        path = self._path(site, listed)
        known = _known(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        silent = 0
        with path.open("ab") as file:
            for name in listed.pages:
                if name in known:
                    yield _DECODER.decode(known[name])
                    continue
                read = self._page(site, name, listed.entries.get(name, ()))
                if read.unread is None or read.unread.reason != RejectReason.SOURCE_LEFT_OUT:
                    silent = 0
                    file.write(b"\n" + msgspec.json.encode(read))
                elif (silent := silent + 1) >= self.rules.limits.unreachable_in_a_row:
                    raise Unreachable(read.unread.detail)
                yield read

    def _path(self, site: Site, listed: Listed) -> Path:
        """Return where the pages of a site are kept: another inventory, reader or rule makes it another file."""
        own = plain([self.rules.limits, self.rules.left_out, self.rules.languages, self.directives])
        return self.cache / f"{sha256_json([READER_VERSION, own, site.url(''), listed.digest])}.jsonl"

    def _page(self, site: Site, name: str, entries: Sequence[Entry]) -> PageRead:
        try:
            if urlsplit(name).scheme:
                raise Outside(f"{name}: the inventory names another site")
            content = site.read(name, self.rules.limits.max_page_bytes)
        except FAILURES as error:
            return PageRead(name, unread=refusal(name, error))
        return read_page(
            name,
            content,
            entries,
            self.directives,
            self.rules.languages,
            lambda anchor: site.url(name, anchor),
            wants_blocks=self.rules.wants_blocks(name),
        )


_DECODER = msgspec.json.Decoder(PageRead)


def _known(path: Path) -> dict[str, bytes]:
    """Return the lines of a file of pages by page; the last one of a process that was killed may be broken."""
    found: dict[str, bytes] = {}
    if path.is_file():
        for line in path.read_bytes().splitlines():
            try:
                found[_NAME.decode(line).page] = line
            except msgspec.DecodeError:
                continue
    return found


class _Named(msgspec.Struct):
    page: str


_NAME = msgspec.json.Decoder(_Named)
