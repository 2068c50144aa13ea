"""Masking a program around one use of an API at token, line or block level, so that it can be undone exactly."""

from __future__ import annotations

import ast
import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.source import Source, Span, Statement
from pipeline.lake.stage import Reject

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.families.completions_and_migrations.rules import MaskingRules

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
)
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_ESCAPES = ("[abfnrtv]", "x[0-9a-fA-F]{2}", "u[0-9a-fA-F]{4}", "U[0-9a-fA-F]{8}", "[0-7]", "[0-7]{2}", "[0-7]{3}")
"""The escapes of strings that end in a letter or digit (Python language reference, 2.4.1), each of one width."""
_AFTER_ESCAPE = "|".join(rf"(?<=\\{escape})" for escape in _ESCAPES)

_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in a name in camel case."""
_LEAST_WORDS = 2
"""Of a name of one word the opposite has no word in common with it: every program has a `from` or `set`."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked program and what stood where its mask is; `cut` is that span, None where a name is masked."""

    masked_code: str
    answer: str
    cut: Span | None = field(default=None, compare=False)


def mask(
    source: Source, use: Span, uses: Sequence[Span], granularity: Granularity, rules: MaskingRules
) -> Masked | Reject:
    """Mask a program around the use whose name is at `use`, in VersiCode's sense (2406.07411, section 2).

    Token: every occurrence of the API's name becomes `[token-mask]`. Line: the logical line with the use becomes
    `[line-mask]`. Block: see `block_span`. Whatever else is readable of the name becomes `[token-mask]`. `uses` are
    all uses of the library in the program. Returns a Reject, with an empty key, where the rules refuse.
    """
    cut: Span | None = None
    if granularity == Granularity.LINE:
        cut = line_span(source, use, rules)
    elif granularity == Granularity.BLOCK:
        cut = block_span(source, use, uses, rules)
    if cut is None and granularity != Granularity.TOKEN:
        return Reject("", RejectReason.NO_BLOCK, f"no {granularity} within the sizes of the rules")
    name, of_argument = source.text_of(use), use in source.keywords
    masked = mask_span(source, name, cut, granularity, ignore_case=rules.ignore_case, of_argument=of_argument)
    if isinstance(masked, Masked) and (leak := _opposite(masked.masked_code, name, rules.opposites)):
        return Reject("", RejectReason.LEAKS_ANSWER, f"{leak!r}, its opposite, is left to read")
    return masked


def mask_span(
    source: Source,
    name: str,
    cut: Span | None,
    granularity: Granularity,
    *,
    ignore_case: bool,
    of_argument: bool = False,
) -> Masked | Reject:
    """Mask a span of a program, or nothing but a name, and the occurrences outside of the API or argument of that name.

    Returns a Reject, with an empty key, where the name can be read after all.
    """
    if any(text in source.text for text in MASKS.values()):
        return Reject("", RejectReason.LEAKS_ANSWER, "the code holds the text of a mask")
    masked_code = _replace(source, name, cut, MASKS[granularity], of_argument=of_argument)
    if leak := readable(masked_code, name, ignore_case=ignore_case):
        return Reject("", RejectReason.LEAKS_ANSWER, f"{leak!r} is left to read")
    return Masked(masked_code, source.text_of(cut) if cut else name, cut)


def unmask(masked_code: str, granularity: Granularity, answer: str, core_token: str) -> str:
    """Put the answer and the core token back: the inverse of masking, also for a model's answer."""
    code = masked_code.replace(MASKS[Granularity.TOKEN], core_token)
    return code if granularity == Granularity.TOKEN else code.replace(MASKS[granularity], answer, 1)


def mask_in_output(text: str, name: str) -> str:
    """Mask a name where what a program displays has it as a representation does: before a bracket, or after a dot.

    Elsewhere it is a value, such as a key, which a mask would change to something else.
    """
    return re.sub(rf"(?<!\w){re.escape(name)}(?=\()|(?<=\w\.){re.escape(name)}(?!\w)", MASKS[Granularity.TOKEN], text)


def readable(masked_code: str, name: str, *, ignore_case: bool) -> str | None:
    """Return how the name can still be read as a whole word in a masked program, or None.

    Compatibility forms count (`ﬁrst` is the identifier `first`, PEP 3131), and other cases where rules say so.
    """
    text = without_masks(masked_code)
    if text.isascii() and name.isascii() and name.lower() not in text.lower():
        # True of nearly all: no other letters are taken for these, so that no expression has to be compiled.
        return None
    match = _word(name, re.IGNORECASE if ignore_case else 0).search(unicodedata.normalize("NFKC", text))
    return match[0] if match else None


