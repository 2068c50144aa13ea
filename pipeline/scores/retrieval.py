"""Retrieval and dependencies: reciprocal rank and recall."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def reciprocal_rank(found: Iterable[str], wanted: Collection[str]) -> float:
    """Return 1 over the rank, from 1, of the first document found that is wanted; 0 where none is.

    Its mean over queries is the MRR of LibEvolutionEval (2412.04478, section 4).
    """
    return next((1 / rank for rank, document in enumerate(found, 1) if document in wanted), 0.0)


def recall(found: Collection[str], wanted: Collection[str]) -> float | None:
    """Return the share of the wanted dependencies that are found (EvoCodeBench); None where none is wanted."""
    return len(set(wanted) & set(found)) / len(set(wanted)) if wanted else None
