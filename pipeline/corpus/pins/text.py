"""Bytes to text, and the lines at which things stand in it."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BREAKS = re.compile(r"\r\n|\r")
_LITERAL = re.compile(r""""([^"\n]*)"|'([^'\n]*)'""")
_KEY = re.compile(r"""(?:^|[{,])\s*["']?([^\s"'=:{,]+)["']?\s*[=:]""")


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
    declared = [
        match[1].decode("ascii", "replace") for line in content.split(b"\n", 2)[:2] if (match := _COOKIE.match(line))
    ]
    wide = ["utf-16-le" if content[1:2] == b"\0" else "utf-16-be"] if b"\0" in content[:2] else []
    return [*declared, "utf-8", *wide, "cp1252"]


class Lines:
    """Where things stand in a text whose parser gives no lines: everything is indexed once, in one pass.

    Each look-up returns the first line, from `after` on, where it stands; else the first at all, else `after`.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def literal(self, text: str, after: int = 1) -> int:
        """Return the line of a string between quotes."""
        return _first(self._literals.get(text, []), after)

    def key(self, name: str, after: int = 1) -> int:
        """Return the line of a key, before `=` or `:`."""
        return _first(self._keys.get(name, []), after)

    def line(self, text: str, after: int = 1) -> int:
        """Return the line that says this and nothing else."""
        return _first(self._whole.get(text, []), after)

    def table(self, *names: str) -> int:
        """Return the line of the header of a TOML table; the first one where it has none of its own."""
        return self.line(f"[{'.'.join(names)}]")

    def each(self, text: str) -> list[int]:
        """Return all lines that say this and nothing else."""
        return self._whole.get(text, [])

    @cached_property
    def _literals(self) -> dict[str, list[int]]:
        return _index((number, match[1] or match[2] or "") for number, match in self._matches(_LITERAL))

    @cached_property
    def _keys(self) -> dict[str, list[int]]:
        return _index((number, match[1]) for number, match in self._matches(_KEY))

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        return _index((number, line.strip()) for number, line in enumerate(self._lines, 1))

    def _matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
        for number, line in enumerate(self._lines, 1):
            for match in pattern.finditer(line):
                yield number, match


def _index(numbered: Iterator[tuple[int, str]]) -> dict[str, list[int]]:
    index: defaultdict[str, list[int]] = defaultdict(list)
    for number, text in numbered:
        index[text].append(number)
    return dict(index)


def _first(lines: list[int], after: int) -> int:
    if not lines:
        return after
    place = bisect_left(lines, after)
    return lines[place] if place < len(lines) else lines[0]