def _opposite(masked_code: str, name: str, opposites: Sequence[tuple[str, str]]) -> str | None:
    """Return a name that is left to read, with all words of the hidden one but for one, its opposite; or None."""
    words = _words(name)
    if len(words) < _LEAST_WORDS:
        return None
    partners = {
        (*words[:place], there, *words[place + 1 :])
        for place, word in enumerate(words)
        for here, there in (*opposites, *(pair[::-1] for pair in opposites))
        if word == here
    }
    names = dict.fromkeys(_NAME.findall(without_masks(masked_code))) if partners else ()
    return next((each for each in names if _words(each) in partners), None)


def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in snake or camel case, in lower case."""
    return tuple(_WORD.sub("_", name).lower().strip("_").split("_"))


def without_masks(masked_code: str) -> str:
    """Return a masked program without its masks, each of which is a space."""
    for mask_text in MASKS.values():
        masked_code = masked_code.replace(mask_text, " ")
    return masked_code


def line_span(source: Source, use: Span, rules: MaskingRules) -> Span | None:
    """Return the logical line with the use, or None where it has more physical lines than the rule allows.

    Nor is the first line of a definition masked, whose name and parameters are free.
    """
    for span in source.logical_lines:
        if span[0] <= use[0] < span[1]:
            begins_definition = re.match(rb"(?:async\s+)?def\b|class\b", source.data[slice(*span)])
            return span if source.lines_in(span) <= rules.line.max_lines and not begins_definition else None
    return None


def block_span(source: Source, use: Span, uses: Sequence[Span], rules: MaskingRules) -> Span | None:
    """Return the block to mask around a use, or None where there is none of the size that rules allow.

    It is the smallest compound statement, or body of a definition without its docstring, around the use: nobody can
    know the name and parameters of a definition. Where there is neither, it is the run of statements from the first to
    the last use of the same name, or, if that is too short, of the library. Imports are never part of it.
    """
    around = source.around(use[0])
    nested = False
    for statement in reversed(around):
        if isinstance(statement.node, _DEFINITION):
            block = statement.held[ast.get_docstring(statement.node, clean=False) is not None :]
        elif isinstance(statement.node, _COMPOUND):
            block = () if source.data.startswith(b"elif", statement.span[0]) else (statement,)
        else:
            continue
        nested = True
        if block and block[0].span[0] <= use[0] and _fits(source, block, rules):
            return block[0].span[0], block[-1].span[1]
    if nested or not around:
        return None
    name = source.text_of(use)
    for marks in ([other for other in uses if source.text_of(other) == name], uses):
        run = _run(source, around[0], marks)
        if _fits(source, run, rules):
            return run[0].span[0], run[-1].span[1]
    return None


def _run(source: Source, middle: Statement, marks: Sequence[Span]) -> Sequence[Statement]:
    """Return the statements of the module from the first to the last mark, as far as no import parts them."""
    body = source.body
    first = last = body.index(middle)
    marked = set(map(source.place_of, marks))
    for step in (-1, 1):
        at = first if step < 0 else last
        while 0 <= at < len(body) and not body[at].imports:
            first, last = (min(first, at), max(last, at)) if at in marked else (first, last)
            at += step
    return body[first : last + 1]


def _fits(source: Source, run: Sequence[Statement], rules: MaskingRules) -> bool:
    block = rules.block
    enough = sum(statement.count for statement in run) >= block.min_statements
    if not enough or any(statement.imports for statement in run):
        return False
    return block.min_lines <= source.lines_in((run[0].span[0], run[-1].span[1])) <= block.max_lines


def _replace(source: Source, name: str, cut: Span | None, mask_text: str, *, of_argument: bool) -> str:
    edits = [
        (span, MASKS[Granularity.TOKEN])
        for span in _occurrences(source, name, of_argument=of_argument)
        if not cut or not _inside(span, cut)
    ]
    edits += [(cut, mask_text)] if cut else []
    parts, at = [], 0
    for (start, end), text in sorted(edits):
        parts += [source.data[at:start], text.encode()]
        at = end
    return b"".join([*parts, source.data[at:]]).decode()


def _inside(span: Span, cut: Span) -> bool:
    return cut[0] <= span[0] and span[1] <= cut[1]


def _occurrences(source: Source, name: str, *, of_argument: bool) -> list[Span]:
    """Return where the name stands as that of an API, or as a word of a string or comment.

    Arguments, parameters and variables that are spelled alike are others' names: a mask would ask for the API there.
    """
    others = (source.bound | source.keywords) if not of_argument else frozenset()
    spans = [span for span in source.names.get(name, ()) if span not in others]
    for token in source.texts:
        if name in token.text:
            for match in _word(name).finditer(token.text):
                start = token.span[0] + len(token.text[: match.start()].encode())
                spans.append((start, start + len(name.encode())))
    return spans


@functools.lru_cache(maxsize=4096)
def _word(name: str, flags: int = 0) -> re.Pattern[str]:
    # In a string, the letters and digits of an escape such as \n or \x20 are not part of the word after it.
    return re.compile(rf"(?:(?<!\w)|{_AFTER_ESCAPE}){re.escape(name)}(?!\w)", flags)
