"""The bodies of functions: left out when a source is parsed, and read where they say something.

Four fifths of a file's syntax tree are bodies, and most say nothing about the API. So a function is parsed without its
body, and the body is parsed once a cheap search has found something in its lines.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple, Unpack

from pipeline.api.surface.parse.cleaning import read_docstring
from pipeline.api.surface.parse.comments import DOCUMENTS, comment_on
from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.keyword_scan import SETATTR, find_all, keywords_in
from pipeline.api.surface.parse.module_model import Definition
from pipeline.api.surface.parse.syntax import Function, described_by, text_of
from pipeline.core.syntax_trees import parse_python

_EXTENDS = re.compile(r"""setattr\(\s*([A-Za-z_]\w*)\s*,\s*(?!\s|["'][^"'{}]*["']\s*,)""")
_COMMENTS = re.compile(r"(?:\s*#[^\n]*\n)*\s*")
_INDENTATION = re.compile(r"\n([ \t]+)[^\s#]")

Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


class Body:
    """The body of one function, found by the node of a parse without bodies; `text` is what the node was parsed from.

    `begins` is the line of it where the function begins, with its decorators, and `last_line` that where it ends; the
    node may be that of another function which differs in the body only. What follows from the text alone is asked once,
    and kept as long as the body is. `read` has the definitions that were made of the function by what they depend on,
    each with what the names in its annotations meant.
    """

    def __init__(self, text: str, node: Function, last_line: int) -> None:
        self.text = text
        self.node = node
        self.last_line = last_line
        self.begins = first_line(node)
        self.read: dict[Hashable, list[tuple[dict[str, str], Definition]]] = {}
        self._answers: dict[Hashable, Any] = {}

    def once(self, ask: Callable[[Body, Unpack[Arguments]], Answer], *arguments: *Arguments) -> Answer:
        """Return what a function says of this body and of what is given besides, which it is asked once."""
        key = ask, arguments
        if key not in self._answers:
            self._answers[key] = ask(self, *arguments)
        answer: Answer = self._answers[key]
        return answer

    @cached_property
    def parses(self) -> bool:
        """Whether the function parses with its body."""
        try:
            parse_python(self.text)
        except (SyntaxError, ValueError, *TOO_DEEP):
            return False
        return True

    @cached_property
    def keywords(self) -> frozenset[str]:
        """What the words in the text tell."""
        return keywords_in(self.text)

    @cached_property
    def described(self) -> tuple[str | None, int]:
        """The docstring without its indentation, and the line of the text where it begins."""
        return read_docstring(described_by(self.node.body[0]), self.text)

    @cached_property
    def commented(self) -> list[str]:
        """The lines of the text, if a comment in it may document something."""
        return self.text.split("\n") if DOCUMENTS in self.text else []

    @cached_property
    def height(self) -> int:
        """How many lines the function has in its file, with its decorators and comments."""
        return self.text.count("\n") + 1 - self.begins

    @property
    def documented(self) -> bool:
        """Whether there is a docstring."""
        first = self.node.body[0]
        return isinstance(first, ast.Expr) and text_of(first.value) is not None

    @property
    def first_line(self) -> int:
        """The number (from 0) of the line where the body begins, after the docstring.

        In a function of one line this is the line after it.
        """
        first = self.node.body[0]
        return (first.end_lineno or first.lineno) if self.documented else _header_end(self.node, self.text)

    @cached_property
    def span(self) -> tuple[int, int]:
        """Where the body begins and ends in the text, without its docstring."""
        line, last = self.first_line, self.last_line
        below = self.text.count("\n") - last + 1
        end = len(self.text.rsplit("\n", below)[0]) if below else len(self.text)
        if line < last:
            return _beginning(self.text, line), end
        first = self.node.body[-1]
        if text_of(getattr(first, "value", None)) is not None:
            return end, end
        # columns are counted in bytes
        row = self.text[_beginning(self.text, last - 1) : end]
        return end - len(row.encode()[first.col_offset :].decode()), end

    @property
    def only_raises(self) -> bool:
        """Whether the body begins with an exception, so that whoever calls the function gets it."""
        return self.code.startswith("raise ")

    @cached_property
    def code(self) -> str:
        """The text of the body from its first statement on, without the comments before it."""
        start, end = self.span
        comments = _COMMENTS.match(self.text, start, end)
        return self.text[comments.end() if comments else start : end]

    def mentions(self, words: Sequence[str]) -> bool:
        """Return whether one of the words stands in the body."""
        return any(word in self.text and self.text.find(word, *self.span) >= 0 for word in words)

    def count(self, words: Sequence[str]) -> int:
        """Return how often the words stand in the body."""
        return sum(self.text.count(word, *self.span) for word in words if word in self.text)

    def calls(self, words: tuple[str, ...]) -> bool:
        """Return whether a statement of the body, or one inside `with` or `try`, may call something named so.

        That is, whether a name with one of the words in it is called at the beginning of such a line.
        """
        if not self.mentions(words):
            return False
        start, end = self.span
        indentations = self.beginning_with_calls(words)
        first = _INDENTATION.search(self.text, start - 1, end) if indentations else None
        if first is None or first[1] in indentations:
            return bool(indentations)
        return any(self.text.find(f"\n{first[1]}{word}", start - 1, end) >= 0 for word in ("with ", "try:"))

    def beginning_with_calls(self, words: tuple[str, ...]) -> list[str]:
        """Return the indentation of each line of the body that begins with a call of what has one of the words in it.

        Only lines with a word in them are looked at: the pattern takes four times as long over all lines.
        """
        start, end = self.span
        ends = {self.text.rfind("\n", 0, place) for word in words for place in find_all(self.text, word, start, end)}
        lines = (_call_of(words).match(self.text, place, end) for place in sorted(ends) if place >= max(start - 1, 0))
        return [line[1] for line in lines if line is not None]

    def search(self, pattern: re.Pattern[str]) -> list[str]:
        """Return what a pattern finds in the body; the newline before its first line counts as part of it."""
        start, end = self.span
        return pattern.findall(self.text, max(start - 1, 0), end)

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but constants such as `...`."""
        if len(self.node.body) == 1 and not isinstance(self.node.body[0], ast.Pass | ast.Expr):
            return False
        start, end = self.span
        if end - start > 200:
            return False
        return all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in self.statements)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements after the docstring, parsed on their own if they were left out.

        None of a body that does not parse, as it may be in Python 2.
        """
        if not isinstance(self.node.body[-1], ast.Pass):
            return self.node.body[1:] if self.documented else self.node.body
        start, end = self.span
        # a body keeps its indentation; in an async function everything is allowed that is allowed in any
        between = "\n" if self.text[start - 1] == "\n" else " "
        return _parsed(f"async def _():{between}{self.text[start:end]}")


class Bodies:
    """The text of one file and the bodies of its functions, by the nodes of its parse.

    `placed` has the functions that were parsed alone, each with the number of lines before its text in the file; `rest`
    is the text without them, every line in its place; `alone` parses another one so, if it can be; `keywords` are those
    that stand in the text.
    """

    def __init__(
        self,
        text: str,
        rest: str,
        placed: Mapping[int, tuple[Body, int]],
        alone: Callable[[str], Body | None],
        keywords: frozenset[str],
    ) -> None:
        self.text = text
        self.rest = rest
        self.keywords = keywords
        self.unrolled: list[str] = []
        self._placed = placed
        self._alone = alone
        self._located: dict[int, tuple[Body, int]] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without the functions."""
        return self.rest.split("\n")

    @cached_property
    def commented(self) -> list[str]:
        """The lines of the text, if a comment in it may document something.

        A comment behind a function was cut out with it, so that `lines` has none.
        """
        return self.text.split("\n") if DOCUMENTS in self.text else []

    def comment_on(self, statement: ast.stmt, inside: Function | None) -> ast.Constant | None:
        """Return the comment that documents an assignment outside of functions, or one `inside` a function."""
        body, _ = self._placed.get(id(inside), (None, 0))
        lines = self.commented if body is None else body.commented
        return comment_on(statement, lines) if lines else None

    def of(self, node: Function) -> Body:
        """Return the body of a function."""
        return self.place(node)[0]

    def place(self, node: Function) -> tuple[Body, int]:
        """Return the body of a function, and how many lines the file has before those of its text."""
        return self._placed.get(id(node)) or self._located.get(id(node)) or self._find(node)

    def _find(self, node: Function) -> tuple[Body, int]:
        first = first_line(node)
        body = self._alone("\n".join(self.lines[first - 1 : node.end_lineno]))
        location = (
            (Body(self.text, node, node.end_lineno or node.lineno), 0) if body is None else (body, first - body.begins)
        )
        self._located[id(node)] = location
        return location

    def around(self, node: Function | None) -> tuple[str, int]:
        """Return the text in which the statements inside a function count, and how many lines the file has before."""
        body, before = self._placed.get(id(node), (None, 0))
        return (self.rest, 0) if body is None else (body.text, before)

    def count(self, node: Function, words: Sequence[str]) -> int:
        """Return how often the words stand in the body of a function."""
        return self.of(node).count(words)

    def statements(self, node: Function) -> list[ast.stmt]:
        """Return the statements of the body of a function."""
        return self.of(node).statements

    def lines_mention(self, node: ast.stmt, words: Sequence[str]) -> bool:
        """Return whether one of the words that tell something stands in the lines of a statement."""
        present = self.keywords.intersection(words)
        if not present:
            return False
        text = "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        return any(word in text for word in present)

    @cached_property
    def extends(self) -> list[str]:
        """The name of a class for each call that sets an attribute on it whose name the file makes as it runs."""
        return _EXTENDS.findall(self.text) if SETATTR in self.keywords else []

    @cached_property
    def extended(self) -> frozenset[str]:
        """The names of the classes that get attributes as the file runs, but for loops that were `unrolled`."""
        return frozenset((Counter(self.extends) - Counter(self.unrolled)).keys())


