"""Documents, snippets and uses made again: from the artifact of a release, from its documents, from a dependent."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.audit.rebuild.context import World, neighbourhood
from pipeline.audit.rebuild.outcome import Made, NotMade, NotRebuilt, of_id
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.corpus.documentation.stage import api_documents_stage
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.stage import usage_stage
from pipeline.lake.ids import content_id
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import Row
from pipeline.lake.stage import as_tables

_FOUND = (
    *("library", "version", "language", "source", "version_evidence", "stated", "origin", "place", "url", "title"),
    *("score", "accepted", "file", "created_time", "licence", "attribution"),
)
_HELD = frozenset({"first_version", "last_version"})


def document(world: World, row: Row) -> Made:
    """Read a docstring again, from the artifact of the first release that has it."""
    found = world.surface(row["first_version"]).documents.get(row["path"])
    if found is None:
        raise NotMade(f"{row['path']} has no docstring in the artifact of {row['first_version']}")
    return Made({**found, "library": world.library}, _HELD, "how long it held needs every release between")


def api_document(world: World, row: Row) -> Made:
    """Read the parts of a document again from the docstring that the snapshot has."""
    if row["source"] == DocumentSource.SITE:
        raise NotRebuilt("it was read from a page of the documentation site, which can be edited")
    output = api_documents_stage(
        {
            "releases": world.rows("releases"),
            "documents": [one for one in world.rows("documents") if one["path"] == row["path"]],
            "symbols": [one for one in world.rows("symbols") if one["path"] == row["path"]],
            "site_documents": [],
        },
        rules=world.rules.directives,
    )
    return Made(of_id(output.tables["api_documents"], row["id"], output.rejects))


def snippet(world: World, row: Row) -> Made:
    """Take an example out of its docstring again, or a piece out of the source distribution that it stands in."""
    if row["source"] == SnippetSource.DOCSTRING:
        return Made(_taken(world, row, _in_docstrings(world, row)))
    if row["source"] == SnippetSource.DOWNSTREAM:
        found = _taken(world, row, _in_dependent(world, row))
        return Made(found, frozenset({"example_of"}), "example_of depends on what else its author shows")
    raise NotRebuilt(SnippetSource(row["source"]).source.not_rebuilt or f"nothing reads a {row['source']} again")


def uses(world: World, row: Row) -> Made:
    """Find the uses in a snippet again; the row is the snippet with its uses as they stand, in order."""
    stripped: Row = {name: value for name, value in row.items() if name != "uses"}
    output = usage_stage(
        {"releases": [world.releases[row["version"]]], "snippets": [stripped], "symbols": world.rows("symbols")},
        world.rules.usage,
    )
    return Made(stripped | {"uses": in_order(output.tables["usages"])})


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return uses by their ids, without the columns that are not published."""
    return sorted(({name: use[name] for name in sorted(use)} for use in rows), key=lambda use: str(use["id"]))


def _in_docstrings(world: World, row: SnippetRow) -> dict[str, list[Row]]:
    return {
        "releases": neighbourhood(world.rows("releases"), row["version"], row["last_version"]),
        "documents": [one for one in world.rows("documents") if one["path"] == row["path"]],
        "found": [],
    }


def _in_dependent(world: World, row: Row) -> dict[str, list[Row]]:
    name, _, version = str(row["place"]).removeprefix("pkg:pypi/").partition("@")
    tree = world.tree(name, version)
    text = tree.text(row["file"]) if row["file"] in tree.files else None
    if text is None:
        raise NotRebuilt(f"the source distribution of {name} {version} has no such file, or not as text")
    found = {column: row[column] for column in _FOUND} | {"line": 1, "text": text}
    found["id"] = content_id("found", row["place"], row["file"])
    return {"releases": [world.releases[row["version"]]], "documents": [], "found": [found]}


def _taken(world: World, row: Row, tables: dict[str, list[Row]]) -> Row:
    rules = world.rules
    output = snippets_stage(
        as_tables({**tables, "symbols": world.rows("symbols")}),
        rules=rules.snippets,
        files=rules.python_files,
        licences=rules.quality.licences,
        usage=rules.usage,
    )
    return of_id(output.tables["snippets"], row["id"], output.rejects)
