"""The columns that say of a published row where its code comes from."""

from __future__ import annotations

from pipeline.lake import Row

_OF_SOURCE = (
    "source",
    "version_evidence",
    "stated",
    "origin",
    "url",
    "created_time",
    "purl",
    "licence",
    "attribution",
)


def source_columns(snippet: Row) -> Row:
    """Return those columns for what is made from a snippet."""
    copied = {column: snippet[column] for column in _OF_SOURCE}
    return copied | {"source_file": snippet["file"], "source_line": snippet["line"]}
