"""Tables of a page."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows below their heads as a table of Markdown."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
