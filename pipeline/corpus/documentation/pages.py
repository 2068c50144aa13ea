"""One page of a documentation site: the documents of its APIs, and its blocks of code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
from bs4 import Tag

from pipeline.api.surface.extract.directives import demote_later_additions, name_parameters
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.documentation import mkdocs, sphinx
from pipeline.corpus.documentation.content import CALLABLE, Anchored, ContentColumns, content_columns
from pipeline.corpus.documentation.inventory import Entry
from pipeline.corpus.documentation.markup import (
    HEADINGS,
    LINE,
    PROMPTS,
    NoPage,
    code_of,
    folded,
    is_example,
    main_part,
    set_apart,
)
from pipeline.corpus.documentation.signatures import read_parameters

KINDS: Mapping[str, SymbolKind] = {
    "module": SymbolKind.MODULE,
    "class": SymbolKind.CLASS,
    "exception": SymbolKind.CLASS,
    "function": SymbolKind.FUNCTION,
    "decorator": SymbolKind.FUNCTION,
    "method": SymbolKind.METHOD,
    "classmethod": SymbolKind.METHOD,
    "staticmethod": SymbolKind.METHOD,
    "decoratormethod": SymbolKind.METHOD,
    "property": SymbolKind.PROPERTY,
    "attribute": SymbolKind.ATTRIBUTE,
    "data": SymbolKind.ATTRIBUTE,
    "type": SymbolKind.ATTRIBUTE,
}
"""What the roles of Sphinx' Python domain stand for."""


class Block(msgspec.Struct, frozen=True):
    """A block of code of a page, or all interactive ones below one heading: first line, heading, anchor and text."""

    line: int
    title: str
    anchor: str
    text: str


class Refused(msgspec.Struct, frozen=True):
    """An API of which a page has no document, or a page that cannot be read."""

    key: str
    reason: RejectReason
    detail: str


class PageDocument(ContentColumns):
    """A row of `site_documents` without what is known of the site."""

    path: str
    kind: str
    signature: str | None
    url: str


class PageRead(msgspec.Struct, frozen=True):
    """What a page gave: documents as rows without library and versions, blocks of code, and what was refused.

    `unread` is why there is nothing, of a page that could not be read.
    """

    page: str
    documents: list[PageDocument] = []
    blocks: list[Block] = []
    refused: list[Refused] = []
    unread: Refused | None = None


def read_page(
    page: str,
    content: bytes,
    entries: Sequence[Entry],
    rules: DirectiveRules,
    languages: frozenset[str],
    url: Callable[[str], str],
    *,
    wants_blocks: bool = True,
) -> PageRead:
    """Read a page: what it says of the APIs at the anchors of these entries, and its blocks of code if they are wanted.

    Code in other languages than these is none. `url` gives the address of an anchor.
    """
    if not entries and b"<pre" not in content:
        return PageRead(page)
    try:
        main = main_part(content)
    except NoPage as error:
        return PageRead(page, unread=Refused(page, RejectReason.UNREADABLE, f"{page}: {error}"))
    set_apart(main, languages)
    by_id = {str(tag["id"]): tag for tag in main.find_all(id=True)}
    read = mkdocs.read_object if mkdocs.is_written_by_mkdocstrings(main) else sphinx.read_object
    documents: list[PageDocument] = []
    refused: list[Refused] = []
    for entry in entries:
        element = by_id.get(entry.anchor)
        anchored = read(element) if element is not None else None
        if anchored is None:
            detail = f"{page} has no API at the anchor {entry.anchor!r}"
            refused.append(Refused(entry.name, RejectReason.VANISHED, detail))
        elif anchored.content.is_empty:
            refused.append(Refused(entry.name, RejectReason.NO_TEXT, f"{page} says nothing but how it is called"))
        else:
            documents.append(_document(entry, anchored, rules, url(entry.anchor)))
    return PageRead(page, documents, _joined(_blocks(main)) if wants_blocks else [], refused)


def _document(entry: Entry, anchored: Anchored, rules: DirectiveRules, url: str) -> PageDocument:
    kind, signature = KINDS[entry.role], anchored.signature
    parameters = read_parameters(signature) if kind in CALLABLE else []
    names = {parameter["name"] for parameter in parameters}
    directives = demote_later_additions(name_parameters(anchored.content.directives, names, rules))
    content = replace(anchored.content, directives=tuple(directives))
    return {
        "path": entry.name,
        "kind": kind,
        "signature": signature if kind in CALLABLE else None,
        "url": url,
        **content_columns(content, parameters, anchored.annotation),
    }


def _blocks(main: Tag) -> Iterator[Block]:
    """Yield the blocks of code that are wanted, each with the heading or the API that it stands below."""
    title, anchor = "", ""
    for tag in main.find_all([*HEADINGS, "pre"]):
        if tag.name != "pre":
            title, anchor = folded(tag), _anchor(tag)
        elif is_example(tag) and (text := code_of(tag)):
            term = _term(tag)
            of = (title, anchor) if term is None else (str(term["id"]), str(term["id"]))
            yield Block(int(str(tag.get(LINE, "1"))), *of, text)


def _anchor(heading: Tag) -> str:
    own = heading.get("id")
    section = heading.parent
    return str(own or (section.get("id") if section is not None else None) or "")


def _term(tag: Tag) -> Tag | None:
    """Return the term of the API in whose description an element stands."""
    for around in tag.find_parents("dl"):
        if sphinx.is_object(around):
            return around.find("dt", recursive=False, id=True)
    return None


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks in order; the interactive ones below one heading are one, since each needs those before it."""
    joined: list[Block] = []
    places: dict[tuple[str, str], int] = {}
    for block in blocks:
        interactive, of = block.text.startswith(PROMPTS), (block.title, block.anchor)
        if interactive and of in places:
            before = joined[places[of]]
            joined[places[of]] = msgspec.structs.replace(before, text=f"{before.text}\n\n{block.text}")
            continue
        if interactive:
            places[of] = len(joined)
        joined.append(block)
    return joined
