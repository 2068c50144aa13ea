from __future__ import annotations

import pytest

from pipeline.core.vocabularies.samples import DocumentPart
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.contexts.documents import Documentation, searched_text
from pipeline.lake.rows import ApiDocumentDocumentedParameter
from tests.families.completions_and_migrations.rows import releases
from tests.families.contexts.rows import api_document, parameter

RELEASES = releases("1.9", "1.10", "2.0")
ROWS = [
    api_document("lib.fetch", "Old.", "1.9", "1.10"),
    api_document("lib.fetch", "New.", "2.0"),
    api_document("lib.core.fetch", "Old.", "1.9", "1.10", canonical_path="lib.fetch"),
    api_document("lib.late", "Late.", "1.10"),
    api_document("lib.core", "A module.", "1.9", kind=SymbolKind.MODULE),
    api_document("lib.site", "Compiled.", "1.9", canonical_path=None),
]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.9", {"lib.fetch": "Old.", "lib.site": "Compiled."}),
        ("1.10", {"lib.fetch": "Old.", "lib.late": "Late.", "lib.site": "Compiled."}),
        ("2.0", {"lib.fetch": "New.", "lib.late": "Late.", "lib.site": "Compiled."}),
    ],
)
def test_a_version_has_one_document_of_each_definition_and_none_of_modules(
    version: str, expected: dict[str, str]
) -> None:
    found = Documentation(RELEASES, ROWS).collection(version)
    assert {row["path"]: row["description"] for row in found} == expected
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)


def test_a_definition_is_documented_under_each_of_its_paths() -> None:
    documentation = Documentation(RELEASES, ROWS)
    row = documentation.of("lib.core.fetch", "1.10")
    assert row is not None
    assert row["canonical_path"] == "lib.fetch"
    assert documentation.in_collection("lib.core.fetch", "1.10") == ROWS[0]
    assert documentation.of("lib.core.fetch", "2.0") is None
    assert documentation.in_collection("lib.core.fetch", "2.0") is None
    assert documentation.of("lib.none", "2.0") is None


def test_what_is_searched_is_what_the_rules_say_in_their_order() -> None:
    parameters: list[ApiDocumentDocumentedParameter] = [
        parameter("number", description="How many."),
        parameter("other"),
    ]
    row = api_document("lib.f", "Does.", "1.9", parameters=parameters, returns=[{"name": None, "description": "It."}])
    every = list(DocumentPart)
    assert searched_text(row, every) == "lib.f\n(number)\nDoes.\nnumber: How many.\nother\nIt."
    assert searched_text(row | {"signature": None}, [DocumentPart.SIGNATURE, DocumentPart.PATH]) == "lib.f"
