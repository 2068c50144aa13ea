"""The documentation sites of libraries: a source of code, and of documents of APIs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import DocumentSource, Language, SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.documentation.inventory import Entry
from pipeline.corpus.documentation.pages import Block, PageDocument, PageRead, Refused
from pipeline.corpus.documentation.places import DatedSite, Places
from pipeline.corpus.documentation.read_the_docs import ReadTheDocs
from pipeline.corpus.documentation.reading import SiteReader
from pipeline.corpus.documentation.rules import DocumentationRules
from pipeline.index.http import Fetcher
from pipeline.index.release_selection import Period
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ReleaseRow, SiteDocumentRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True)
class Documentation:
    """The documentation sites that the rules name.

    `find` gives the code of their pages, `documents` what they say of each API. A page is fetched and read once: what
    it gave is in the cache for the other, and for the next time.
    """

    rules: DocumentationRules
    reader: SiteReader
    places: Places

    @classmethod
    def of(
        cls,
        fetcher: Fetcher,
        rules: DocumentationRules,
        directives: DirectiveRules,
        cache: Path,
        api: str,
        token: str | None = None,
    ) -> Documentation:
        """Make the source: `api` is the address of Read the Docs' API v3; a token lets more requests through."""
        keep_s = rules.limits.keep_answers_hours * 3600
        read_the_docs = ReadTheDocs(fetcher, api, cache, keep_s, token)
        return cls(rules, SiteReader(rules, directives, cache), Places(rules, fetcher, read_the_docs))

    @property
    def name(self) -> SnippetSource:
        """The source that its code is said to be of."""
        return SnippetSource.DOCUMENTATION

    def unavailable(self) -> str | None:
        """Return why no site can be asked: the rules name none, or Read the Docs, where all of them are, is silent."""
        return self._why

    @cached_property
    def _why(self) -> str | None:
        if not self.rules.sites:
            return "curation_rules/documentation.yaml names no site; add one to read documentation sites"
        if any(site.read_the_docs is None for site in self.rules.sites):
            return None
        api = self.places.read_the_docs
        why = api.fetcher.no_way_to(api.api)
        return f"{why}. Run again where Read the Docs can be reached." if why else None

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Yield the blocks of code of each site that is of a release in the period, or why a site or page has none.

        Blocks that state another language than Python are no examples. Errors: Unreachable.
        """
        for dated in self.places.sites(library, releases, period):
            if isinstance(dated, Refused):
                yield _reject(library, dated)
                continue
            for page in self.reader.pages(dated.site, dated.listed):
                if page.unread is not None:
                    yield _reject(_of(dated), page.unread)
                yield from (_sample(dated, page.page, block) for block in page.blocks)

    def documents(
        self, library: str, releases: Sequence[ReleaseRow], period: Period
    ) -> Iterator[SiteDocumentRow | Reject]:
        """Yield a row of `site_documents` for each API that an inventory lists, or why it gives none.

        Errors: Unreachable.
        """
        for dated in self.places.sites(library, releases, period):
            if isinstance(dated, Refused):
                yield _reject(library, dated)
                continue
            yield from (_reject(_of(dated), refused) for refused in dated.listed.refused)
            names = {entry.name for entries in dated.listed.entries.values() for entry in entries}
            written: set[str] = set()
            for page in self.reader.pages(dated.site, dated.listed):
                yield from _documents(dated, page, names, written)


def _of(dated: DatedSite) -> str:
    return f"{dated.release['library']} {dated.release['version']}"


def _reject(of: str, refused: Refused) -> Reject:
    return Reject(f"{of} {refused.key}", refused.reason, refused.detail)


def _sample(dated: DatedSite, page: str, block: Block) -> CodeSample:
    release = dated.release
    return CodeSample(
        source=SnippetSource.DOCUMENTATION,
        library=release["library"],
        version=release["version"],
        version_evidence=VersionEvidence.RELEASE_ARTIFACT,
        version_statement=dated.evidence,
        origin=f"documentation:{release['library']}",
        place=dated.site.url(page),
        url=dated.site.url(page, block.anchor),
        file=page,
        line=block.line,
        text=f"{block.text}\n",
        language=Language.PYTHON,
        created_time=release["release_time"],
        licence=release["licence"],
        attribution=release["attribution"],
        title=block.title or None,
    )


def _documents(
    dated: DatedSite, page: PageRead, names: set[str], written: set[str]
) -> Iterator[SiteDocumentRow | Reject]:
    """Yield a row or a reject for each entry that the inventory has of a page; `written` are the names so far."""
    rows = {row["path"]: row for row in page.documents}
    why = {refused.key: refused for refused in page.refused}
    for entry in dated.listed.entries.get(page.page, ()):
        if refused := _out_of_scope(entry, dated.release, names, written):
            yield _reject(_of(dated), refused)
        elif page.unread is not None:
            yield _reject(_of(dated), Refused(entry.name, page.unread.reason, page.unread.detail))
        elif entry.name in why:
            yield _reject(_of(dated), why[entry.name])
        else:
            written.add(entry.name)
            yield _row(dated, rows[entry.name])


def _out_of_scope(entry: Entry, release: ReleaseRow, names: set[str], written: set[str]) -> Refused | None:
    if entry.name.partition(".")[0] not in release["import_names"]:
        return Refused(entry.name, RejectReason.OUT_OF_SCOPE, "not a name of the library")
    if entry.anchor != entry.name and entry.anchor in names:
        return Refused(entry.name, RejectReason.DUPLICATE, f"another name of {entry.anchor}")
    if entry.name in written:
        return Refused(entry.name, RejectReason.DUPLICATE, "the inventory has the name twice")
    return None


def _row(dated: DatedSite, document: PageDocument) -> SiteDocumentRow:
    library, version = dated.release["library"], dated.release["version"]
    return {
        "id": content_id(library, document["path"], version),
        "library": library,
        "first_version": version,
        "last_version": version,
        "canonical_path": None,
        **document,
        "source": DocumentSource.SITE,
        "version_statement": dated.evidence,
    }
