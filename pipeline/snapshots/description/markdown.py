"""Texts of a snapshot as Markdown: the templates, and text of strangers that stays inside its cell."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

templates = Environment(
    loader=PackageLoader("pipeline.snapshots.description", "."),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - the texts are Markdown, and cell() keeps text inside its cell
)

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {character: f"\\{character}" for character in "\\|`*_[]~"}


def cell(text: object) -> str:
    """Return text that stays inside its cell of a Markdown table and is not read as markup or HTML.

    What cannot be printed goes: marks of writing direction could show a licence or a name as another one.
    """
    plain = "".join(character for character in " ".join(str(text).split()) if character.isprintable())
    return "".join(_ESCAPES.get(character, character) for character in plain)
