"""Who wrote what a snapshot quotes: the attribution file, and whether every source of the rows is named in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.lake.rows import ApiDocumentRow
from pipeline.lake.schema import Row
from pipeline.snapshots.description.markdown import cell, templates

UNKNOWN = "unknown"

_SPDX = "https://spdx.org/licenses"
_OPERATORS = frozenset({"AND", "OR", "WITH"})


@dataclass(frozen=True, slots=True, order=True)
class Work:
    """A source as the file names it; `place` is a package URL, or what else names it, `url` where a person finds it."""

    place: str
    url: str
    licence: str
    by: str

    def names(self) -> set[tuple[str, str, str]]:
        """Return under which (address, licence, author) the work is found."""
        return {(address, self.licence, self.by) for address in (self.place, self.url) if address}


def attribution_text(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return who wrote the code and texts that the snapshot quotes, under which licence, and that they were changed.

    First the releases of the covered libraries, then code of others, then pages of documentation. `tables` are rows by
    configuration; those that were taken back stand with the others.
    """
    releases = sorted(tables["releases"], key=lambda row: (row["library"], row["release_time"]))
    others = sorted(_others(tables))
    return templates.get_template("attribution.md.jinja").render(
        releases=releases,
        others=others,
        pages=sorted(_pages(tables.get("api_documents", ()))),
        licences=licences({row["licence"] for row in releases} | {work.licence for work in others}),
        cell=cell,
    )


def _others(tables: Mapping[str, Sequence[Row]]) -> set[Work]:
    """Return the works that are no release of a covered library."""
    named = {name for row in tables["releases"] for name in _work(row["purl"], None, row).names()}
    found = {
        _work(row["place"], row["url"], row) for row in tables["snippets"] if row["source"] != SnippetSource.DOCSTRING
    }
    found |= {
        _work(row["purl"], row["project_url"], row)
        for row in tables["projects"]
        if row["outcome"] == ProjectOutcome.TRACED
    }
    found = {work for work in found if (work.place, work.licence, work.by) not in named}
    named |= {name for work in found for name in work.names()}
    for row in _sourced(tables):
        work = _work(row["purl"] or row.get("origin"), row.get("url"), row)
        if not work.names() & named:
            found.add(work)
            named |= work.names()
    return found


def _sourced(tables: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    """Yield the rows of instances that say whose code they hold."""
    for config, rows in tables.items():
        if config not in ("releases", "snippets", "projects"):
            yield from (row for row in rows if "attribution" in row and "licence" in row)


def _work(place: str | None, url: str | None, row: Row) -> Work:
    return Work(place or "", url or "", row["licence"] or UNKNOWN, row["attribution"] or UNKNOWN)


def _pages(documents: Iterable[ApiDocumentRow]) -> set[tuple[str, str]]:
    """Return (library, address) of the pages of documentation sites that are quoted."""
    return {
        (row["library"], row["url"].partition("#")[0])
        for row in documents
        if row["source"] == DocumentSource.SITE and row["url"]
    }


def licences(stated: Iterable[str | None]) -> list[tuple[str, str]]:
    """Return the licences that SPDX expressions name, sorted, each with its page of SPDX or nothing.

    What is no SPDX expression is named with its source alone.
    """
    names = {name for text in stated if text for name in _names(text)}
    return [(name, "" if name.startswith("LicenseRef-") else f"{_SPDX}/{name}.html") for name in sorted(names)]


def _names(text: str) -> set[str]:
    try:
        expression = canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return set()
    return set(expression.replace("(", " ").replace(")", " ").split()) - _OPERATORS


@dataclass(frozen=True, slots=True)
class Source:
    """What a row says of its source."""

    purl: str | None
    url: str | None
    licence: str | None
    attribution: str | None


def unnamed(text: str, sources: Iterable[Source]) -> list[Source]:
    """Return the sources that the attribution file does not name with licence and author, sorted."""
    named: dict[str, list[set[str]]] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            cells = {part.strip() for part in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]}
            for part in cells:
                named.setdefault(part, []).append(cells)
    return sorted((source for source in sources if not _is_named(source, named)), key=str)


def _is_named(source: Source, named: Mapping[str, Sequence[set[str]]]) -> bool:
    wanted = {cell(source.licence or UNKNOWN), cell(source.attribution or UNKNOWN)}
    addresses = [cell(address) for address in (source.purl, source.url) if address]
    return not addresses or any(wanted <= cells for address in addresses for cells in named.get(address, ()))
