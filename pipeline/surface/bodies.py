"""The bodies of a file's functions: left out when the file is parsed, and read where they say something.

Four fifths of a file's syntax tree are bodies, and most say nothing about the API. So a file is parsed without them,
and a body is parsed on its own once a cheap search has found something in its lines.
"""

from __future__ import annotations

import ast
import functools
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from prune_source import prune_source

from pipeline.surface.syntax import Function, text_of

# What Python 2 alone allows in a function. In a docstring it makes the file be parsed whole for nothing.
_PRINT = re.compile(r"""\n[ \t]*print ["'\w%`]""")
_OTHERS_OF_PYTHON_2 = (
    ("except ", re.compile(r"except [\w.]+ ?, ?\w+ ?:")),
    ("raise ", re.compile(r"""raise [\w.]+ ?, ?["'\w]""")),
    ("exec ", re.compile(r"""exec [\w"']+ in """)),
)
_EXTENDS = re.compile(r"""setattr\(\s*([A-Za-z_]\w*)\s*,\s*(?!\s|["'][^"'{}]*["']\s*,)""")
_INDENTATION = re.compile(r"\n([ \t]+)[^\s#]")


def without_bodies(text: str) -> str:
    """Return a source with the bodies of its functions replaced by `pass`, but those of `__init__`; lines stay.

    A source that may be Python 2 is returned as it is: whether all of it parses must be seen.
    """
    return text if _may_be_python_2(text) else prune_source(text) or text


def _may_be_python_2(text: str) -> bool:
    if "print " in text and _PRINT.search(text):
        return True
    return any(pattern.match(text, place) for word, pattern in _OTHERS_OF_PYTHON_2 for place in find_all(text, word))


Places = Callable[[str], list[int]]
"""Gives where something stands in the text of a file, in order."""


