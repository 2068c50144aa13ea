"""Templates of Markdown texts, and escaping of untrusted text for cells of tables."""

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

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {character: f"\\{character}" for character in "\\|`*_[]~"}
)


def cell(text: object) -> str:
    """Escape text for a cell of a Markdown table, so that it is neither markup nor HTML.

    Unprintable characters are removed: marks of writing direction could disguise a licence or a name.
    """
    plain = " ".join(str(text).split())
    if not plain.isprintable():
        plain = "".join(filter(str.isprintable, plain))
    return plain.translate(_ESCAPES)
