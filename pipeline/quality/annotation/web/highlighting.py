"""A view as the page needs it: texts as highlighted lines, and which of them stand side by side."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from markupsafe import Markup

from pipeline.quality.annotation.view import Link, Pane, View
from pipeline.quality.annotation.web.code import Span, lines
from pipeline.quality.annotation.web.side_by_side import Pair, side_by_side

PROSE = "text"
"""What the language of a pane is called that is no code."""


@dataclass(frozen=True, slots=True)
class RenderedView:
    """The panes of a view by how they are shown: `prose` as it is, `code` with its lines, `old` beside `new`."""

    prose: tuple[Pane, ...]
    code: tuple[tuple[Pane, list[Markup]], ...]
    old: Pane | None
    new: Pane | None
    pairs: list[Pair]
    links: tuple[Link, ...]


def rendered(view: View) -> RenderedView:
    """Return a view ready to be shown."""
    panes = {pane.name: pane for pane in view.panes}
    old, new = (panes[name] for name in view.compare) if view.compare else (None, None)
    code = (pane for pane in view.panes if is_code(pane) and pane not in (old, new))
    return RenderedView(
        prose=tuple(pane for pane in view.panes if not is_code(pane)),
        code=tuple((pane, lines(_ended(pane), pane.language, _masks(pane))) for pane in code),
        old=old,
        new=new,
        pairs=side_by_side(_ended(old), _ended(new), new.language) if old and new else [],
        links=tuple(link for link in view.links if safe(link.url)),
    )


def is_code(pane: Pane) -> bool:
    """Say whether a pane is shown with numbered lines."""
    return pane.language != PROSE


def safe(url: str) -> bool:
    """Say whether an address may be a link: any other scheme than http and https could run something."""
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False


def _ended(pane: Pane) -> str:
    """Return a text whose last line does not end: what stands behind its end is no line."""
    return pane.text.removesuffix("\n")


def _masks(pane: Pane) -> list[Span]:
    return [Span(start, end, "mask") for start, end in pane.hidden]
