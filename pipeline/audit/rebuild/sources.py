"""Rebuild documents, snippets and uses from the artifact of a release, its documents, or a dependent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pipeline.audit.rebuild.context import RebuildContext, neighbourhood
from pipeline.audit.rebuild.outcome import NotRebuilt, NotReproduced, RebuiltRow, of_id
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.corpus.documentation.stage import api_documents_stage
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.stage import usage_stage
from pipeline.lake.ids import content_id
from pipeline.lake.rows import AnyRow, ApiDocumentRow, CodeSampleRow, DocumentRow, SnippetRow, Tables, UsageRow

_SAMPLE_COLUMNS = (
    *(
        "library",
        "version",
        "language",
        "source",
        "version_evidence",
        "version_statement",
        "origin",
        "place",
        "url",
        "title",
    ),
    *("score", "accepted", "file", "created_time", "licence", "attribution"),
)
_INTERVAL = frozenset({"first_version", "last_version"})


class SnippetWithUses(SnippetRow):
    """A snippet with its published uses in order."""

    uses: Sequence[AnyRow]


def document(context: RebuildContext, row: DocumentRow) -> RebuiltRow:
    """Read a docstring again, from the artifact of the first release that has it."""
    docstring = context.surface(row["first_version"]).documents.get(row["path"])
    if docstring is None:
        raise NotReproduced(f"{row['path']} has no docstring in the artifact of {row['first_version']}")
    return RebuiltRow(
        {**docstring, "library": context.library}, _INTERVAL, "its last version needs every release between"
    )


def api_document(context: RebuildContext, row: ApiDocumentRow) -> RebuiltRow:
    """Parse a document again from the docstring in the snapshot."""
    if row["source"] == DocumentSource.SITE:
        raise NotRebuilt(
            "it was read from a page of the documentation site, which can be edited", code="rebuild_source_can_change"
        )
    output = api_documents_stage(
        {
            "releases": context.tables["releases"],
            "documents": [candidate for candidate in context.tables["documents"] if candidate["path"] == row["path"]],
            "symbols": [candidate for candidate in context.tables["symbols"] if candidate["path"] == row["path"]],
            "site_documents": [],
        },
        rules=context.rules.directives,
    )
    return RebuiltRow(of_id(output.tables["api_documents"], row["id"], output.rejects))


def snippet(context: RebuildContext, row: SnippetRow) -> RebuiltRow:
    """Extract an example again from its docstring, or a piece from its source distribution."""
    if row["source"] == SnippetSource.DOCSTRING:
        return RebuiltRow(_extracted(context, row, _in_docstrings(context, row)))
    if row["source"] == SnippetSource.DOWNSTREAM and row["example_of"] == []:
        raise NotRebuilt("another release of its package has another form of it", code="rebuild_form")
    if row["source"] == SnippetSource.DOWNSTREAM:
        piece = _extracted(context, row, _in_dependent(context, row))
        return RebuiltRow(piece, frozenset({"example_of"}), "example_of depends on what else its author shows")
    raise NotRebuilt(
        SnippetSource(row["source"]).source.not_rebuilt or f"nothing reads a {row['source']} again",
        code="rebuild_source_not_read",
    )


def uses(context: RebuildContext, row: SnippetWithUses) -> RebuiltRow:
    """Find the uses in a snippet again; the row is the snippet with its published uses in order."""
    output = usage_stage(
        {"releases": [context.releases[row["version"]]], "snippets": [row], "symbols": context.tables["symbols"]},
        context.rules.usage,
    )
    return RebuiltRow({**row, "uses": in_order(output.tables["usages"])})


def in_order(rows: Sequence[UsageRow]) -> list[AnyRow]:
    """Return uses ordered by id."""
    return sorted((dict(sorted(use.items())) for use in rows), key=lambda use: str(use["id"]))


def _in_docstrings(context: RebuildContext, row: SnippetRow) -> Tables:
    return {
        "releases": neighbourhood(context.tables["releases"], row["version"], row["last_version"]),
        "documents": [candidate for candidate in context.tables["documents"] if candidate["path"] == row["path"]],
        "code_samples": [],
    }


def _in_dependent(context: RebuildContext, row: SnippetRow) -> Tables:
    name, _, version = str(row["place"]).removeprefix("pkg:pypi/").partition("@")
    tree = context.tree(name, version)
    text = tree.text(row["file"]) if row["file"] in tree.files else None
    if text is None:
        raise NotRebuilt(
            f"the source distribution of {name} {version} has no such file, or not as text", code="rebuild_file_missing"
        )
    columns: AnyRow = row
    own = {"id": content_id("found", row["place"], row["file"]), "line": 1, "text": text}
    sample = cast("CodeSampleRow", {column: columns[column] for column in _SAMPLE_COLUMNS} | own)
    return {"releases": [context.releases[row["version"]]], "documents": [], "code_samples": [sample]}


def _extracted(context: RebuildContext, row: SnippetRow, tables: Tables) -> SnippetRow:
    rules = context.rules
    output = snippets_stage(
        {**tables, "symbols": context.tables["symbols"]},
        rules=rules.snippets,
        files=rules.python_files,
        licences=rules.quality.licences,
        usage=rules.usage,
    )
    return of_id(output.tables["snippets"], row["id"], output.rejects)
