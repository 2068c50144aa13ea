"""What a documentation site lists: the APIs on its pages and the pages that have code, by inventory or search index."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from more_itertools import first

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.documentation.fetching import Outside, Site, TooLarge, parse_json
from pipeline.corpus.documentation.inventory import BadInventory, Entry, Head, read_entries, read_head
from pipeline.corpus.documentation.pages import KINDS, Refused
from pipeline.corpus.documentation.rules import DocumentationRules
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.lake.ids import sha256_json

_INVENTORY = "objects.inv"
_SEARCH_INDEX = "search/search_index.json"
_REASONS: Mapping[type[Exception], RejectReason] = {
    NotFound: RejectReason.VANISHED,
    TooLarge: RejectReason.TOO_LARGE,
    Outside: RejectReason.OUT_OF_SCOPE,
    BadAnswer: RejectReason.BAD_ANSWER,
    BadInventory: RejectReason.BAD_ANSWER,
    Unreachable: RejectReason.SOURCE_UNREACHABLE,
}
FAILURES = tuple(_REASONS)
"""What may be wrong with a page or an inventory."""


def refusal(key: str, error: Exception) -> Refused:
    """Return why something of a site cannot be read."""
    reason = first(reason for kind, reason in _REASONS.items() if isinstance(error, kind))
    return Refused(key, reason, str(error))


@dataclass(frozen=True, slots=True)
class Listed:
    """What a site lists: its head, the APIs by page, and lines that could not be read or pages beyond the limit.

    `pages` are all pages worth reading, in order; `digest` tells whether the site is still the same.
    """

    head: Head
    entries: Mapping[str, Sequence[Entry]]
    pages: Sequence[str]
    refused: Sequence[Refused]
    digest: str


@dataclass(slots=True)
class _Listing:
    """An inventory as far as it was read: its Python entries by page, the pages of text, and what is wrong."""

    entries: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    texts: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def read(self, file: io.BytesIO, head: Head, max_bytes: int) -> None:
        """Read entries; where the inventory breaks off, what came before holds."""
        try:
            for entry in read_entries(file, head, max_bytes):
                self._add(entry)
        except BadInventory as error:
            self.refused.append(Refused(_INVENTORY, RejectReason.BAD_ANSWER, f"{_INVENTORY}: {error}"))

    def _add(self, entry: Entry | str) -> None:
        if isinstance(entry, str):
            self.refused.append(Refused(entry, RejectReason.BAD_ANSWER, f"{_INVENTORY}: a line that is no entry"))
        elif entry.domain == "py" and entry.role in KINDS:
            self.entries[entry.page].append(entry)
        elif (entry.domain, entry.role) == ("std", "doc"):
            self.texts.append(entry.page)


def list_site(site: Site, rules: DocumentationRules) -> Listed:
    """Read the inventory of a site; the search index of MkDocs tells of pages that no inventory lists.

    Errors: those of Site.read(), BadInventory where nothing can be read of it.
    """
    limits = rules.limits
    listing = _Listing()
    try:
        packed = site.read(_INVENTORY, limits.max_inventory_bytes)
    except NotFound as error:
        try:
            packed, head, texts = b"", Head(0, "", ""), _searched(site, rules)
        except NotFound:
            raise NotFound(f"{error}, and no {_SEARCH_INDEX} either") from None
    else:
        file = io.BytesIO(packed)
        head = read_head(file)
        listing.read(file, head, limits.max_inventory_bytes)
        texts = listing.texts or _searched_if_there(site, rules, listing.refused)
    pages = sorted({*listing.entries, *filter(rules.wants_blocks, texts)})
    within_limit, beyond = pages[: limits.max_pages], pages[limits.max_pages :]
    refused = [Refused(page, RejectReason.TOO_LARGE, f"{page}: beyond {limits.max_pages} pages") for page in beyond]
    digest = sha256_json([packed.hex(), within_limit])
    return Listed(head, listing.entries, within_limit, [*listing.refused, *refused], digest)


def _searched_if_there(site: Site, rules: DocumentationRules, refused: list[Refused]) -> list[str]:
    """Return the pages of the search index, none where the site has no such index, as sites of Sphinx."""
    try:
        return _searched(site, rules)
    except NotFound:
        return []
    except FAILURES as error:
        refused.append(refusal(_SEARCH_INDEX, error))
        return []


def _searched(site: Site, rules: DocumentationRules) -> list[str]:
    """Return the pages that MkDocs' search index lists."""
    answer = parse_json(site.read(_SEARCH_INDEX, rules.limits.max_inventory_bytes), _SEARCH_INDEX)
    docs = answer.get("docs") if isinstance(answer, dict) else None
    if not isinstance(docs, list):
        raise BadAnswer(f"{_SEARCH_INDEX}: no list of pages")
    places = (doc.get("location") for doc in docs if isinstance(doc, dict))
    return sorted({place.partition("#")[0] for place in places if isinstance(place, str)})
