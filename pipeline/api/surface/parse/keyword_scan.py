"""Words that tell of a source what must be looked at more closely, and whether it may be Python 2.

All are looked for in one pass over a text, which takes as long as to look for two or three of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ahocorasick_rs import AhoCorasick, MatchKind

MAKES_NAMES = ("globals(", "vars(", "exec(", "setattr(", "locals(", "sys.modules")
"""What a module calls that makes names as it runs."""

GLOBALS = "globals()"
GETATTR = "def __getattr__"
SETATTR = "setattr("
RAISES_ATTRIBUTE_ERROR = "raise Attribute"

WARNS = ("eprecat", "Warning", "DEPRECAT")
"""What stands in a function that warns, or that has a default which says that it is deprecated."""

PYTHON_2 = "Python 2"
"""What is told of a source that may be Python 2."""

_WORDS = (*MAKES_NAMES, GLOBALS, GETATTR, RAISES_ATTRIBUTE_ERROR, *WARNS)

# What Python 2 alone allows in a function. In a docstring it makes the function be parsed whole for nothing.
_PRINT = re.compile(r"""print ["'\w%`]""")
_PYTHON_2_ALONE = {
    "except ": re.compile(r"except (?:[\w.]+|\([\w., ]+\)) ?, ?\w+ ?:"),
    "raise ": re.compile(r"""raise [\w.]+ ?, ?["'\w]"""),
    "exec ": re.compile(r"""exec [\w"']+ in """),
    "print ": _PRINT,
    "<>": re.compile(r"""<> ?[\w"'([{-]"""),
    **{f"{digit}L": re.compile(r"\dL\b") for digit in range(10)},
}

_LOOKED_FOR = (*_WORDS, *_PYTHON_2_ALONE)
_search = AhoCorasick(_LOOKED_FOR, matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes

_MEANT = [
    (
        [word for word in _WORDS if word in keyword],
        next((pattern for word, pattern in _PYTHON_2_ALONE.items() if keyword.startswith(word)), None),
    )
    for keyword in _LOOKED_FOR
]
"""For each of them the words in it, and a pattern of what may begin there that Python 2 alone allows."""


def keywords_in(text: str) -> frozenset[str]:
    """Return which of the words stand in a text; of one cut at the ends of lines, all parts together tell the same.

    Errors: UnicodeEncodeError for a text with half a character in it (a surrogate), which no parser takes either.
    """
    keywords: set[str] = set()
    for number, place, _ in _search(text):
        words, alone = _MEANT[number]
        keywords.update(words)
        if alone is not None and alone.match(text, place):
            # `print` is a word of prose too, in the middle of a line
            begins = not text[text.rfind("\n", 0, place) + 1 : place].strip(" \t")
            keywords.update([PYTHON_2] if begins or alone is not _PRINT else ())
    return frozenset(keywords)


def find_all(text: str, word: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where a word stands in a text: `str.find` is many times faster than a pattern."""
    place = text.find(word, start, end)
    while place >= 0:
        yield place
        place = text.find(word, place + 1, end)
