"""The columns that say of a published row where its code comes from."""

from __future__ import annotations

from pipeline.core.vocabularies.samples import SnippetSource, VersionEvidence
from pipeline.lake.schema import Row

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


def columns_of_change(release: Row) -> Row:
    """Return those columns for what is made from a change that a release shows, and from no code."""
    return {
        "source": SnippetSource.CHANGE,
        "version_evidence": VersionEvidence.RELEASE_ARTIFACT,
        "stated": None,
        "origin": f"pypi:{release['library']}",
        "url": None,
        "source_file": "",
        "source_line": 1,
        "created_time": release["release_time"],
        "purl": release["purl"],
        "licence": release["licence"],
        "attribution": release["attribution"],
    }
