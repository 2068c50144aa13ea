"""Both retrievers, on documents as people write them."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.contexts.retrieval import Bm25, Embedding, Hit, Retriever, retrievers, words
from pipeline.families.contexts.rules import ContextRules

RULES_OF_CONTEXTS = load(RULES / "contexts.yaml", ContextRules)
DOCUMENTS = [
    "lib.read_csv\n(path, sep=',')\nRead a comma-separated values file into a table.",
    "lib.plot\n(data)\nDraw a line chart of the data.",
    "lib.linalg.solve\n(a, b)\nSolve a linear system of equations for unknown variables.",
    "lib.HTTPClient.get\n(url)\nSend a request to a server.",
]
QUERIES = {
    "Load a table from a file of comma-separated values.": 0,
    "Draw a chart with a line.": 1,
    "Find the unknowns of a linear system of equations.": 2,
    "Send a request.": 3,
}


@pytest.fixture(params=retrievers(RULES_OF_CONTEXTS.retrieval), ids=lambda retriever: str(retriever.kind))
def retriever(request: pytest.FixtureRequest) -> Retriever:
    return request.param  # type: ignore[no-any-return]


def test_the_document_that_answers_comes_first(retriever: Retriever) -> None:
    found = retriever.best(DOCUMENTS, list(QUERIES), 3)
    assert [hits[0].place for hits in found] == list(QUERIES.values())
    assert all(len(hits) <= 3 and hits == sorted(hits, key=lambda hit: -hit.score) for hits in found)
    assert all(hit.score == round(hit.score, 4) > 0 for hits in found for hit in hits)


def test_a_query_alone_is_answered_as_among_others(retriever: Retriever) -> None:
    together = retriever.best(DOCUMENTS, list(QUERIES), 2)
    assert [retriever.best(DOCUMENTS, [query], 2)[0] for query in QUERIES] == together


def test_equal_documents_come_in_their_order(retriever: Retriever) -> None:
    found = retriever.best([DOCUMENTS[1], DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[0]], [next(iter(QUERIES))], 3)[0]
    assert [hit.place for hit in found] == [1, 2, 3]
    assert len({hit.score for hit in found}) == 1


@pytest.mark.parametrize(
    ("documents", "queries", "expected"),
    [([], ["Draw."], [[]]), (DOCUMENTS, [], []), (DOCUMENTS, [""], [[]]), (["", ""], ["Draw."], [[]])],
    ids=["no documents", "no queries", "an empty query", "empty documents"],
)
def test_nothing_finds_nothing(
    retriever: Retriever, documents: list[str], queries: list[str], expected: list[list[Hit]]
) -> None:
    assert retriever.best(documents, queries, 3) == expected


def test_bm25_finds_nothing_for_words_that_no_document_has() -> None:
    assert Bm25(1.5, 0.75).best(DOCUMENTS, ["Zwölf Boxkämpfer"], 3) == [[]]


def test_bm25_is_that_of_robertson() -> None:
    """Lucene's form: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), tf / (tf + k1 (1 - b + b length / mean length))."""
    documents = ["red", "red blue", "green green blue black"]
    ((place, score),) = Bm25(1.5, 0.75).best(documents, ["green"], 3)[0]
    idf, length = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5)), 1 - 0.75 + 0.75 * 4 / (7 / 3)
    assert place == 2
    assert score == pytest.approx(idf * 2 / (2 + 1.5 * length), abs=1e-4)


def test_an_embedding_is_remembered_by_its_text() -> None:
    retriever = Embedding()
    first = retriever.best(DOCUMENTS, list(QUERIES), 3)
    assert retriever.best(DOCUMENTS, list(QUERIES), 3) == first == Embedding().best(DOCUMENTS, list(QUERIES), 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lib.read_csv", ["lib", "read", "csv"]),
        ("HTTPClient of utf8", ["http", "client", "of", "utf", "8"]),
        ("Don't; über", ["don", "t", "über"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected
