"""The attribution file of a snapshot, and the check that it names every source of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.lake.rows import AnyRow, ApiDocumentRow, Configurations
from pipeline.snapshots.description.markdown import cell, templates

UNKNOWN = "unknown"

_SPDX = "https://spdx.org/licenses"
_OPERATORS = frozenset({"AND", "OR", "WITH"})


@dataclass(frozen=True, slots=True, order=True)
class Work:
    """A source in the attribution file; `place` is a package URL or another identifier, `url` is for people."""

    place: str
    url: str
    licence: str
    by: str

    def names(self) -> set[tuple[str, str, str]]:
        """Return the (address, licence, author) triples of the work."""
        return {(address, self.licence, self.by) for address in (self.place, self.url) if address}


def attribution_text(tables: Configurations) -> str:
    """Return the authors and licences of quoted code and texts, with a note that they were changed.

    The releases of the covered libraries come first, then other code, then pages of documentation. `tables` are rows by
    configuration, deprecated ones included.
    """
    releases = sorted(tables["releases"], key=lambda row: (row["library"], row["release_time"]))
    others = sorted(_others(tables))
    return templates.get_template("attribution.md.jinja").render(
        releases=releases,
        others=others,
        pages=sorted(_pages(tables["api_documents"])),
        licences=licences({row["licence"] for row in releases} | {work.licence for work in others}),
        cell=cell,
    )


def _others(tables: Configurations) -> set[Work]:
    """Return the works that are no release of a covered library."""
    named = {name for row in tables["releases"] for name in _work(row["purl"], None, row).names()}
    works = {
        _work(row["place"], row["url"], row)
        for row in tables["snippets"]
        if row["source"] not in (SnippetSource.DOCSTRING, SnippetSource.OWN_TEST, SnippetSource.CHANGE)
    }
    works |= {
        _work(row["purl"], row["project_url"], row)
        for row in tables["projects"]
        if row["outcome"] == ProjectOutcome.TRACED
    }
    works = {work for work in works if (work.place, work.licence, work.by) not in named}
    named |= {name for work in works for name in work.names()}
    for row in _sourced(tables):
        work = _work(row["purl"] or row.get("origin"), row.get("url"), row)
        if not work.names() & named:
            works.add(work)
            named |= work.names()
    return works


def _sourced(tables: Configurations) -> Iterator[AnyRow]:
    """Yield the rows of instances that name the author of their code."""
    for config, rows in tables.items():
        if config not in ("releases", "snippets", "projects"):
            yield from (row for row in rows if "attribution" in row and "licence" in row)


def _work(place: str | None, url: str | None, row: AnyRow) -> Work:
    return Work(place or "", url or "", row["licence"] or UNKNOWN, row["attribution"] or UNKNOWN)


def _pages(documents: Iterable[ApiDocumentRow]) -> set[tuple[str, str]]:
    """Return (library, address) of the quoted pages of documentation sites."""
    return {
        (row["library"], row["url"].partition("#")[0])
        for row in documents
        if row["source"] == DocumentSource.SITE and row["url"]
    }


def licences(expressions: Iterable[str | None]) -> list[tuple[str, str]]:
    """Return the licences in SPDX expressions, sorted, each with its SPDX page or nothing; other texts are skipped."""
    names = {name for text in expressions if text for name in _names(text)}
    return [(name, "" if name.startswith("LicenseRef-") else f"{_SPDX}/{name}.html") for name in sorted(names)]


def _names(text: str) -> set[str]:
    try:
        expression = canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return set()
    return set(expression.replace("(", " ").replace(")", " ").split()) - _OPERATORS


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a row."""

    purl: str | None
    url: str | None
    licence: str | None
    attribution: str | None


def unnamed(text: str, sources: Iterable[Source]) -> list[Source]:
    """Return the sources that an attribution file does not name with licence and author, sorted."""
    named: dict[str, list[set[str]]] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            cells = {part.strip() for part in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]}
            for part in cells:
                named.setdefault(part, []).append(cells)
    return sorted((source for source in sources if not _is_named(source, named)), key=str)


def _is_named(source: Source, named: Mapping[str, Sequence[set[str]]]) -> bool:
    required = {cell(source.licence or UNKNOWN), cell(source.attribution or UNKNOWN)}
    addresses = [cell(address) for address in (source.purl, source.url) if address]
    return not addresses or any(required <= cells for address in addresses for cells in named.get(address, ()))
