"""Rows as the earlier stages make them, for contexts and controlled completions."""

from __future__ import annotations

from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import DocumentSource
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.contexts.rules import ContextRules
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ApiDocumentDocumentedParameter, ApiDocumentRow
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter
from tests.families.completions_and_migrations.rows import LIBRARY

CONTEXTS = load(RULES / "contexts.yaml", ContextRules)
WRITER = OfflineWriter(load(RULES / "drafting.yaml", DraftingRules))


def api_document(path: str, description: str, first: str, last: str | None = None, **columns: Any) -> ApiDocumentRow:
    """What the documentation says of an API from the first to the last version."""
    row: ApiDocumentRow = {
        "id": content_id(LIBRARY, path, first),
        "library": LIBRARY,
        "path": path,
        "first_version": first,
        "last_version": last,
        "canonical_path": path,
        "kind": SymbolKind.FUNCTION,
        "signature": "(number)",
        "parameters": [parameter("number")],
        "description": description,
        "returns": [],
        "examples": [],
        "directives": [],
        "source": DocumentSource.DOCSTRING,
        "url": None,
    }
    return {**row, **columns}


def parameter(
    name: str, *, mandatory: bool | None = True, description: str | None = None
) -> ApiDocumentDocumentedParameter:
    """A parameter as a document has it."""
    return {"name": name, "type": None, "mandatory": mandatory, "default": None, "description": description}
