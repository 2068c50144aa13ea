"""The prose of a docstring as plain sentences: without sections, examples, directives and markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_SECTION = re.compile(
    r"(args|arguments|parameters|other parameters|params|returns?|yields?|raises?|warns|examples?|notes?|see also"
    r"|references|attributes|methods|usage|warnings?|keyword args|keyword arguments|todo)\s*:{0,2}",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(:\w[\w ]*\s?[^:`]*:(\s|$))|@(param|return|rtype|raise)")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+`.])\1{2,}")
_BULLET = re.compile(r"([*+\-•]|\(?\w{1,2}[.)]|#\.)\s+\S")

_MARKED_NAME = re.compile(r"(?<![\w*`])(?:\*{1,2}|`{1,2})([^\W\d]\w*)(?:\(\))?(?:\*{1,2}|`{1,2})(?![\w*`])")

_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r":[\w:+-]+:`~(?:[\w.]*\.)?(\w+(?:\(\))?)`", r"\1"),  # :func:`~a.b.c` shows its last part
        (r":[\w:+-]+:`!?([^`<]+?)\s*<[^`>]+>`", r"\1"),  # :func:`text <target>`
        (r":[\w:+-]+:`!?([^`]+)`", r"\1"),
        (r"`([^`<]+?)\s*<[^`>]+>`_{0,2}", r"\1"),  # `text <address>`_
        (r"``([^`]+)``", r"\1"),
        (r"(?<!\\)`([^`]+)(?<!\\)`_{0,2}", r"\1"),
        (r"!?\[([^\]]+)\]\([^)\s]+\)", r"\1"),  # Markdown's [text](address)
        (r"\s?\[(?:\d+|#\w*|\*)\]_", ""),  # footnotes
        (r"(?<![\w*])\*\*(?=\S)([^*]+?)(?<=\S)\*\*(?![\w*])", r"\1"),
        (r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"\1"),
        (r"(?<!\w)\|(\w[^|]*)\|_{0,2}", r"\1"),  # |substitution|
        (r"\\([*_`|\\<>])", r"\1"),  # escaped markup
    )
)


def sentences(docstring: str, abbreviations: Sequence[str]) -> list[str]:
    """Return the sentences of a docstring's prose, plain, before its first section of parameters or examples."""
    return [sentence for block in _paragraphs(docstring) for sentence in _split(plain(block), abbreviations)]


def split_sentences(text: str, abbreviations: Sequence[str]) -> list[str]:
    """Return the sentences of plain text."""
    return list(_split(" ".join(text.split()), abbreviations))


def names_in_code(docstrings: Iterable[str]) -> frozenset[str]:
    """Return the names that docstrings set apart from their words, as code or by emphasis: `*n*`, `` `key` ``."""
    return frozenset(name for docstring in docstrings for name in _MARKED_NAME.findall(docstring))


def plain(text: str) -> str:
    """Return a text without the markup of reStructuredText and Markdown, on one line."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def _paragraphs(docstring: str) -> Iterator[str]:
    """Yield the paragraphs of prose: what is indented, listed, tabled, prompted or fenced is none."""
    lines = _without_fences(docstring.expandtabs(8).splitlines())
    blocks = "\n".join(_without_headings(lines)).split("\n\n")
    for block in blocks:
        paragraph: list[str] = []
        for line in block.strip("\n").split("\n"):
            if _ends_prose(line):
                if paragraph:
                    yield "\n".join(paragraph)
                return
            if line.startswith((" ", ">>>", "..", "|")) or _BULLET.match(line) or _UNDERLINE.match(line):
                break
            paragraph.append(line)
        if paragraph and any(paragraph):
            yield "\n".join(paragraph)


def _without_fences(lines: Sequence[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
        elif not inside:
            yield line.rstrip()


def _without_headings(lines: Iterator[str]) -> Iterator[str]:
    """Drop underlined titles, but keep a section's name, at which the prose ends."""
    held: str | None = None
    for line in lines:
        if held and line and _UNDERLINE.fullmatch(line):
            held = held if _SECTION.fullmatch(held) else ""
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def _ends_prose(line: str) -> bool:
    return bool(_SECTION.fullmatch(line) or _FIELD.match(line))


def _split(text: str, abbreviations: Sequence[str]) -> Iterator[str]:
    start = 0
    for end in re.finditer(r"[.!?][\"')\]]*\s+(?=\S)", text):
        words = text[start : end.start()].split()
        last = words[-1].lstrip("(\"'") if words else ""
        if last.lower() in {short.lower() for short in abbreviations}:
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    if rest := text[start:].strip():
        yield rest
