"""What a model is told of a change: signatures, documents and examples of both releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.api.history.change_text import signature
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.execution.validation.cases import MODULE
from pipeline.families.problems.changed import Changed
from pipeline.families.problems.library import Library
from pipeline.lake.rows import AnyRow, SnippetRow
from pipeline.llm.tasks.rules import ProblemDraftRules

_ONE_LINE = 10_000
_OWN = frozenset({SnippetSource.DOCSTRING, SnippetSource.DOCUMENTATION})


def told(
    changed: Changed, library: Library, snippets: Iterable[SnippetRow], function: str, rules: ProblemDraftRules
) -> dict[str, Any]:
    """Return what bears on a problem about a change, by field; all of it is crawled text but the names of fields."""
    rows, kind = list(snippets), ChangeKind(changed.change["kind"])
    change: AnyRow = changed.change
    return {
        "library": library.name,
        "import_names": list(library.history.releases[changed.version]["import_names"]),
        "version": changed.version,
        "other_version": changed.other_version,
        "path": changed.path,
        "change": {
            "kind": kind,
            "meaning": kind.meaning,
            **{name: change[name] for name in ("path", "parameter", "old", "new", "replacement")},
        },
        "here": _side(changed.path, changed.version, library, rows, rules),
        "there": _side(changed.other_path, changed.other_version, library, rows, rules),
        "hidden": list(changed.hidden),
        "function": function,
        "module": MODULE,
    }


def _side(
    path: str, version: str, library: Library, snippets: Sequence[SnippetRow], rules: ProblemDraftRules
) -> dict[str, object] | None:
    """Return what a release has of an API; None where it does not have it."""
    definition = library.history.definition(path, version)
    if definition is None:
        return None
    paths = list(dict.fromkeys([path, definition["path"]]))
    texts = library.docstrings(paths, version)
    document = next(filter(None, (library.document(path, version) for path in paths)), None)
    texts = texts or ((document["description"],) if document else ())
    examples = [
        f"{row['preamble']}{row['code']}"
        for row in sorted(snippets, key=lambda row: str(row["id"]))
        if row["path"] in paths
        and row["source"] in _OWN
        and library.history.within(version, row["version"], row["last_version"])
    ]
    return {
        "path": path,
        "signature": "".join(signature(definition, _ONE_LINE)),
        "documentation": [text[: rules.max_context_characters] for text in texts],
        "examples": [text[: rules.max_context_characters] for text in examples[: rules.max_examples]],
    }
