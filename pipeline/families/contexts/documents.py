"""The API documentation of one version: its documents, and their searchable text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from packaging.version import Version

from pipeline.core.vocabularies.samples import DocumentPart
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import ApiDocumentDocumentedParameter, ApiDocumentResult, ApiDocumentRow, ReleaseRow


class Documentation:
    """The documents of a library, looked up by version."""

    def __init__(self, releases: Iterable[ReleaseRow], api_documents: Iterable[ApiDocumentRow]) -> None:
        versions = sorted((row["version"] for row in releases), key=Version)
        self._rank = {version: rank for rank, version in enumerate(versions)}
        self._by_path: dict[str, list[ApiDocumentRow]] = defaultdict(list)
        for row in api_documents:
            if row["kind"] != SymbolKind.MODULE:
                self._by_path[row["path"]].append(row)
        self._collections: dict[str, dict[str, ApiDocumentRow]] = {}

    def of(self, path: str, version: str) -> ApiDocumentRow | None:
        """Return the document of a public path in a version."""
        return next((row for row in self._by_path.get(path, ()) if self._holds(row, version)), None)

    def collection(self, version: str) -> list[ApiDocumentRow]:
        """Return the documents of a version by id: of a definition with several public paths that of the shortest."""
        return sorted(self._chosen(version).values(), key=lambda row: str(row["id"]))

    def in_collection(self, path: str, version: str) -> ApiDocumentRow | None:
        """Return the document of the collection that is about the same definition as that of a path."""
        document = self.of(path, version)
        return self._chosen(version)[_definition(document)] if document else None

    def _chosen(self, version: str) -> dict[str, ApiDocumentRow]:
        """Return the documents of a version by definition."""
        if version not in self._collections:
            paths = sorted(self._by_path, key=lambda path: (path.count("."), len(path), path))
            rows = [row for path in paths if (row := self.of(path, version))]
            self._collections[version] = {_definition(row): row for row in reversed(rows)}
        return self._collections[version]

    def _holds(self, row: ApiDocumentRow, version: str) -> bool:
        at, last = self._rank[version], row["last_version"]
        return self._rank[row["first_version"]] <= at and (last is None or at <= self._rank[last])


def _definition(document: ApiDocumentRow) -> str:
    """Return the identity of a document's API, the same for all its public paths."""
    return str(document["canonical_path"] or document["path"])


def searched_text(document: ApiDocumentRow, parts: Sequence[DocumentPart]) -> str:
    """Return the text of a document for retrievers."""
    return "\n".join(text for part in parts if (text := _PARTS[part](document)))


def _described(rows: Iterable[ApiDocumentDocumentedParameter | ApiDocumentResult]) -> str:
    lines = (": ".join(filter(None, (row["name"], row["description"]))) for row in rows)
    return "\n".join(line for line in lines if line)


_PARTS: Mapping[DocumentPart, Callable[[ApiDocumentRow], str]] = {
    DocumentPart.PATH: lambda row: str(row["path"]),
    DocumentPart.SIGNATURE: lambda row: row["signature"] or "",
    DocumentPart.DESCRIPTION: lambda row: str(row["description"]),
    DocumentPart.PARAMETERS: lambda row: _described(row["parameters"]),
    DocumentPart.RETURNS: lambda row: _described(row["returns"]),
    DocumentPart.EXAMPLES: lambda row: "\n".join(row["examples"]),
}
