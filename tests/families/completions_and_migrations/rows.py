"""Builders of rows as the earlier stages make them; every column is there, so that what is made of them can be written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind, LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.core.vocabularies.samples import (
    Access,
    Evidence,
    Language,
    SnippetSource,
    SnippetStyle,
    UsageForm,
    VersionEvidence,
)
from pipeline.core.vocabularies.surface import ArtifactKind, PublicBecause, SourceKind, SymbolKind
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    ChangeRow,
    DocumentRow,
    LifecycleRow,
    ReleaseRow,
    SnippetRow,
    SymbolRow,
    UsageRow,
    VerdictRow,
)

LIBRARY = "lib"
TAGGING = load(RULES / "tags.yaml", LifecycleRules)
CODEMODS = load(RULES / "codemods.yaml", CodemodRules)
EXECUTABLE_SOURCES = frozenset({SnippetSource.DOCSTRING, SnippetSource.DOCUMENTATION, SnippetSource.STACK_OVERFLOW})
START = datetime(2021, 1, 1, tzinfo=UTC)


def releases(*versions: str, before: str | None = None, start: datetime = START) -> list[ReleaseRow]:
    """Consecutive releases, a month apart; `before` is a release that the lake does not hold."""
    predecessors = [before, *versions]
    return [_release(version, predecessors[at], start + timedelta(days=30 * at)) for at, version in enumerate(versions)]


def _release(version: str, predecessor: str | None, time: datetime) -> ReleaseRow:
    return {
        "library": LIBRARY,
        "version": version,
        "release_time": time,
        "predecessor": predecessor,
        "requires_python": None,
        "artifact": f"lib-{version}-py3-none-any.whl",
        "artifact_kind": ArtifactKind.WHEEL,
        "sha256": "0" * 64,
        "size": 1,
        "url": "file:///lib.whl",
        "import_names": ["lib"],
        "licence": "MIT",
        "licence_stated": "MIT",
        "attribution": "Ada",
        "purl": f"pkg:pypi/lib@{version}",
    }


def snippet(
    code: str, path: str, first: str, last: str | None = None, preamble: str = "", **columns: Any
) -> SnippetRow:
    """An example in the documentation of `path`, the same from the first to the last version."""
    row: SnippetRow = {
        "id": content_id(LIBRARY, first, path, code),
        "library": LIBRARY,
        "version": first,
        "last_version": last or first,
        "path": path,
        "language": Language.PYTHON,
        "source": SnippetSource.DOCSTRING,
        "style": SnippetStyle.DOCTEST,
        "version_evidence": VersionEvidence.RELEASE_ARTIFACT,
        "version_statement": None,
        "preamble": preamble,
        "code": code,
        "checks": [],
        "example_of": None,
        "redacted": 0,
        "comments_removed": 0,
        "origin": f"pypi:{LIBRARY}",
        "place": f"pkg:pypi/{LIBRARY}@{first}",
        "url": None,
        "title": None,
        "score": None,
        "accepted": None,
        "file": "lib/core.py",
        "line": 7,
        "created_time": START,
        "licence": "MIT",
        "attribution": "Ada",
        "purl": f"pkg:pypi/lib@{first}",
    }
    return {**row, **columns}


def usages(snippet: SnippetRow, paths: Mapping[str, str]) -> list[UsageRow]:
    """Every `name(` in a snippet's text, with the arguments it gives by name, as a use of the path that `paths` gives."""
    text = (snippet["preamble"] + snippet["code"]).encode()
    return [
        _usage(snippet, path, text, match)
        for name, path in paths.items()
        for match in re.finditer(rf"(?:\w+\.)*\b({name})\b(?=\(([^()]*))".encode(), text)
    ]


def _usage(snippet: SnippetRow, path: str, text: bytes, match: re.Match[bytes]) -> UsageRow:
    return {
        "id": content_id(snippet["id"], path, match.start(1)),
        "snippet_id": snippet["id"],
        "library": LIBRARY,
        "version": snippet["version"],
        "path": path,
        "name": match[1].decode(),
        "start_byte": match.start(),
        "end_byte": match.end(),
        "name_start_byte": match.start(1),
        "name_end_byte": match.end(1),
        "line": text.count(b"\n", 0, match.start(1)) + 1,
        "access": Access.DIRECT,
        "form": UsageForm.CALL,
        "keywords": [keyword.decode() for keyword in re.findall(rb"(\w+)=", match[2])],
    }


