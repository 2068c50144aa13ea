"""Text from outside as text: what a terminal would obey, or a reader would not see, is written as its escape."""

from __future__ import annotations

from functools import partial

_LINES = frozenset("\n\t")


def printable(text: str, allowed: frozenset[str] = _LINES) -> str:
    """Return a text whose characters can all be seen, with line feeds and tabs as they are.

    Controls (ECMA-48), marks of writing direction and what else has no shape become `\\x1b`, `\\u202e` and the like.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in allowed else _escaped(character) for character in text
    )


one_line = partial(printable, allowed=frozenset())
"""The same with every line feed escaped too, so that nobody can write a line of a log."""


def printable_json(text: str) -> str:
    """Return JSON in which strings hold nothing that a terminal obeys; it says the same."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character == "\n" else _in_json(character) for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
