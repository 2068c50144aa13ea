"""Fragments of code, as predictions are, made into programs that a parser takes.

A prediction may be a line out of the middle of a function, a block whose first line has lost its indentation, or the
header of a statement without its body.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_MARGIN = re.compile(r"\n([ \t]+)(?=\S)")
_MARGINS = 4
# What a fragment that begins so goes on from; a name such as `excepting` only looks like it.
_OPENERS = ((re.compile(r"(elif|else)\b"), "if x: pass"), (re.compile(r"(except|finally)\b"), "try: pass"))
_CASE = re.compile(r"case\b")


def parse_fragment(code: str) -> ast.Module | None:
    """Parse statements at any indentation, or the header of a compound statement; None where they are not valid.

    Wrapped as it had to be to parse: what stands around the fragment's own statements has no calls and no attributes.
    """
    for attempt in _attempts(code.strip("\n").rstrip()):
        if (tree := parse_program(attempt)) is not None:
            return tree
    return None


def parse_program(code: str) -> ast.Module | None:
    """Parse a whole program; None where it is not valid, or too much for the parser."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _attempts(text: str) -> Iterator[str]:
    """Yield the programs that a fragment may be a part of; nothing of an empty one."""
    if not text:
        return
    flush = _flush(text)
    yield flush
    if flush.endswith(":"):
        yield f"{flush} pass"
    if "\n" in flush:
        yield from _hanging(flush)
    yield from _continued(flush)


def _flush(text: str) -> str:
    """Take the indentation of the first line off every line."""
    margin = len(text) - len(text.lstrip(" \t"))
    if not margin or "\n" not in text:
        return text[margin:]
    blank = text[:margin]
    return "\n".join(line[margin:] if line.startswith(blank) else line for line in text.split("\n"))


def _hanging(text: str) -> Iterator[str]:
    """Give the first line the indentation of one of the next: of what stood at a cursor only they kept it."""
    opener = _opener(text)
    for margin in sorted({found[1] for found in _MARGIN.finditer(text)}, key=len)[:_MARGINS]:
        before = f"{margin}{opener}\n" if opener else ""
        yield f"if x:\n{before}{margin}{text}"


def _continued(text: str) -> Iterator[str]:
    """Put in front of `else:` and its like what they continue, and behind a decorator what it decorates."""
    body = f"{text} pass" if text.endswith(":") else text
    if opener := _opener(text):
        yield f"{opener}\n{body}"
    elif _CASE.match(text):
        yield "match x:\n" + "\n".join(f" {line}" for line in body.split("\n"))
    if text.startswith("@") or "\n@" in text:
        yield f"{text}\ndef f(): pass"


def _opener(text: str) -> str | None:
    """Return the statement that a fragment continues, if it does."""
    return next((opener for begins, opener in _OPENERS if begins.match(text)), None)
