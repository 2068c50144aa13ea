"""The text of a docstring without the indentation of the source (PEP 257), and where it begins."""

from __future__ import annotations

import ast
import functools
import re

from pipeline.api.surface.parse.syntax import text_of

_QUOTES = re.compile(r"""^\s*[rRbBuUfF]{0,2}("{3}|'{3}|"|')|\\$""")

_INDENTATION = re.compile(r"\n([^\S\n]*)\S")


def read_docstring(docstring: ast.Constant | None, source: str) -> tuple[str | None, int]:
    """Return the docstring without its indentation, and the line of the source where its text begins."""
    text = None if docstring is None else text_of(docstring)
    if docstring is None or text is None or not text.strip():
        return None, 1
    line = docstring.lineno
    # that is the line of the opening quotes; the text may begin further down
    if (docstring.end_lineno or line) - line == text.count("\n"):
        # neither escapes nor continued lines: the text has the lines that the source has
        return clean_docstring(text), line + text.count("\n", 0, len(text) - len(text.lstrip()))
    lines = source.split("\n")
    while line < len(lines) and not _QUOTES.sub("", lines[line - 1]).strip():
        line += 1
    return clean_docstring(text), line


@functools.lru_cache(maxsize=1024)
def clean_docstring(text: str) -> str:
    """Return a docstring as `inspect.cleandoc` does, in a fourth of its time: a history has hundreds of thousands.

    Most versions of a function have the docstring of the version before.
    """
    text = text.rstrip()
    text = text.expandtabs() if "\t" in text else text
    if "\n" in text:
        text = _without_margin(text)
    first, newline, rest = text.partition("\n")
    return (first.lstrip() + newline + rest).lstrip("\n")


def _without_margin(text: str) -> str:
    """Return a text without the margin of the lines below its first one, the last of which is not blank."""
    match = _INDENTATION.search(text)
    line = match[0][:-1] if match else "\n"
    if len(line) > 1 and text.count(line) + text.count("\n\n") == text.count("\n"):
        # no line is indented less, and those without anything in them stand alone: what nearly all docstrings are like
        return text.replace(line, "\n")
    margin = min(map(len, _INDENTATION.findall(text)))
    return _margin(margin).sub("\n", text) if margin else text


@functools.lru_cache(maxsize=64)
def _margin(width: int) -> re.Pattern[str]:
    return re.compile(rf"\n[^\n]{{0,{width}}}")