class Bodies:
    """The bodies of the functions of one file, found by the syntax nodes of its parse without bodies."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._ends = list(accumulate(map(len, self.lines)))
        self._words: dict[str, bool] = {}
        self._places: dict[Places, list[int]] = {}
        self._first_lines: dict[int, int] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._read: dict[int, list[ast.stmt]] = {}
        self._extended: frozenset[str] | None = None

    def first_line(self, node: Function) -> int:
        """Return the number (from 0) of the line where a body begins, after the docstring.

        In a function of one line this is the line after it.
        """
        known = self._first_lines.get(id(node))
        if known is None:
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and text_of(first.value) is not None
            known = (first.end_lineno or first.lineno) if documented else _header_end(node, self.lines)
            self._first_lines[id(node)] = known
        return known

    def span(self, node: Function) -> tuple[int, int]:
        """Return where a body begins and ends in the text of the file, without its docstring."""
        known = self._spans.get(id(node))
        if known is None:
            known = self._spans[id(node)] = self._span(node)
        return known

    def _span(self, node: Function) -> tuple[int, int]:
        line, last = self.first_line(node), node.end_lineno or node.lineno
        # each line before has a newline too
        end = self._ends[last - 1] + last - 1
        if line < last:
            return self._ends[line - 1] + line, end
        first = node.body[-1]
        if text_of(getattr(first, "value", None)) is not None:
            return end, end
        # columns are counted in bytes
        return end - len(self.lines[last - 1].encode()[first.col_offset :].decode()), end

    def mentions(self, node: Function, words: tuple[str, ...]) -> bool:
        """Return whether one of the words stands in a body."""
        return self.has_any(node, places_of(words))

    def has_any(self, node: Function, find: Places) -> bool:
        """Return whether one of the places is in a body: they are looked for once in the file, not in each body."""
        places = self._find(find)
        return bool(places) and _any_between(places, *self.span(node))

    def _find(self, find: Places) -> list[int]:
        places = self._places.get(find)
        if places is None:
            places = self._places[find] = find(self.text)
        return places

    def lines_mention(self, node: ast.stmt, words: tuple[str, ...]) -> bool:
        """Return whether one of the words stands in the lines of any statement."""
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        start = self._ends[first - 1] + first if first else 0
        return _any_between(self._find(places_of(words)), start, self._ends[last - 1] + last - 1)

    def count(self, node: Function, words: Sequence[str]) -> int:
        """Return how often the words stand in a body."""
        start, end = self.span(node)
        return sum(self.text.count(word, start, end) for word in words)

    def has(self, word: str) -> bool:
        """Return whether a word stands anywhere in the file."""
        if word not in self._words:
            self._words[word] = word in self.text
        return self._words[word]

    def extended(self) -> frozenset[str]:
        """Return the names of the classes that the file sets attributes on whose names it makes as it runs."""
        if self._extended is None:
            self._extended = frozenset(_EXTENDS.findall(self.text) if self.has("setattr(") else ())
        return self._extended

    def calls(self, node: Function, words: tuple[str, ...]) -> bool:
        """Return whether a statement of a body, or one inside `with` or `try`, may call something named so.

        That is, whether a name with one of the words in it is called at the beginning of such a line.
        """
        if not self.mentions(node, words):
            return False
        start, end = self.span(node)
        found = self.search(node, call_of(words))
        first = _INDENTATION.search(self.text, start - 1, end) if found else None
        if first is None or first[1] in found:
            return bool(found)
        return any(self.text.find(f"\n{first[1]}{word}", start - 1, end) >= 0 for word in ("with ", "try:"))

    def search(self, node: Function, pattern: re.Pattern[str]) -> list[str]:
        """Return what a pattern finds in a body; the newline before its first line counts as part of it."""
        start, end = self.span(node)
        return pattern.findall(self.text, max(start - 1, 0), end)

    def is_empty(self, node: Function) -> bool:
        """Return whether a body has nothing but constants such as `...`."""
        if len(node.body) == 1 and not isinstance(node.body[0], ast.Pass | ast.Expr):
            return False
        start, end = self.span(node)
        if end - start > 200:
            return False
        body = self.statements(node)
        return all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in body)

    def statements(self, node: Function) -> list[ast.stmt]:
        """Return the statements of a body after its docstring, parsed on their own if they were left out.

        None are returned of a body that does not parse, as it may be in Python 2.
        """
        if not isinstance(node.body[-1], ast.Pass):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and text_of(first.value) is not None
            return node.body[1:] if documented else node.body
        if id(node) not in self._read:
            start, end = self.span(node)
            # a body keeps its indentation; in an async function everything is allowed that is allowed in any
            between = "\n" if self.text[start - 1] == "\n" else " "
            self._read[id(node)] = _parsed(f"async def _():{between}{self.text[start:end]}")
        return self._read[id(node)]


def _any_between(places: list[int], start: int, end: int) -> bool:
    first = bisect_left(places, start)
    return first < len(places) and places[first] < end


@functools.lru_cache(maxsize=256)
def places_of(words: tuple[str, ...]) -> Places:
    """Return a function that finds where any of the words stands."""
    return lambda text: sorted(place for word in words for place in find_all(text, word))


def find_all(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands in a text: `str.find` is many times faster than a pattern."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


@functools.lru_cache(maxsize=16)
def call_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of a line that begins with a call of what has one of the words in its name."""
    return re.compile(rf"\n([ \t]*)[\w.]*(?:{'|'.join(words)})[\w.]*\(")


def _parsed(source: str) -> list[ast.stmt]:
    try:
        made = ast.parse(source).body[0]
    except (SyntaxError, ValueError, RecursionError):
        return []
    return made.body if isinstance(made, ast.AsyncFunctionDef) else []


def _header_end(node: Function, lines: Sequence[str]) -> int:
    """Return the number (from 1) of the line where `def …:` ends."""
    number = node.lineno
    text = lines[number - 1].rstrip()
    if text.endswith(":") and "#" not in text:
        return number
    taken = node.args
    arguments = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg]
    ends = [*arguments, *taken.defaults, *taken.kw_defaults, node.returns]
    number = max(number, *(end.end_lineno or 0 for end in ends if end is not None), 0)
    while number < (node.end_lineno or number) and not lines[number - 1].partition("#")[0].rstrip().endswith(":"):
        number += 1
    return number
