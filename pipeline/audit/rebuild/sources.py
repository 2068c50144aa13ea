"""Rebuild documents, snippets and uses from the artifact of a release, its documents, or a dependent."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.audit.rebuild.context import RebuildContext, neighbourhood
from pipeline.audit.rebuild.outcome import NotRebuilt, NotReproduced, RebuiltRow, of_id
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.corpus.documentation.stage import api_documents_stage
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.stage import usage_stage
from pipeline.lake.ids import content_id
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import Row
from pipeline.lake.stage import as_tables

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


def document(context: RebuildContext, row: Row) -> RebuiltRow:
    """Read a docstring again, from the artifact of the first release that has it."""
    docstring = context.surface(row["first_version"]).documents.get(row["path"])
    if docstring is None:
        raise NotReproduced(f"{row['path']} has no docstring in the artifact of {row['first_version']}")
    return RebuiltRow(
        {**docstring, "library": context.library}, _INTERVAL, "its last version needs every release between"
    )


def api_document(context: RebuildContext, row: Row) -> RebuiltRow:
    """Parse a document again from the docstring in the snapshot."""
    if row["source"] == DocumentSource.SITE:
        raise NotRebuilt(
            "it was read from a page of the documentation site, which can be edited", code="rebuild_source_can_change"
        )
    output = api_documents_stage(
        {
            "releases": context.rows("releases"),
            "documents": [candidate for candidate in context.rows("documents") if candidate["path"] == row["path"]],
            "symbols": [candidate for candidate in context.rows("symbols") if candidate["path"] == row["path"]],
            "site_documents": [],
        },
        rules=context.rules.directives,
    )
    return RebuiltRow(of_id(output.tables["api_documents"], row["id"], output.rejects))


def snippet(context: RebuildContext, row: Row) -> RebuiltRow:
    """Extract an example again from its docstring, or a piece from its source distribution."""
    if row["source"] == SnippetSource.DOCSTRING:
        return RebuiltRow(_extracted(context, row, _in_docstrings(context, row)))
    if row["source"] == SnippetSource.DOWNSTREAM:
        piece = _extracted(context, row, _in_dependent(context, row))
        return RebuiltRow(piece, frozenset({"example_of"}), "example_of depends on what else its author shows")
    raise NotRebuilt(
        SnippetSource(row["source"]).source.not_rebuilt or f"nothing reads a {row['source']} again",
        code="rebuild_source_not_read",
    )


def uses(context: RebuildContext, row: Row) -> RebuiltRow:
    """Find the uses in a snippet again; the row is the snippet with its published uses in order."""
    stripped: Row = {name: value for name, value in row.items() if name != "uses"}
    output = usage_stage(
        {"releases": [context.releases[row["version"]]], "snippets": [stripped], "symbols": context.rows("symbols")},
        context.rules.usage,
    )
    return RebuiltRow(stripped | {"uses": in_order(output.tables["usages"])})


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return uses ordered by id."""
    return sorted(({name: use[name] for name in sorted(use)} for use in rows), key=lambda use: str(use["id"]))


def _in_docstrings(context: RebuildContext, row: SnippetRow) -> dict[str, list[Row]]:
    return {
        "releases": neighbourhood(context.rows("releases"), row["version"], row["last_version"]),
        "documents": [candidate for candidate in context.rows("documents") if candidate["path"] == row["path"]],
        "code_samples": [],
    }


def _in_dependent(context: RebuildContext, row: Row) -> dict[str, list[Row]]:
    name, _, version = str(row["place"]).removeprefix("pkg:pypi/").partition("@")
    tree = context.tree(name, version)
    text = tree.text(row["file"]) if row["file"] in tree.files else None
    if text is None:
        raise NotRebuilt(
            f"the source distribution of {name} {version} has no such file, or not as text", code="rebuild_file_missing"
        )
    sample = {column: row[column] for column in _SAMPLE_COLUMNS} | {"line": 1, "text": text}
    sample["id"] = content_id("found", row["place"], row["file"])
    return {"releases": [context.releases[row["version"]]], "documents": [], "code_samples": [sample]}


def _extracted(context: RebuildContext, row: Row, tables: dict[str, list[Row]]) -> Row:
    rules = context.rules
    output = snippets_stage(
        as_tables({**tables, "symbols": context.rows("symbols")}),
        rules=rules.snippets,
        files=rules.python_files,
        licences=rules.quality.licences,
        usage=rules.usage,
    )
    return of_id(output.tables["snippets"], row["id"], output.rejects)
