"""Taking personal data and secrets out of code: replacements in strings and comments, so that it still parses."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipeline.corpus.snippets.code_sample_rules import Placeholders, Redaction

_TEXT = (tokenize.STRING, tokenize.COMMENT)

Span = tuple[int, int]
"""First character and the character after the last."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what rules take out, how much that was, and the rule that could not take all of its kind out."""

    text: str
    count: int
    unredacted: str | None = None


def redact(
    text: str, rules: Sequence[Redaction], *, is_python: bool, placeholders: Placeholders | None = None
) -> Redacted:
    """Replace personal data and secrets by placeholders; texts that share `placeholders` have the same for the same.

    Of Python only strings and comments are looked at, since code may look like anything; of what does not read as
    Python, and of other languages, the whole text.
    """
    count = 0
    placeholders = {} if placeholders is None else placeholders
    for rule in rules:
        spans = rule.spans(text)
        if spans and is_python:
            inside = list(text_spans(text))
            spans = [span for span in spans if any(start <= span[0] and span[1] <= end for start, end in inside)]
        starts = [_after_escape(text, start) for start, _ in spans]
        data = [text[start:end] for start, (_, end) in zip(starts, spans, strict=True)]
        replacements = [rule.placeholder_for(piece, placeholders) for piece in data]
        for start, (_, end), placeholder in reversed(list(zip(starts, spans, replacements, strict=True))):
            text = text[:start] + placeholder + text[end:]
        count += len(spans)
        if rule.or_refuse is not None and rule.or_refuse.search(text):
            return Redacted(text, count, rule.name)
    return Redacted(text, count)


def text_spans(code: str) -> Iterator[Span]:
    """Yield where the strings and comments of a Python text stand; all of a text that cannot be read as Python."""
    lines = list(io.StringIO(code, newline=""))  # str.splitlines also ends lines where Python does not: \f, \x85
    starts = [0, *accumulate(len(line) for line in lines)]
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError):
        tokens = []
    if not tokens or any(token.type == tokenize.ERRORTOKEN for token in tokens):
        yield 0, len(code)
        return
    for token in tokens:
        if token.type in _TEXT:
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]


def _after_escape(text: str, start: int) -> int:
    r"""Return the first place that is no part of an escape: of `"\nada@…"` the data begins at `ada`."""
    backslashes = 0
    while backslashes < start and text[start - 1 - backslashes] == "\\":
        backslashes += 1
    return start + backslashes % 2