def symbol(path: str, first: str, last: str | None = None, canonical: str | None = None, **columns: Any) -> SymbolRow:
    """A function that is public from the first to the last version."""
    row: SymbolRow = {
        "library": LIBRARY,
        "path": path,
        "first_version": first,
        "last_version": last or first,
        "canonical_path": canonical or path,
        "kind": SymbolKind.FUNCTION,
        "public_because": PublicBecause.NAME,
        "parameters": [],
        "returns": None,
        "value": None,
        "bases": [],
        "decorators": [],
        "overloads": [],
        "labels": [],
        "docstring_sha256": None,
        "docstring_sketch": [],
        "body_sketch": [],
        "deprecation": None,
        "file": "lib/core.py",
        "source": SourceKind.PY,
    }
    return {**row, **columns}


def life(
    path: str,
    first: str,
    last: str,
    introduced: bool = False,
    removed_in: str | None = None,
    modified: Sequence[str] = (),
    replacement: str | None = None,
) -> LifecycleRow:
    """The life of a path; `introduced` says that the release before the first is known not to have it."""
    return {
        "library": LIBRARY,
        "path": path,
        "kind": SymbolKind.FUNCTION,
        "first_version": first,
        "last_version": last,
        "introduced_in": first if introduced else None,
        "removed_in": removed_in,
        "deprecated_in": None,
        "replacement": replacement,
        "modified_in": list(modified),
    }


def change(kind: ChangeKind, path: str, old_version: str, new_version: str, **columns: Any) -> ChangeRow:
    """One change between two releases, with the tags that belong to its kind."""
    tags = {
        ChangeKind.INTRODUCED: (VersiCodeTag.ADDITION, LibEvolutionEvalTag.INTRODUCED),
        ChangeKind.REMOVED: (VersiCodeTag.DEPRECATION, LibEvolutionEvalTag.DEPRECATED),
        ChangeKind.RENAMED: (VersiCodeTag.DEPRECATION, LibEvolutionEvalTag.DEPRECATED),
        ChangeKind.MOVED: (VersiCodeTag.DEPRECATION, LibEvolutionEvalTag.DEPRECATED),
        ChangeKind.DEPRECATED: (VersiCodeTag.GENERAL, LibEvolutionEvalTag.UNCHANGED),
    }.get(kind, (VersiCodeTag.GENERAL, LibEvolutionEvalTag.MODIFIED))
    row = {
        "id": content_id(LIBRARY, old_version, new_version, path, kind, columns.get("parameter")),
        "library": LIBRARY,
        "old_version": old_version,
        "new_version": new_version,
        "path": path,
        "canonical_path": path,
        "kind": kind,
        "parameter": None,
        "old": None,
        "new": None,
        "breaking": True,
        "reach": "listed",
        "griffe_kind": None,
        "replacement": None,
        "confidence": 1.0,
        "evidence": Evidence.STATIC,
        "versicode_tag": tags[0],
        "libevolutioneval_tag": tags[1],
        "gitchameleon_category": None,
    }
    return {**row, **columns}


def document(path: str, docstring: str, first: str, last: str | None = None) -> DocumentRow:
    """The docstring of a path."""
    return {
        "library": LIBRARY,
        "path": path,
        "first_version": first,
        "last_version": last or first,
        "canonical_path": path,
        "docstring": docstring,
        "file": "lib/core.py",
        "line": 3,
    }


def verdict(
    subject: str,
    version: str,
    outcome: Outcome = Outcome.PASSED,
    role: VerdictRole = VerdictRole.REFERENCE,
    detail: str | None = None,
) -> VerdictRow:
    """One run in the environment of a version."""
    return {
        "id": content_id(subject, version, role),
        "subject_id": subject,
        "library": LIBRARY,
        "version": version,
        "role": role,
        "outcome": outcome,
        "python": "3.9",
        "lock_id": f"lock-{version}",
        "detail": detail,
        "observation": None,
        "duration_s": 0.1,
        "peak_memory_bytes": None,
    }


def probe(path: str, version: str, outcome: Outcome) -> VerdictRow:
    """One probe of an API path."""
    return verdict(path, version, outcome, VerdictRole.PROBE)
