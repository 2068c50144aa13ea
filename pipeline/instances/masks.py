"""Masking a program around one use of an API at token, line or block level, so that it can be undone exactly."""

from __future__ import annotations

import ast
import re
import tokenize
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.instances.rules import MaskingRules
from pipeline.instances.source import Source, Span, logical_lines, statements_around
from pipeline.lake import Reject
from pipeline.terms import Granularity, RejectReason

MASKS = {
    Granularity.TOKEN: "[token-mask]",
    Granularity.LINE: "[line-mask]",
    Granularity.BLOCK: "[block-mask]",
}

_COMPOUND = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.If,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked program and what stood where its mask is."""

    masked_code: str
    answer: str


def mask(
    source: Source, use: Span, uses: Sequence[Span], granularity: Granularity, rules: MaskingRules
) -> Masked | Reject:
    """Mask a program around the use whose name is at `use`, in VersiCode's sense (2406.07411, section 2).

    Token: every occurrence of the name becomes `[token-mask]`. Line: the logical line with the use becomes
    `[line-mask]`. Block: see `block_span`. Whatever else is readable of the name becomes `[token-mask]`. `uses` are
    all uses of the library in the program. Returns a Reject, with an empty key, where the rules refuse.
    """
    name = source.text_of(use)
    if any(text in source.text for text in MASKS.values()):
        return Reject("", RejectReason.LEAKS_ANSWER, "the code holds the text of a mask")
    cut: Span | None = None
    if granularity == Granularity.LINE:
        cut = line_span(source, use, rules)
    elif granularity == Granularity.BLOCK:
        cut = block_span(source, use, uses, rules)
    if cut is None and granularity != Granularity.TOKEN:
        return Reject("", RejectReason.NO_BLOCK, f"no {granularity} within the sizes of the rules")
    masked_code = _replace(source, name, cut, MASKS[granularity])
    if leak := readable(masked_code, name, ignore_case=rules.ignore_case):
        return Reject("", RejectReason.LEAKS_ANSWER, f"{leak!r} is left to read")
    return Masked(masked_code, source.text_of(cut) if cut else name)


def unmask(masked_code: str, granularity: Granularity, answer: str, core_token: str) -> str:
    """Put the answer and the core token back: the inverse of masking, also for a model's answer."""
    code = masked_code.replace(MASKS[Granularity.TOKEN], core_token)
    return code if granularity == Granularity.TOKEN else code.replace(MASKS[granularity], answer, 1)


def readable(masked_code: str, name: str, *, ignore_case: bool) -> str | None:
    """Return how the name can still be read as a whole word in a masked program, or None.

    Compatibility forms count (`ﬁrst` is the identifier `first`, PEP 3131), and other cases where rules say so.
    """
    text = masked_code
    for mask_text in MASKS.values():
        text = text.replace(mask_text, " ")
    found = _word(name, re.IGNORECASE if ignore_case else 0).search(unicodedata.normalize("NFKC", text))
    return found[0] if found else None


def line_span(source: Source, use: Span, rules: MaskingRules) -> Span | None:
    """Return the logical line with the use, or None where it has more physical lines than the rule allows."""
    for span in logical_lines(source):
        if span[0] <= use[0] < span[1]:
            return span if source.lines_in(span) <= rules.line.max_lines else None
    return None


def block_span(source: Source, use: Span, uses: Sequence[Span], rules: MaskingRules) -> Span | None:
    """Return the block to mask around a use, or None where there is none of the size that rules allow.

    It is the smallest compound statement around the use. Where there is none, it is the run of statements from the
    first to the last use of the same name, or, if that is too short, of the library. Imports are never part of it.
    """
    around = statements_around(source, use[0])
    compounds = [node for node in around if isinstance(node, _COMPOUND)]
    for node in reversed(compounds):
        span = source.span_of(node)
        if not source.data.startswith(b"elif", span[0]) and _fits(source, [node], rules):
            return span
    if compounds or not around:
        return None
    name = source.text_of(use)
    for marks in ([other for other in uses if source.text_of(other) == name], uses):
        run = _run(source, around[0], marks)
        if _fits(source, run, rules):
            return source.span_of(run[0])[0], source.span_of(run[-1])[1]
    return None


def _run(source: Source, middle: ast.stmt, marks: Sequence[Span]) -> list[ast.stmt]:
    """Return the statements of the module from the first to the last mark, as far as no import parts them."""
    body = source.tree.body
    first = last = body.index(middle)
    spans = [source.span_of(node) for node in body]
    marked = {i for i, (start, end) in enumerate(spans) if any(start <= mark[0] < end for mark in marks)}
    for step in (-1, 1):
        at = first if step < 0 else last
        while 0 <= at < len(body) and not _imports([body[at]]):
            first, last = (min(first, at), max(last, at)) if at in marked else (first, last)
            at += step
    return body[first : last + 1]


def _fits(source: Source, nodes: Sequence[ast.stmt], rules: MaskingRules) -> bool:
    statements = sum(isinstance(inner, ast.stmt) for node in nodes for inner in ast.walk(node))
    lines = source.lines_in((source.span_of(nodes[0])[0], source.span_of(nodes[-1])[1]))
    block = rules.block
    return statements >= block.min_statements and block.min_lines <= lines <= block.max_lines and not _imports(nodes)


def _imports(nodes: Sequence[ast.stmt]) -> bool:
    return any(isinstance(inner, ast.Import | ast.ImportFrom) for node in nodes for inner in ast.walk(node))


def _replace(source: Source, name: str, cut: Span | None, mask_text: str) -> str:
    edits = [
        (span, MASKS[Granularity.TOKEN]) for span in _occurrences(source, name) if not cut or not _inside(span, cut)
    ]
    edits += [(cut, mask_text)] if cut else []
    parts, at = [], 0
    for (start, end), text in sorted(edits):
        parts += [source.data[at:start], text.encode()]
        at = end
    return b"".join([*parts, source.data[at:]]).decode()


def _inside(span: Span, cut: Span) -> bool:
    return cut[0] <= span[0] and span[1] <= cut[1]


def _occurrences(source: Source, name: str) -> list[Span]:
    """Return where the name stands as an identifier, or as a word of a string or comment."""
    spans: list[Span] = []
    for token in source.tokens:
        if token.kind == tokenize.NAME and token.text == name:
            spans.append(token.span)
        elif token.kind in (tokenize.STRING, tokenize.COMMENT):
            for found in _word(name).finditer(token.text):
                start = token.span[0] + len(token.text[: found.start()].encode())
                spans.append((start, start + len(name.encode())))
    return spans


def _word(name: str, flags: int = 0) -> re.Pattern[str]:
    # In a string, the letter of an escape such as \n is not part of the word after it.
    return re.compile(rf"(?:(?<!\w)|(?<=\\[abfnrtv])){re.escape(name)}(?!\w)", flags)
