"""Bytes to text, and the lines at which things stand in it."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BREAKS = re.compile(r"\r\n|\r")


def decoded(content: bytes) -> str | None:
    """Return the text of a file, with `\\n` at the end of each line; None where it is no text.

    A byte order mark decides, then an encoding that one of the first two lines states (PEP 263, which pip honours too),
    then UTF-8, then UTF-16 without a mark, as some editors write it, and Windows' Western encoding.
    """
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError, ValueError):
            continue
        if "\0" not in text:
            return _BREAKS.sub("\n", text)
    return None


def _encodings(content: bytes) -> list[str]:
    marked = next((encoding for mark, encoding in _BOMS if content.startswith(mark)), None)
    if marked:
        return [marked]
    stated = [found[1].decode() for line in content.splitlines()[:2] if (found := _COOKIE.match(line))]
    wide = ["utf-16-le" if content[1:2] == b"\0" else "utf-16-be"] if b"\0" in content[:2] else []
    return [*(name for name in stated if _is_text(name)), "utf-8", *wide, "cp1252"]


def _is_text(encoding: str) -> bool:
    """Whether an encoding is known and turns bytes into text; rot13 and zip do not."""
    try:
        return codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        return False


class Lines:
    """Where words stand in a text: formats whose parsers give no lines are looked up afterwards."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def of(self, word: str, after: int = 1) -> int:
        """Return the first line, from `after` on, that has a word; else the first at all that has it, else `after`."""
        start = max(after, 1) - 1
        for number, line in enumerate(self._lines[start:], start + 1):
            if word in line:
                return number
        return next((number for number, line in enumerate(self._lines, 1) if word in line), max(after, 1))
