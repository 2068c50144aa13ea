"""Code as lines of safe HTML: highlighted, with spans marked that matter to whoever judges it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
from markupsafe import Markup, escape
from tree_sitter import Language, Parser, Query, QueryCursor

LONGEST = 200_000
"""Characters above which code is shown without colours: a parser must not keep a page waiting."""

_GRAMMARS: Mapping[str, ModuleType] = {
    "python": tree_sitter_python,
    "java": tree_sitter_java,
    "javascript": tree_sitter_javascript,
}
"""The grammars that bring a query of what is to be highlighted, by language; others are shown without colours."""

_STYLES = {
    "keyword": "t-keyword",
    "comment": "t-comment",
    "string": "t-string",
    "escape": "t-string",
    "number": "t-number",
    "function": "t-name",
    "constructor": "t-name",
    "type": "t-name",
    "constant.builtin": "t-keyword",
    "embedded": "",
}
"""The class of what a query captures, by the name of the capture or its first part; the rest looks like plain text."""

# Characters that turn the order of what is shown (Trojan Source, CVE-2021-42574), and what is written for them.
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_REPLACEMENTS = {point: f"⟨U+{point:04X}⟩" for point in _TURNING}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end` of a text, and the class that they are shown with: mask or changed."""

    start: int
    end: int
    kind: str


def lines(code: str, language: str, spans: Sequence[Span] = ()) -> list[Markup]:
    """Return the lines of some code as HTML in which nothing of the code is markup; spans may not overlap.

    Code of a language without a grammar here is shown without colours.
    """
    rendered: list[list[str]] = [[]]
    for start, end, style in _cut(_tokens(code, language), sorted(spans)):
        for number, part in enumerate(code[start:end].split("\n")):
            if number:
                rendered.append([])
            if part:
                text = escape(part.translate(_REPLACEMENTS))
                rendered[-1].append(f'<span class="{style}">{text}</span>' if style else str(text))
    return [Markup("".join(parts)) for parts in rendered]  # noqa: S704 - every part was escaped above


def _tokens(code: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and class of the pieces of a text, in order and without gaps."""
    styles = _styles(code, language) if language in _GRAMMARS and len(code) <= LONGEST else [""] * len(code)
    at = 0
    for style, same in itertools.groupby(styles):
        end = at + len(list(same))
        yield at, end, style
        at = end


def _styles(code: str, language: str) -> list[str]:
    """Return the class of each character: that of the innermost piece which the grammar's query captures."""
    data = code.encode("utf-8", "surrogatepass")
    parser, query = _highlighter(language)
    captures = [
        (node.start_byte, -node.end_byte, style)
        for name, nodes in QueryCursor(query).captures(parser.parse(data).root_node).items()
        if (style := _STYLES.get(name, _STYLES.get(name.partition(".")[0]))) is not None
        for node in nodes
    ]
    places = _places(code, data)
    styles = [""] * len(code)
    for start, end, style in sorted(captures):
        first, last = places[start], places[-end]
        styles[first:last] = [style] * (last - first)
    return styles


def _places(code: str, data: bytes) -> Sequence[int]:
    """Return the character that each byte of a text belongs to, and the end."""
    if len(data) == len(code):
        return range(len(code) + 1)
    sizes = (len(character.encode("utf-8", "surrogatepass")) for character in code)
    return [place for place, size in enumerate(sizes) for _ in range(size)] + [len(code)]


@functools.cache
def _highlighter(language: str) -> tuple[Parser, Query]:
    grammar = _GRAMMARS[language]
    loaded = Language(grammar.language())
    return Parser(loaded), Query(loaded, grammar.HIGHLIGHTS_QUERY)


def _cut(tokens: Iterable[tuple[int, int, str]], spans: Sequence[Span]) -> Iterator[tuple[int, int, str]]:
    """Yield the tokens, cut where a span begins or ends, with the span's class beside their own."""
    waiting = list(reversed(spans))
    for start, end, style in tokens:
        at = start
        while at < end:
            while waiting and waiting[-1].end <= at:
                waiting.pop()
            span = waiting[-1] if waiting else None
            if span is None or span.start >= end:
                stop, kind = end, ""
            elif span.start > at:
                stop, kind = span.start, ""
            else:
                stop, kind = min(end, span.end), span.kind
            yield at, stop, f"{style} {kind}".strip()
            at = stop
