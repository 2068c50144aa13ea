"""The text of a post: paragraphs and blocks of code, from HTML (the dump, `body`) or Markdown (`body_markdown`)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figure",
        "footer",
        "header",
        "hr",
    }
    | {"li", "main", "nav", "ol", "p", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
    | {"h1", "h2", "h3", "h4", "h5", "h6"}
)
_HINT = re.compile(r"\b(?:lang|language|snippet-code)-([\w#+.-]+)")
_COMMENT = re.compile(r"\s*language(-all)?:\s*(?:lang-)?([\w#+.-]+)\s*")


@dataclass(frozen=True, slots=True)
class Segment:
    """A paragraph, or a block of code: the line of the post at which it begins, from 1.

    A paragraph has its line ends as they were written, and counts as if blocks stood directly below each other.
    `hint` is what the block says it is written in.
    """

    text: str
    code: bool
    line: int
    hint: str | None = None


def read_html(body: str) -> list[Segment]:
    """Return the segments of HTML; what is never closed ends where the next paragraph begins, or the post."""
    reader = _Reader()
    # A marked section means nothing in HTML (its parser may stop at one): it is text.
    reader.feed(body.replace("<![", "&lt;!["))
    reader.close()
    reader.flush()
    return list(_placed(reader.segments))


def markdown_to_html(text: str) -> str:
    """Return Markdown of the API, which escapes it like HTML, as the HTML that the site makes of it."""
    # The site renders with markdown-it (JavaScript) since 2020; this is its port.
    rendered: str = MarkdownIt("commonmark", {"html": True}).enable("table").render(html.unescape(text))
    return rendered


def _placed(segments: list[tuple[str, bool, str | None]]) -> Iterator[Segment]:
    line = 1
    for text, code, hint in segments:
        yield Segment(text, code, line, hint)
        line += text.count("\n") + 1


class _Reader(HTMLParser):
    """Collects text until a block begins or ends; never fails, whatever the markup."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.segments: list[tuple[str, bool, str | None]] = []
        self._text: list[str] = []
        self._in_pre = False
        self._hint: str | None = None
        self._next_hint: str | None = None
        self._usual_hint: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, or a line."""
        hint = _HINT.search(next((value or "" for name, value in attrs if name == "class"), ""))
        if tag == "pre":
            self.flush()
            self._in_pre = True
            self._hint = hint[1] if hint else self._next_hint or self._usual_hint
            self._next_hint = None
        elif tag in _BLOCKS:
            self.flush()
        elif tag == "code" and self._in_pre and hint:
            self._hint = hint[1]
        elif tag == "br":
            self._text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag == "pre" or tag in _BLOCKS:
            self.flush()

    def handle_data(self, data: str) -> None:
        """Add to the block."""
        self._text.append(data)

    def handle_comment(self, data: str) -> None:
        """Take notice of what the next block, or all of them, are written in (the site's own syntax)."""
        if match := _COMMENT.fullmatch(data):
            if match[1]:
                self._usual_hint = match[2]
            else:
                self._next_hint = match[2]

    def flush(self) -> None:
        """End what is being read."""
        text = "".join(self._text).replace("\r\n", "\n").replace("\r", "\n")
        text = _without_blank_ends(text) if self._in_pre else text.strip()
        if text:
            self.segments.append((text, self._in_pre, self._hint if self._in_pre else None))
        self._text = []
        self._in_pre = False
        self._hint = None


def _without_blank_ends(code: str) -> str:
    """Return code without blank lines around it; what the first line is indented by stays."""
    lines = code.rstrip().split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:])
