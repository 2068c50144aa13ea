"""Two versions of a code side by side: which lines stand beside each other, and what in them differs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.quality.annotation.web.code import Span, lines

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
MOST_LINES = 2_000
"""Lines of one side above which they are not compared: what is compared costs their product."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A line of one side: its number, from 1, and its text as HTML; no number where the other side has more lines."""

    number: int | None
    html: Markup


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lines beside each other; `kind` is same, changed, gone or new."""

    kind: str
    old: Cell
    new: Cell


_NONE = Cell(None, Markup(""))


def side_by_side(old: str, new: str, language: str) -> list[Pair]:
    """Return the lines of two texts in pairs, with the words marked in which changed lines differ."""
    before, after = old.split("\n"), new.split("\n")
    blocks = _blocks(before, after)
    marks = [_differing(before, after, block) for block in blocks]
    olds = lines(old, language, [span for removed, _ in marks for span in removed])
    news = lines(new, language, [span for _, right in marks for span in right])
    return [
        Pair(kind, _cell(olds, i), _cell(news, j))
        for tag, a, b, c, d in blocks
        for kind, i, j in _beside(tag, a, b, c, d)
    ]


_Block = tuple[str, int, int, int, int]


def _blocks(before: Sequence[str], after: Sequence[str]) -> list[_Block]:
    if max(len(before), len(after)) > MOST_LINES:
        return [("replace", 0, len(before), 0, len(after))]
    return list(difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes())


def _beside(tag: str, a: int, b: int, c: int, d: int) -> Iterator[tuple[str, int | None, int | None]]:
    for offset in range(max(b - a, d - c)):
        old = a + offset if a + offset < b else None
        new = c + offset if c + offset < d else None
        kind = "same" if tag == "equal" else "gone" if new is None else "new" if old is None else "changed"
        yield kind, old, new


def _cell(rendered: Sequence[Markup], line: int | None) -> Cell:
    return _NONE if line is None else Cell(line + 1, rendered[line])


def _differing(before: Sequence[str], after: Sequence[str], block: _Block) -> tuple[list[Span], list[Span]]:
    """Return the words in which lines beside each other differ, as characters of the whole texts."""
    tag, a, b, c, d = block
    spans: tuple[list[Span], list[Span]] = ([], [])
    if tag != "replace" or max(b - a, d - c) > MOST_LINES:
        return spans
    old_at = sum(len(line) + 1 for line in before[:a])
    new_at = sum(len(line) + 1 for line in after[:c])
    for old, new in zip(before[a:b], after[c:d], strict=False):
        old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
        for word_tag, i, j, k, m in difflib.SequenceMatcher(None, old_words, new_words, autojunk=False).get_opcodes():
            if word_tag != "equal":
                spans[0].extend(_span(old_words, i, j, old_at))
                spans[1].extend(_span(new_words, k, m, new_at))
        old_at += len(old) + 1
        new_at += len(new) + 1
    return spans


def _span(words: Sequence[str], first: int, last: int, at: int) -> Iterator[Span]:
    start = at + sum(map(len, words[:first]))
    if first < last:
        yield Span(start, start + sum(map(len, words[first:last])), "changed")
