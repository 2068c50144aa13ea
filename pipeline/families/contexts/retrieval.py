"""Finding the documents that answer a query: one small interface, and two retrievers behind it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from pipeline.core.vocabularies.samples import RetrieverKind
from pipeline.families.contexts.rules import RetrievalRules

Scores = np.ndarray[tuple[int], np.dtype[np.float64]]
Vectors = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_PLACES = 4
# HTTPError, split_at and scipy.stats are words that a query has apart.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


class Hit(NamedTuple):
    """A document by its place among those that were searched, and its score, to 4 decimal places."""

    place: int
    score: float


class Retriever(Protocol):
    """Anything that finds documents for queries."""

    kind: RetrieverKind

    def best(self, documents: Sequence[str], queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Return for every query the best documents, best first; of equal ones the first in order."""


class Bm25:
    """Okapi BM25 over the words of identifiers and prose (Robertson and Zaragoza 2009), by bm25s."""

    kind = RetrieverKind.BM25

    def __init__(self, k1: float, b: float) -> None:
        self._k1, self._b = k1, b

    def best(self, documents: Sequence[str], queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Return for every query the best documents; none that has no word of it."""
        if not documents or not queries:
            return [[] for _ in queries]
        # Loaded here: most commands do not need it.
        from bm25s import BM25  # type: ignore[import-untyped]

        # The library logs each step.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        index = BM25(k1=self._k1, b=self._b, dtype="float64")
        index.index([words(text) or [""] for text in documents], show_progress=False)
        vocabulary = set(index.vocab_dict)
        word_lists = ([word for word in words(query) if word in vocabulary] for query in queries)
        return [_best(index.get_scores(query_words), limit) if query_words else [] for query_words in word_lists]


class Embedding:
    """Cosine of static sentence embeddings, by WordLlama, whose model ships in its package.

    What was embedded once is remembered by its text: the versions of a library share most documents.
    """

    kind = RetrieverKind.EMBEDDING

    def __init__(self) -> None:
        self._scores: dict[str, Scores] = {}

    def best(self, documents: Sequence[str], queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Return for every query the best documents; none for a query without a word."""
        if not documents or not queries:
            return [[] for _ in queries]
        cosines = self._vectors(queries) @ self._vectors(documents).T
        return [_best(row, limit) for row in cosines]

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        unknown = sorted(set(texts) - self._scores.keys())
        if unknown:
            self._scores |= zip(unknown, self._embed(unknown), strict=True)
        return np.stack([self._scores[text] for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        # The model's vocabulary has words, not identifiers made of them.
        vectors = np.asarray(_word_llama().embed([" ".join(words(text)) for text in texts]), dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        # A text without a token has no direction: it is like nothing.
        units: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return units


@cache
def _word_llama() -> Any:
    """Load the model, once for all libraries of a process."""
    import wordllama  # type: ignore[import-untyped]

    here = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=here, disable_download=True)


def retrievers(rules: RetrievalRules) -> tuple[Retriever, ...]:
    """Return the retrievers that the published retrievals come from."""
    return (Bm25(rules.bm25_k1, rules.bm25_b), Embedding())


def words(text: str) -> list[str]:
    """Return the words inside prose and identifiers, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def _best(scores: Scores, limit: int) -> list[Hit]:
    rounded = np.round(scores, _PLACES)
    # A stable sort leaves equal ones in their order.
    order = np.argsort(-rounded, kind="stable")[:limit]
    return [Hit(int(place), round(float(rounded[place]), _PLACES)) for place in order if rounded[place] > 0]
