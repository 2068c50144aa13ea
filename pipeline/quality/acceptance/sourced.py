"""The columns that say of a published row where its code comes from."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from pipeline.core.vocabularies.samples import SnippetSource, VersionEvidence
from pipeline.lake.reads import Read
from pipeline.lake.rows import ReleaseRow, SnippetRow

SOURCE_COLUMNS = (
    "source",
    "version_evidence",
    "version_statement",
    "origin",
    "url",
    "file",
    "line",
    "created_time",
    "purl",
    "licence",
    "attribution",
)
"""The columns of `snippets` that those of a published row are made of."""

PROJECTS = Read(
    "projects",
    (
        "project",
        "project_url",
        "release_time",
        "sdist",
        "sha256",
        "purl",
        "licence",
        "attribution",
        "python",
        "lock_id",
    ),
)
"""What a published row has of its project."""


class SourceColumns(TypedDict):
    """Where the code of a published row comes from."""

    source: str
    version_evidence: str
    version_statement: str | None
    origin: str
    url: str | None
    source_file: str
    source_line: int
    created_time: datetime
    purl: str | None
    licence: str | None
    attribution: str | None


def source_columns(snippet: SnippetRow) -> SourceColumns:
    """Return those columns for what is made from a snippet."""
    return {
        "source": snippet["source"],
        "version_evidence": snippet["version_evidence"],
        "version_statement": snippet["version_statement"],
        "origin": snippet["origin"],
        "url": snippet["url"],
        "source_file": snippet["file"],
        "source_line": snippet["line"],
        "created_time": snippet["created_time"],
        "purl": snippet["purl"],
        "licence": snippet["licence"],
        "attribution": snippet["attribution"],
    }


def columns_of_change(release: ReleaseRow) -> SourceColumns:
    """Return those columns for what is made from a change that a release shows, and from no code."""
    return {
        "source": SnippetSource.CHANGE,
        "version_evidence": VersionEvidence.RELEASE_ARTIFACT,
        "version_statement": None,
        "origin": f"pypi:{release['library']}",
        "url": None,
        "source_file": "",
        "source_line": 1,
        "created_time": release["release_time"],
        "purl": release["purl"],
        "licence": release["licence"],
        "attribution": release["attribution"],
    }