@functools.lru_cache(maxsize=16)
def _call_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of a line that begins with a call of what has one of the words in its name."""
    return re.compile(rf"\n([ \t]*)[\w.]*(?:{'|'.join(words)})[\w.]*\(")


def first_line(node: Function) -> int:
    """Return the line in which a function begins, with its decorators."""
    return min([d.lineno for d in node.decorator_list] + [node.lineno]) if node.decorator_list else node.lineno


def _parsed(source: str) -> list[ast.stmt]:
    try:
        function = parse_python(source).body[0]
    except (SyntaxError, ValueError, *TOO_DEEP):
        return []
    return function.body if isinstance(function, ast.AsyncFunctionDef) else []


def _beginning(text: str, before: int) -> int:
    """Return where the line begins that has so many before it."""
    return len(text) - len(text.split("\n", before)[-1])


def _header_end(node: Function, text: str) -> int:
    """Return the number (from 1) of the line of a text where `def …:` ends."""
    number = node.lineno
    line = text.split("\n", number)[number - 1].rstrip()
    if line.endswith(":") and "#" not in line:
        return number
    lines = text.split("\n")
    declared = node.args
    arguments = [*declared.posonlyargs, *declared.args, *declared.kwonlyargs, declared.vararg, declared.kwarg]
    ends = [*arguments, *declared.defaults, *declared.kw_defaults, node.returns]
    number = max(number, *(end.end_lineno or 0 for end in ends if end is not None), 0)
    while number < (node.end_lineno or number) and not lines[number - 1].partition("#")[0].rstrip().endswith(":"):
        number += 1
    return number
