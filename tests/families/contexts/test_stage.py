"""The stage `contexts` on a small library whose completions went through the real stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.api.history.tags import Tags
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity, RetrieverKind
from pipeline.families.completions_and_migrations.completions import make_completions
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.contexts.retrieval import retrievers
from pipeline.families.contexts.stage import contexts_stage
from pipeline.lake.rows import SnippetRow, UsageRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.families.completions_and_migrations.rows import LIBRARY, TAGGING, life, releases, snippet, usages
from tests.families.contexts.rows import CONTEXTS, WRITER, api_document

MASKING = load(RULES / "masking.yaml", MaskingRules)
RELEASES = releases("0.9", "1.0", "2.0")
DOCUMENTS = [
    api_document("lib.fetch", "Get a page of the book.", "0.9", "1.0"),
    api_document("lib.fetch", "Get a page from the shelf.", "2.0"),
    api_document("lib.sort", "Put things into their order.", "0.9"),
    api_document("lib.drop", "Throw away what nobody needs.", "0.9"),
    api_document("lib.core.fetch", "Get a page of the book.", "0.9", "1.0", canonical_path="lib.fetch"),
]
LIVES = [life(path, "0.9", "2.0") for path in ("lib.fetch", "lib.sort", "lib.drop", "lib.lib")]
NAMES = {name: f"lib.{name}" for name in ("fetch", "sort", "drop", "lib")}


def completions(snippets: Sequence[SnippetRow], uses: Sequence[UsageRow]) -> list[Any]:
    """Completions as published: what acceptance adds is not asked for here, but for these columns."""
    history = History(RELEASES, [], [], Tags(LIVES, TAGGING).at)
    programs = [(row, parse_source(row["preamble"] + row["code"])) for row in snippets]
    of_snippet = {row["id"]: [use for use in uses if use["snippet_id"] == row["id"]] for row in snippets}
    made = make_completions(programs, of_snippet, history, MASKING).rows
    origins = {row["id"]: row["origin"] for row in snippets}
    return [
        row | {"origin": origins[row["snippet_id"]], "description": "Do it all.", "canary": "canary " * 3}
        for row in made
    ]


def run(*codes: str, **rules: Any) -> tuple[Output, list[Any]]:
    snippets = [snippet(code, "lib.fetch", "1.0", preamble="import lib\n") for code in codes]
    return run_on(snippets, **rules)


def run_on(snippets: Sequence[SnippetRow], skipped: int = 0, **rules: Any) -> tuple[Output, list[Any]]:
    uses = [use for row in snippets for use in usages(row, NAMES)[skipped:]]
    published = completions(snippets, uses)
    chosen = CONTEXTS.model_copy(update={"inline": CONTEXTS.inline.model_copy(update=rules)})
    output = contexts_stage(
        {"releases": RELEASES, "usages": uses, "api_documents": DOCUMENTS, "published_completions": published},
        chosen,
        WRITER,
        retrievers(CONTEXTS.retrieval),
        MASKING,
    )
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    return output, published


def test_a_completion_of_a_token_gets_contexts_and_documents_of_its_version() -> None:
    output, published = run("x = 1\npage = lib.fetch(x)  # fetch it\nprint(page)\n")
    (row,) = output.tables["published_contexts"]
    (token,) = (one for one in published if one["granularity"] == Granularity.TOKEN)
    assert row == {
        "completion_id": token["id"], "library": LIBRARY, "imports": "import lib\n", "left_context": "x = 1\npage = ",
        "hint": "lib.", "reference_call": "lib.fetch(x)", "right_context": "\nprint(page)\n",
        "right_context_few_lines": "\nprint(page)\n", "masked_names": 0, "in_class": False,
        "version_comment": "# lib==1.0", "query": "Get a page of the book.", "document_id": DOCUMENTS[0]["id"], "query_redacted": False,
        "query_drafter": "offline", "canary": "canary " * 3,
    }  # fmt: skip
    assert output.units_in == output.units_out == 1
    found = {one["retriever"]: one for one in output.tables["published_retrievals"] if one["rank"] == 1}
    assert found.keys() == set(RetrieverKind)
    for one in found.values():
        assert (one["path"], one["document_id"]) == ("lib.fetch", DOCUMENTS[0]["id"])


def test_no_version_is_shown_the_documents_of_another() -> None:
    output, _ = run("x = 1\nlib.fetch(x)\n")
    assert {row["document_id"] for row in output.tables["published_retrievals"]}.isdisjoint({DOCUMENTS[1]["id"]})


def test_an_api_that_no_document_describes_is_asked_for_with_the_description_of_its_code() -> None:
    snippets = [snippet("x = 1\nlib.fetch(x)\n", "lib.fetch", "1.0", preamble="import lib\n")]
    uses = usages(snippets[0], NAMES)
    output = contexts_stage(
        {
            "releases": RELEASES,
            "usages": uses,
            "api_documents": DOCUMENTS[2:4],
            "published_completions": completions(snippets, uses),
        },
        CONTEXTS,
        WRITER,
        [],
        MASKING,
    )
    assert [row["query"] for row in output.tables["published_contexts"]] == ["Do it all."]


def test_a_context_that_no_document_describes_is_refused() -> None:
    snippets = [snippet("x = 1\nlib.fetch(x)\n", "lib.fetch", "1.0", preamble="import lib\n")]
    uses = usages(snippets[0], NAMES)
    published = [row | {"description": None} for row in completions(snippets, uses)]
    output = contexts_stage(
        {"releases": RELEASES, "usages": uses, "api_documents": [], "published_completions": published},
        CONTEXTS,
        WRITER,
        retrievers(CONTEXTS.retrieval),
        MASKING,
    )
    assert (output.tables["published_contexts"], output.tables["published_retrievals"]) == ([], [])
    assert output.reasons == {"no_text": 1}


def test_a_query_that_says_nothing_without_the_name_makes_no_context() -> None:
    snippets = [snippet("x = 1\nlib.fetch(x)\n", "lib.fetch", "1.0", preamble="import lib\n")]
    uses = usages(snippets[0], NAMES)
    output = contexts_stage(
        {
            "releases": RELEASES,
            "usages": uses,
            "api_documents": [api_document("lib.fetch", "Provides access to fetch methods.", "0.9")],
            "published_completions": completions(snippets, uses),
        },
        CONTEXTS,
        WRITER,
        [],
        MASKING,
    )
    assert output.tables["published_contexts"] == []
    assert output.reasons == {"no_text": 1}


def test_one_api_of_a_line_stands_for_it() -> None:
    output, _ = run("y = 1\nx = lib.sort(lib.drop(y))\nlib.fetch(x)\n")
    calls = sorted(row["reference_call"] for row in output.tables["published_contexts"])
    assert calls == ["lib.fetch(x)", "lib.sort(lib.drop(y))"]
    assert output.reasons == {"over_quota": 1}
    assert len(run("y = 1\nx = lib.sort(lib.drop(y))\n", max_per_line=2)[0].tables["published_contexts"]) == 2


def test_one_use_of_an_api_stands_for_its_author() -> None:
    codes = ("x = 1\nlib.fetch(x)\n", "x = 2\nlib.fetch(x)\n")
    output, _ = run(*codes)
    assert (len(output.tables["published_contexts"]), output.reasons) == (1, {"over_quota": 1})
    of_two = [snippet(code, "lib.fetch", "1.0", preamble="import lib\n", origin=f"pypi:{code}") for code in codes]
    assert len(run_on(of_two)[0].tables["published_contexts"]) == 2


def test_an_expression_with_what_nothing_shows_is_refused() -> None:
    output, _ = run("lib.fetch('Ada')\n")
    assert (output.tables["published_contexts"], output.reasons) == ([], {"unknowable": 1})
    assert run("name = 'Ada'\nlib.fetch('Ada')\n")[0].units_out == 1


@pytest.mark.parametrize(
    ("preamble", "code", "skipped", "view"),
    [
        ("from lib import lib\n", "lib(1)\n", 0, "version_comment"),
        ("import lib\n", "x = 1\nlib.sort(x).sort(x)\n", 1, "hint"),
        ("import lib\n", "x = 1\nlib.sort(x).sort(x)\n", 0, None),
    ],
    ids=["the library goes by the same name", "another API of the name before it", "the name after it"],
)
def test_a_name_that_can_be_read_in_any_view_is_refused(
    preamble: str, code: str, skipped: int, view: str | None
) -> None:
    output, _ = run_on([snippet(code, "lib.fetch", "1.0", preamble=preamble)], skipped)
    leaks = [reject.detail for reject in output.rejects if reject.reason == RejectReason.LEAKS_ANSWER]
    assert [leak.partition(":")[0] for leak in leaks] == ([view] if view else [])
    assert [row["right_context"] for row in output.tables["published_contexts"]] == (
        [] if view else [".[token-mask](x)\n"]
    )


def test_what_comes_out_is_the_same_in_any_order() -> None:
    snippets = [
        snippet(f"x = {n}\nlib.{name}(x)\n", f"lib.{name}", "1.0", preamble="import lib\n")
        for n in range(2)
        for name in NAMES
    ]
    one, _ = run_on(snippets)
    other, _ = run_on(snippets[::-1])
    assert sorted(map(str, one.tables["published_contexts"])) == sorted(map(str, other.tables["published_contexts"]))
    assert sorted(map(str, one.tables["published_retrievals"])) == sorted(
        map(str, other.tables["published_retrievals"])
    )
