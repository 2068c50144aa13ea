"""Documents of every API in every release, from a lake of a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from packaging.version import Version

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import DocumentSource
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, PublicBecause, SourceKind, SymbolKind
from pipeline.corpus.documentation.stage import api_documents_stage
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import DocumentRow, ReleaseRow, SymbolParameter, SymbolRow
from pipeline.lake.schema import table

RULES_OF_DIRECTIVES = load(RULES / "directives.yaml", DirectiveRules)
VERSIONS = ["1.0", "1.1", "1.2", "1.3"]
TAKE = "Take things.\n\nParameters\n----------\nn : int\n    How many.\n\n    .. versionadded:: 1.1\n\nReturns\n-------\nlist\n"


def releases(versions: list[str] = VERSIONS, gaps: tuple[str, ...] = ()) -> list[Any]:
    rows = []
    for number, version in enumerate(versions):
        before = None if number == 0 else "0.?" if version in gaps else versions[number - 1]
        rows.append({"library": "bag", "version": version, "predecessor": before})
    return rows


def parameter(name: str, default: str | None = None, annotation: str | None = None, **more: Any) -> SymbolParameter:
    kind = more.get("kind", ParameterKind.POSITIONAL_OR_KEYWORD)
    source = more.get("known_from", ParameterSource.SIGNATURE)
    return {
        "name": name,
        "kind": kind,
        "default": default,
        "annotation": annotation,
        "known_from": source,
        "deprecation": None,
    }


def symbol(path: str, first: str, last: str | None, parameters: list[Any] = [], **more: Any) -> Any:  # noqa: B006
    return {
        "library": "bag", "path": path, "first_version": first, "last_version": last, "canonical_path": path,
        "kind": SymbolKind.FUNCTION, "public_because": PublicBecause.NAME, "parameters": parameters, "returns": None,
        "labels": [], "source": SourceKind.PY,
    } | more  # fmt: skip


def document(path: str, first: str, last: str | None, docstring: str, **more: Any) -> Any:
    return {
        "library": "bag", "path": path, "first_version": first, "last_version": last, "canonical_path": path,
        "docstring": docstring, "file": "bag.py", "line": 1,
    } | more  # fmt: skip


def site(path: str, version: str, description: str, **more: Any) -> Any:
    return {
        "library": "bag", "path": path, "first_version": version, "last_version": version, "canonical_path": None,
        "kind": SymbolKind.FUNCTION, "signature": "()", "parameters": [], "description": description, "returns": [],
        "examples": [], "directives": [], "source": DocumentSource.SITE, "url": f"https://bag.example/{version}/#{path}",
        "version_statement": "Read the Docs: tag",
    } | more  # fmt: skip


def run(
    documents: list[DocumentRow],
    symbols: list[SymbolRow],
    sites: Sequence[Any] = (),
    release_rows: list[ReleaseRow] | None = None,
) -> list[Any]:
    output = api_documents_stage(
        {"releases": release_rows or releases(), "documents": documents, "symbols": symbols, "site_documents": sites},
        RULES_OF_DIRECTIVES,
    )
    rows = list(output.tables["api_documents"])
    for row in rows:
        table("api_documents").check(row)
    return rows


def places(rows: list[Any]) -> list[tuple[str, str, str | None, str]]:
    return [(row["path"], row["first_version"], row["last_version"], row["description"]) for row in rows]


def test_a_document_combines_signature_and_docstring() -> None:
    parameters = [
        parameter("n", annotation="int"),
        parameter("safe", "False"),
        parameter("kw", kind=ParameterKind.VAR_KEYWORD),
    ]
    (row,) = run(
        [document("bag.take", "1.0", None, TAKE)], [symbol("bag.take", "1.0", None, parameters, returns="list[int]")]
    )
    assert row == {
        "id": content_id("bag", "bag.take", "1.0"),
        "library": "bag", "path": "bag.take", "first_version": "1.0", "last_version": None, "canonical_path": "bag.take",
        "kind": SymbolKind.FUNCTION, "signature": "(n: int, safe=False, **kw) -> list[int]",
        "parameters": [
            {"name": "n", "type": "int", "mandatory": True, "default": None, "description": "How many."},
            {"name": "safe", "type": None, "mandatory": False, "default": "False", "description": None},
            {"name": "**kw", "type": None, "mandatory": False, "default": None, "description": None},
        ],
        "description": "Take things.", "returns": [{"name": None, "type": "list", "description": None}], "examples": [],
        "directives": [{"directive": "versionadded", "owner": "parameter", "name": "n", "stated_version": "1.1", "text": ""}],
        "source": DocumentSource.DOCSTRING, "url": None,
    }  # fmt: skip


def test_parameters_behind_kwargs_and_of_the_text_only() -> None:
    docstring = "Do.\n\nParameters\n----------\nhidden : int\n    H.\ngiven : str, default 'x'\n    G.\n"
    parameters = [parameter("hidden", "...", kind=ParameterKind.KEYWORD_ONLY, known_from=ParameterSource.DOCSTRING)]
    (row,) = run([document("bag.f", "1.0", None, docstring)], [symbol("bag.f", "1.0", None, parameters)])
    assert [(p["name"], p["mandatory"], p["default"]) for p in row["parameters"]] == [
        ("hidden", False, None), ("given", False, "'x'"),
    ]  # fmt: skip


def test_states_of_the_symbol_part_a_docstring_only_where_the_document_differs() -> None:
    states = [
        symbol("bag.f", "1.0", "1.0", [parameter("a")]),
        symbol("bag.f", "1.1", "1.1", [parameter("a")], decorators=["cached"]),
        symbol("bag.f", "1.2", None, [parameter("a"), parameter("b", "1")]),
    ]
    rows = run([document("bag.f", "1.0", None, "Do.")], states)
    assert [(row["first_version"], row["last_version"], row["signature"]) for row in rows] == [
        ("1.0", "1.1", "(a)"), ("1.2", None, "(a, b=1)"),
    ]  # fmt: skip


def test_no_document_holds_across_a_gap() -> None:
    states = [symbol("bag.f", "1.0", "1.1"), symbol("bag.f", "1.2", None)]
    documents = [document("bag.f", "1.0", "1.1", "Do."), document("bag.f", "1.2", None, "Do.")]
    assert len(run(documents, states)) == 1
    rows = run(documents, states, release_rows=releases(gaps=("1.2",)))
    assert places(rows) == [("bag.f", "1.0", "1.1", "Do."), ("bag.f", "1.2", None, "Do.")]


def test_a_site_replaces_the_docstring_in_its_release() -> None:
    documents, states = [document("bag.f", "1.0", None, "Do.")], [symbol("bag.f", "1.0", None)]
    rows = run(documents, states, [site("bag.f", "1.1", "Does."), site("bag.f", "1.2", "Does.")])
    assert places(rows) == [
        ("bag.f", "1.0", "1.0", "Do."), ("bag.f", "1.1", "1.2", "Does."), ("bag.f", "1.3", None, "Do."),
    ]  # fmt: skip
    assert [row["source"] for row in rows] == [DocumentSource.DOCSTRING, DocumentSource.SITE, DocumentSource.DOCSTRING]
    assert (rows[1]["url"], rows[1]["canonical_path"]) == ("https://bag.example/1.1/#bag.f", "bag.f")
    assert run(documents, states, [site("bag.f", "1.3", "Does.")])[-1]["last_version"] is None


def test_a_site_that_names_the_place_of_the_definition_is_about_the_public_paths() -> None:
    states = [symbol(path, "1.0", None, canonical_path="bag._core.f") for path in ("bag.f", "bag.g")]
    documents = [document(path, "1.0", None, "Do.", canonical_path="bag._core.f") for path in ("bag.f", "bag.g")]
    rows = run(documents, states, [site("bag._core.f", "1.3", "Core."), site("bag.f", "1.3", "Does.")])
    assert [place for place in places(rows) if place[1] == "1.3"] == [
        ("bag.f", "1.3", None, "Does."), ("bag.g", "1.3", None, "Core."),
    ]  # fmt: skip


def test_an_api_that_only_a_site_lists_has_no_canonical_path() -> None:
    (row,) = run([], [], [site("bag.compiled", "1.0", "Fast.")])
    assert (row["path"], row["canonical_path"], row["last_version"]) == ("bag.compiled", None, "1.0")


def test_a_second_name_is_called_as_the_first() -> None:
    alias = symbol("bag.g", "1.0", None, kind=SymbolKind.ALIAS, canonical_path="bag.f")
    (row,) = run([document("bag.g", "1.0", None, "Do.", canonical_path="bag.f")],
                 [alias, symbol("bag.f", "1.0", None, [parameter("a")])])  # fmt: skip
    assert (row["path"], row["kind"], row["signature"]) == ("bag.g", SymbolKind.FUNCTION, "(a)")


def test_a_site_of_a_release_that_the_lake_does_not_hold_is_refused() -> None:
    output = api_documents_stage(
        {"releases": releases(), "documents": [], "symbols": [], "site_documents": [site("bag.f", "9.9", "Does.")]},
        RULES_OF_DIRECTIVES,
    )
    assert (output.units_in, output.units_out) == (1, 0)
    assert [reject.reason for reject in output.rejects] == [RejectReason.VERSION_NOT_COVERED]


@pytest.mark.parametrize("docstring", ["", "Broken\n\nParameters\n----------\n: :\n  ,\n"])
def test_odd_docstrings_are_documents_too(docstring: str) -> None:
    assert len(run([document("bag.f", "1.0", None, docstring)], [symbol("bag.f", "1.0", None)])) == 1


TEXTS = st.sampled_from(["Do.", "Other."])


@given(
    st.lists(st.none() | TEXTS, min_size=4, max_size=4),
    st.lists(st.sampled_from([(), ("a",), ("a", "b")]), min_size=4, max_size=4),
    st.lists(st.none() | st.sampled_from(["Site.", "Page."]), min_size=4, max_size=4),
    st.sampled_from([(), ("1.1",), ("1.2", "1.3")]),
)
def test_each_release_has_the_document_of_that_release(texts, parameters, pages, gaps) -> None:
    release_rows = releases(gaps=gaps)
    documents = [document("bag.f", v, v, text) for v, text in zip(VERSIONS, texts, strict=True) if text]
    states = [
        symbol("bag.f", v, v, [parameter(n) for n in names]) for v, names in zip(VERSIONS, parameters, strict=True)
    ]
    sites = [site("bag.f", v, text) for v, text in zip(VERSIONS, pages, strict=True) if text]
    rows = run(documents, states, sites, release_rows)
    for version, text, names, page in zip(VERSIONS, texts, parameters, pages, strict=True):
        held = holding_at(rows, version)
        expected = [(page, "()")] if page else [(text, f"({', '.join(names)})")] if text else []
        assert [(row["description"], row["signature"]) for row in held] == expected
    ends = {row["last_version"] for row in rows}
    assert all(end is None or Version(end) < Version("1.3") for end in ends)
