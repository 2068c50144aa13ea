"""The stage that writes the table `api_documents`: a document of every API in every release, from site or docstring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Generic, NamedTuple, cast

from pipeline.api.history.occurrences import Timeline
from pipeline.api.history.parameters import written
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import DocumentSource
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.documentation.content import CALLABLE, content_columns
from pipeline.corpus.documentation.docstrings import read_docstring, version_directives
from pipeline.lake.collector import without_collector
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.reads import Read
from pipeline.lake.rows import AnyRow, ApiDocumentRow, DocumentRow, R, SiteDocumentRow, SymbolRow, Tables
from pipeline.lake.stage import Output, Reject

STATES = Read(
    "symbols",
    ("path", "first_version", "last_version", "canonical_path", "kind", "parameters", "returns", "labels"),
)
"""What a document is made of beside its text."""

_PLACE = frozenset({"id", "first_version", "last_version", "url"})


class _Span(NamedTuple, Generic[R]):
    """A row, and the places of the first and the last release in which it holds."""

    first: int
    last: int
    row: R


_State = _Span[SymbolRow]
_Document = _Span[ApiDocumentRow]


@without_collector()
def api_documents_stage(
    tables: Tables,
    rules: DirectiveRules,
) -> Output:
    """Make the table `api_documents` of a library; the unit is a row of `documents` or of `site_documents`.

    In a release of which a site has a document of the API, that stands in place of the docstring's.
    """
    calendar = _Calendar(Timeline(tables["releases"]))
    states = _States(calendar, tables["symbols"])
    site_spans, foreign = calendar.sites(tables["site_documents"])
    sites = _placed(site_spans, states)
    rows: list[ApiDocumentRow] = []
    failed: list[Reject] = []
    by_path = _spans(calendar, tables["documents"])
    for path in sorted({*by_path, *sites}):
        documents, refused = parted(
            guarded(by_path.get(path, ()), _key, lambda document: _from_docstring(document, states, rules))
        )
        failed += refused
        rows += calendar.coded(_replaced(documents, list(sites.get(path, {}).values())))
    units, rejects = len(tables["documents"]) + len(tables["site_documents"]), [*foreign, *failed]
    return Output({"api_documents": rows}, units, units - len(rejects), rejects)


def _key(span: _Span[DocumentRow]) -> str:
    return f"{span.row['path']} {span.row['first_version']}"


@dataclass(frozen=True, slots=True)
class _Calendar:
    """The releases of the lake by their place in order."""

    timeline: Timeline

    def span(self, row: R) -> _Span[R]:
        """Return an interval-coded row with the places between which it holds."""
        versions, last = self.timeline.versions, row["last_version"]
        return _Span(
            versions.index(row["first_version"]), len(versions) - 1 if last is None else versions.index(last), row
        )

    def sites(self, rows: Iterable[SiteDocumentRow]) -> tuple[list[_Span[SiteDocumentRow]], list[Reject]]:
        """Return the documents of sites, and what is refused: those of releases that the lake does not hold."""
        spans: list[_Span[SiteDocumentRow]] = []
        foreign: list[Reject] = []
        covered = frozenset(self.timeline.versions)
        for row in rows:
            if row["first_version"] in covered:
                spans.append(self.span(row))
            else:
                key = f"{row['path']} {row['first_version']}"
                foreign.append(
                    Reject(key, RejectReason.VERSION_NOT_COVERED, f"{row['url']}: {row['version_statement']}")
                )
        return spans, foreign

    def coded(self, spans: Iterable[_Document]) -> list[ApiDocumentRow]:
        """Return rows for spans: neighbours that say the same are one row."""
        versions = self.timeline.versions
        merged: list[_Document] = []
        for span in sorted(spans, key=lambda span: span.first):
            before = merged[-1] if merged else None
            if before is not None and self._goes_on(before, span):
                merged[-1] = _Span(before.first, span.last, before.row)
            else:
                merged.append(span)
        newest = len(versions) - 1
        return [
            {
                **row,
                "id": content_id(row["library"], row["path"], versions[first]),
                "first_version": versions[first],
                "last_version": None if last == newest else versions[last],
            }
            for first, last, row in merged
        ]

    def _goes_on(self, before: _Document, after: _Document) -> bool:
        row: AnyRow = before.row
        other: AnyRow = after.row
        follows = after.first == before.last + 1 and self.timeline.covers(self.timeline.versions[after.first])
        return follows and all(row[name] == other[name] for name in row.keys() - _PLACE)


def _spans(calendar: _Calendar, rows: Iterable[R]) -> dict[str, list[_Span[R]]]:
    by_path: dict[str, list[_Span[R]]] = defaultdict(list)
    for row in rows:
        by_path[row["path"]].append(calendar.span(row))
    return by_path


class _States:
    """The states of public paths; of a second name those of the symbol that it names."""

    def __init__(self, calendar: _Calendar, symbols: Iterable[SymbolRow]) -> None:
        self._by_path = _spans(calendar, symbols)
        self._by_canonical: dict[str, list[_State]] = defaultdict(list)
        for spans in self._by_path.values():
            for span in spans:
                if span.row["kind"] != SymbolKind.ALIAS:
                    self._by_canonical[span.row["canonical_path"]].append(span)

    def between(self, path: str, first: int, last: int) -> Iterator[_State]:
        """Yield the states of a path, cut to a span of releases."""
        for span in _cut(self._by_path.get(path, ()), first, last):
            if span.row["kind"] != SymbolKind.ALIAS:
                yield span
                continue
            named = _cut(self._by_canonical[span.row["canonical_path"]], span.first, span.last)
            after = span.first
            for other in sorted(named, key=lambda span: span.first):
                if other.first >= after:
                    yield other
                    after = other.last + 1

    def named(self, path: str, place: int) -> dict[str, SymbolRow]:
        """Return the states that a name means in a release, by path: its own, or those of all paths that lead there."""
        if own := next(self.between(path, place, place), None):
            return {path: own.row}
        return {span.row["path"]: span.row for span in _cut(self._by_canonical.get(path, ()), place, place)}


def _cut(spans: Iterable[_Span[R]], first: int, last: int) -> Iterator[_Span[R]]:
    for span in spans:
        start, end = max(span.first, first), min(span.last, last)
        if start <= end:
            yield _Span(start, end, span.row)


def _from_docstring(document: _Span[DocumentRow], states: _States, rules: DirectiveRules) -> Iterator[_Document]:
    row = document.row
    for first, last, state in states.between(row["path"], document.first, document.last):
        yield _Span(first, last, _row(row, state, rules))


def _row(document: DocumentRow, state: SymbolRow, rules: DirectiveRules) -> ApiDocumentRow:
    """Return the document that a docstring and the state of its API make."""
    docstring = document["docstring"]
    called = state["parameters"] if state["kind"] in CALLABLE else ()
    names = {parameter["name"] for parameter in state["parameters"]}
    content = replace(read_docstring(docstring), directives=version_directives(docstring, names, rules))
    return {
        "id": "",
        "library": document["library"],
        "first_version": document["first_version"],
        "last_version": document["last_version"],
        "path": document["path"],
        "canonical_path": document["canonical_path"],
        "kind": state["kind"],
        "signature": _signature(state),
        **content_columns(content, called, state["returns"]),
        "source": DocumentSource.DOCSTRING,
        "url": None,
    }


def _signature(state: SymbolRow) -> str | None:
    unobservable = UNSEEN_SIGNATURE in state["labels"] and not state["parameters"]
    if state["kind"] not in CALLABLE or unobservable:
        return None
    returns = f" -> {state['returns']}" if state["returns"] else ""
    return f"({', '.join(written(state['parameters']))}){returns}"


def _placed(spans: Iterable[_Span[SiteDocumentRow]], states: _States) -> dict[str, dict[int, _Document]]:
    """Return the documents of sites by public path and release, with what the release knows of the API.

    A site may have an API under the path where it is defined: that is said of every public path that leads there, but
    where the site has a document of that path itself. What no release shows (compiled modules) has the site's path.
    """
    placed: dict[str, dict[int, _Document]] = defaultdict(dict)
    named: list[tuple[bool, _Document]] = []
    for span in spans:
        row = cast("ApiDocumentRow", {name: value for name, value in span.row.items() if name != "version_statement"})
        meant = states.named(row["path"], span.first)
        for path, state in meant.items():
            resolved: ApiDocumentRow = {
                **row,
                "path": path,
                "canonical_path": state["canonical_path"],
                "kind": state["kind"],
            }
            named.append((path != row["path"], _Span(span.first, span.last, resolved)))
        if not meant:
            named.append((False, _Span(span.first, span.last, row)))
    for _, document in sorted(named, key=itemgetter(0)):
        placed[document.row["path"]].setdefault(document.first, document)
    return placed


def _replaced(documents: Sequence[_Document], own: Sequence[_Document]) -> Iterator[_Document]:
    """Yield the documents of sites, and those of docstrings in all other releases."""
    yield from own
    places = sorted(span.first for span in own)
    for first, last, row in documents:
        start = first
        for place in (place for place in places if first <= place <= last):
            if start < place:
                yield _Span(start, place - 1, row)
            start = place + 1
        if start <= last:
            yield _Span(start, last, row)
