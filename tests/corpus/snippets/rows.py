"""Rows of the table `code_samples`, as sources of real code make them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.lake.ids import content_id
from pipeline.lake.schema import table

TIME = datetime(2021, 5, 6, tzinfo=UTC)


def sample_row(text: str, version: str = "1", source: SnippetSource = SnippetSource.DOWNSTREAM, **columns: Any) -> Any:
    """A file of the package `user`, or, of another source, a block that stands at line 7 of its place."""
    row = {
        "library": "lib",
        "version": version,
        "source": source,
        "version_evidence": VersionEvidence.DEPENDENCY_MATRIX,
        "version_statement": "Requires-Dist: lib>=1",
        **PLACES[source],
        "text": text,
        "language": Language.PYTHON,
        "created_time": TIME,
        "licence": "MIT",
        "attribution": "Ada",
        "title": None,
        "score": None,
        "accepted": None,
        **columns,
    }
    row["id"] = content_id(*(row[column] for column in ("library", "version", "place", "file", "line", "text")))
    table("code_samples").check(row)
    return row


PLACES: dict[SnippetSource, Any] = {
    SnippetSource.DOWNSTREAM: {
        "origin": "pypi:user",
        "place": "pkg:pypi/user@2.0",
        "url": "https://index.example/user-2.0.tar.gz",
        "file": "user/core.py",
        "line": 1,
    },
    SnippetSource.GITHUB: {
        "origin": "github:Ada/User",
        "place": "Ada/User@0123456789abcdef0123456789abcdef01234567",
        "url": "https://github.example/Ada/User",
        "file": "user/core.py",
        "line": 1,
    },
    SnippetSource.STACK_OVERFLOW: {
        "origin": "stack_overflow:12",
        "place": "12/34",
        "url": "https://stackoverflow.example/a/34",
        "file": "",
        "line": 7,
    },
    SnippetSource.DOCUMENTATION: {
        "origin": "documentation:lib",
        "place": "https://lib.example/guide.html",
        "url": "https://lib.example/guide.html",
        "file": "guide.html",
        "line": 7,
    },
}
