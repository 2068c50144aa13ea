"""How well retrievers find the document of the API that is asked for, among all of its version: MRR and Recall@k.

    python -m benchmarks.retrieval --libraries flask,toolz --json retrieval.json

The queries are those of the contexts in the lake (`driftline refresh` makes it). Without a model they are sentences of
documentation, redacted; so documents are searched twice: as they are, and without the first sentences of every one of
them, which queries are taken from. A query whose API has no document of its own has nothing to find and is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import settings
from pipeline.corpus.prose import sentences
from pipeline.evaluation.scores.estimate import mean_of
from pipeline.evaluation.scores.retrieval import recall, reciprocal_rank
from pipeline.families.contexts.documents import Documentation, searched_text
from pipeline.families.contexts.retrieval import Retriever, retrievers
from pipeline.families.contexts.rules import ContextRules
from pipeline.lake.rows import ApiDocumentRow
from pipeline.lake.tables import Lake
from pipeline.llm.rules import DraftingRules

DEPTH = 10
RECALL_AT = (1, 3, DEPTH)

Change = Callable[[ApiDocumentRow], ApiDocumentRow]


@dataclass(frozen=True, slots=True)
class Search:
    """The documents of one version and what is looked for in them: (query, place of the document that answers it)."""

    documents: Sequence[ApiDocumentRow]
    asked: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Found:
    """The places that a retriever gave for each query, with the place that was wanted, and the seconds it took."""

    places: Sequence[tuple[Sequence[int], int]]
    seconds: float


def searches(lake: Lake, library: str) -> Iterator[Search]:
    """Yield the searches of a library, a version each."""
    documentation = Documentation(lake.read("releases", library), lake.read("api_documents", library))
    versions = {row["id"]: row["version"] for row in lake.read("published_completions", library)}
    contexts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in lake.read("published_contexts", library):
        if row["query"] is not None and row["document_id"] is not None:
            contexts[versions[row["completion_id"]]].append((row["query"], row["document_id"]))
    for version, asked in sorted(contexts.items()):
        documents = documentation.collection(version)
        places = {row["id"]: place for place, row in enumerate(documents)}
        yield Search(documents, [(query, places[document_id]) for query, document_id in asked])


def search(retriever: Retriever, every: Iterable[Search], change: Change, rules: ContextRules) -> Found:
    """Let a retriever answer all queries over documents that `change` changed."""
    places: list[tuple[Sequence[int], int]] = []
    seconds = 0.0
    for one in every:
        texts = [searched_text(change(row), rules.retrieval.searched) for row in one.documents]
        began = time.perf_counter()
        found = retriever.best(texts, [query for query, _ in one.asked], DEPTH)
        seconds += time.perf_counter() - began
        places += [([hit.place for hit in hits], wanted) for hits, (_, wanted) in zip(found, one.asked, strict=True)]
    return Found(places, seconds)


def scores(found: Found) -> dict[str, Any]:
    """Return MRR and Recall@k with n and 95% intervals."""
    words = [([str(place) for place in places], [str(wanted)]) for places, wanted in found.places]
    told: dict[str, Any] = {"n": len(words), "queries_per_s": round(len(words) / found.seconds)}
    told["MRR"] = _mean([reciprocal_rank(places, wanted) for places, wanted in words])
    for k in RECALL_AT:
        told[f"Recall@{k}"] = _mean([recall(places[:k], wanted) or 0.0 for places, wanted in words])
    return told


def _mean(values: Sequence[float]) -> list[float]:
    figure = mean_of(values)
    return [round(value, 3) for value in (figure.mean, figure.low, figure.high) if value is not None]


def without_summary(rules: DraftingRules) -> Change:
    """Return what takes those sentences out of a document that a query may be made of."""

    def change(document: ApiDocumentRow) -> ApiDocumentRow:
        told = sentences(document["description"], rules.abbreviations)
        return {**document, "description": " ".join(told[rules.sentences_tried :])}

    return change


def measure(libraries: Iterable[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Measure every retriever on both kinds of documents."""
    lake = Lake(settings().lake_root)
    rules, drafting = load(RULES / "contexts.yaml", ContextRules), load(RULES / "drafting.yaml", DraftingRules)
    every = [one for library in libraries for one in searches(lake, library)]
    changes: Mapping[str, Change] = {"whole": lambda document: document, "no summary": without_summary(drafting)}
    return {
        how: {
            str(retriever.kind): scores(search(retriever, every, change, rules))
            for retriever in retrievers(rules.retrieval)
        }
        for how, change in changes.items()
    }


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", default="", help="separated by commas; all of the lake by default")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    named = [name for name in arguments.libraries.split(",") if name]
    found = measure(named or Lake(settings().lake_root).libraries("published_contexts"))
    table = Table("documents", "retriever", "n", "MRR", *(f"Recall@{k}" for k in RECALL_AT), "queries/s")
    for how, by_retriever in found.items():
        for retriever, told in by_retriever.items():
            figures = [_shown(told[name]) for name in ("MRR", *(f"Recall@{k}" for k in RECALL_AT))]
            table.add_row(how, retriever, str(told["n"]), *figures, str(told["queries_per_s"]))
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def _shown(figure: Sequence[float]) -> str:
    return f"{figure[0]:.2f} ({figure[1]:.2f}-{figure[2]:.2f})" if figure else "none"


if __name__ == "__main__":
    main()
