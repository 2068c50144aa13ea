"""The pages of a documentation site, read once each and kept in the cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import cache_version
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.documentation.fetching import Outside, Site
from pipeline.corpus.documentation.inventory import Entry
from pipeline.corpus.documentation.listing import FAILURES, Listed, refusal
from pipeline.corpus.documentation.pages import PageRead, Refused, read_page
from pipeline.corpus.documentation.rules import DocumentationRules
from pipeline.index.http import Unreachable
from pipeline.lake.guard import attempt
from pipeline.lake.ids import sha256_json
from pipeline.lake.stage import Reject


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
        stored = _stored_pages(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        silent = 0
        with path.open("ab") as file:
            for name in listed.pages:
                if name in stored:
                    yield _DECODER.decode(stored[name])
                    continue
                read = attempt(name, self._page, site, name, listed.entries.get(name, ()))
                if isinstance(read, Reject):
                    # not kept: the next Driftline may read it
                    yield PageRead(name, unread=Refused(name, read.reason, read.detail))
                    continue
                if read.unread is None or read.unread.reason != RejectReason.SOURCE_UNREACHABLE:
                    silent = 0
                    file.write(b"\n" + msgspec.json.encode(read))
                elif (silent := silent + 1) >= self.rules.limits.unreachable_in_a_row:
                    raise Unreachable(read.unread.detail)
                yield read

    def _path(self, site: Site, listed: Listed) -> Path:
        """Return where the pages of a site are kept: another inventory, reader or rule makes it another file."""
        own = plain([self.rules.limits, self.rules.excluded_pages, self.rules.languages, self.directives])
        return (
            self.cache
            / f"{sha256_json([cache_version('documentation_pages'), own, site.url(''), listed.digest])}.jsonl"
        )

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


def _stored_pages(path: Path) -> dict[str, bytes]:
    """Return the lines of a file of pages by page; the last one of a process that was killed may be broken."""
    lines: dict[str, bytes] = {}
    if path.is_file():
        for line in path.read_bytes().splitlines():
            try:
                lines[_NAME.decode(line).page] = line
            except msgspec.DecodeError:
                continue
    return lines


class _Named(msgspec.Struct):
    page: str


_NAME = msgspec.json.Decoder(_Named)
