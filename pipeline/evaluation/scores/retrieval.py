"""Retrieval and dependencies: reciprocal rank and recall."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

# Comments and strings, without a group, and names.
_NAME = re.compile(
    r"""\#[^\n]* | '{3}.*?'{3} | "{3}.*?"{3} | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | \b([^\W\d]\w*)""",
    re.DOTALL | re.VERBOSE,
)


def reciprocal_rank(retrieved: Iterable[str], relevant: Collection[str]) -> float:
    """Return 1 over the rank, from 1, of the first relevant document; 0 where none is retrieved.

    Its mean over queries is the MRR of LibEvolutionEval (2412.04478, section 4).
    """
    return next((1 / rank for rank, document in enumerate(retrieved, 1) if document in relevant), 0.0)


def recall(named: Collection[str], dependencies: Collection[str]) -> float | None:
    """Return the share of the dependencies that are named (EvoCodeBench); None where there is none."""
    return len(set(dependencies) & set(named)) / len(set(dependencies)) if dependencies else None


def mentioned(code: str, namespaces: Iterable[str]) -> set[str]:
    """Return the dotted namespaces whose last name occurs in code, outside of strings and comments."""
    names = {match[1] for match in _NAME.finditer(code)}
    return {namespace for namespace in namespaces if namespace.rpartition(".")[2] in names}
