"""Suggest close matches for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, names: Iterable[str], prefix: str = "") -> str:
    """Return ` (did you mean X?)`, or nothing without a close match; a prefix that all names have is not compared."""
    others = [name.removeprefix(prefix) for name in names if name != word]
    near = get_close_matches(word.removeprefix(prefix), others, n=3, cutoff=0.8)
    return f" (did you mean {' or '.join(prefix + name for name in near)}?)" if near else ""
