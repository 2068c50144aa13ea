"""A sentence or two that a model wrote about code: whether it is as long as one is, and gives nothing away."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.llm.names import find_names
from pipeline.llm.rules import DraftingRules


def text_problem(text: str, hidden: Sequence[str], rules: DraftingRules) -> str | None:
    """Say what is wrong with a description; None where nothing is."""
    most = rules.max_chars * rules.max_sentences
    if len(text) > most:
        return f"it is longer than {most} characters"
    if spans := find_names(text, hidden, rules):
        return f"it gives a hidden name away: {text[slice(*spans[0])]!r}"
    return f"it has fewer than {rules.min_words} words" if len(text.split()) < rules.min_words else None
