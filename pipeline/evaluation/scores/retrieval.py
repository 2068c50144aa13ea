"""Retrieval and dependencies: reciprocal rank and recall."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

# Comments and strings, of which nothing is kept, and names.
_NAME = re.compile(
    r"""\#[^\n]* | '{3}.*?'{3} | "{3}.*?"{3} | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | \b([^\W\d]\w*)""",
    re.DOTALL | re.VERBOSE,
)


def reciprocal_rank(found: Iterable[str], wanted: Collection[str]) -> float:
    """Return 1 over the rank, from 1, of the first document found that is wanted; 0 where none is.

    Its mean over queries is the MRR of LibEvolutionEval (2412.04478, section 4).
    """
    return next((1 / rank for rank, document in enumerate(found, 1) if document in wanted), 0.0)


def recall(found: Collection[str], wanted: Collection[str]) -> float | None:
    """Return the share of the wanted dependencies that are found (EvoCodeBench); None where none is wanted."""
    return len(set(wanted) & set(found)) / len(set(wanted)) if wanted else None


def mentioned(code: str, namespaces: Iterable[str]) -> set[str]:
    """Return those of some dotted namespaces whose last name code uses, outside of strings and comments."""
    names = {found[1] for found in _NAME.finditer(code)}
    return {namespace for namespace in namespaces if namespace.rpartition(".")[2] in names}
