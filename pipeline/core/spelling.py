"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that follows a name which is none of those that are known; empty where none is alike."""
    near = [close for close in get_close_matches(word, list(known), n=3, cutoff=0.8) if close != word]
    return f" (did you mean {' or '.join(near)}?)" if near else ""
