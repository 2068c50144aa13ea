"""A program as text, bytes, statements and tokens at once, all with positions in UTF-8 bytes."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipeline.core.syntax_trees import parse_python

Span = tuple[int, int]
"""First byte and the byte after the last."""

_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_HOLDING = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields in which a statement has others, in the order in which they stand."""


class BrokenSource(ValueError):
    """The text cannot be read as a program."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the program; `kind` is a constant of the standard module `token`."""

    kind: int
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, decorators included; `count` and `imports` are of it with all that it holds."""

    node: ast.stmt
    span: Span
    held: tuple[Statement, ...]
    count: int
    imports: bool


@dataclass(frozen=True)
class Source:
    """A parsed program; `line_starts` holds the first byte of each line.

    What is asked of it for each mask is worked out once: a program has many uses, and each has several masks.
    """

    text: str
    data: bytes
    line_starts: tuple[int, ...]
    tree: ast.Module
    tokens: tuple[Token, ...]

    @functools.cached_property
    def body(self) -> tuple[Statement, ...]:
        """The statements of the module."""
        return tuple(self._statement(node) for node in self.tree.body)

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [statement.span[0] for statement in self.body]

    @functools.cached_property
    def names(self) -> Mapping[str, Sequence[Span]]:
        """Where each identifier stands."""
        spans: dict[str, list[Span]] = defaultdict(list)
        for token in self.tokens:
            if token.kind == tokenize.NAME:
                spans[token.text].append(token.span)
        return spans

    @functools.cached_property
    def keywords(self) -> frozenset[Span]:
        """Where calls and class definitions name an argument."""
        arguments = (node for node in ast.walk(self.tree) if isinstance(node, ast.keyword) and node.arg is not None)
        return frozenset(self.name_span(node, node.arg) for node in arguments if node.arg is not None)

    @functools.cached_property
    def bound(self) -> frozenset[Span]:
        """Where parameters and variables get their values, but for those that only take over an API's own name."""
        spans: set[Span] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.arg):
                spans.add(self.name_span(node, node.arg))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                spans.add(self.name_span(node, node.id))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                same = (
                    target for target in node.targets if isinstance(target, ast.Name) and target.id == node.value.attr
                )
                spans -= {self.name_span(target, target.id) for target in same}
        return frozenset(spans)

    @functools.cached_property
    def texts(self) -> tuple[Token, ...]:
        """The strings and comments."""
        return tuple(token for token in self.tokens if token.kind in (tokenize.STRING, tokenize.COMMENT))

    @functools.cached_property
    def logical_lines(self) -> tuple[Span, ...]:
        """The logical lines from their first token to their last, without indentation and comments at the end.

        A logical line may run over several physical ones (Python language reference, 2.1.1).
        """
        return tuple(_logical_lines(self.tokens))

    def lines_in(self, span: Span) -> int:
        """Return how many physical lines a span touches."""
        return self.data.count(b"\n", *span) + 1

    def text_of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.data[span[0] : span[1]].decode()

    def place_of(self, span: Span) -> int | None:
        """Return the place among the statements of the module of the one that a span begins in."""
        place = bisect_right(self._starts, span[0]) - 1
        return place if place >= 0 and span[0] < self.body[place].span[1] else None

    def around(self, at: int) -> list[Statement]:
        """Return the statements that hold a byte, outermost first."""
        statements: list[Statement] = []
        inner: Sequence[Statement] = self.body
        while holding := next((statement for statement in inner if statement.span[0] <= at < statement.span[1]), None):
            statements.append(holding)
            inner = holding.held
        return statements

    def start_of(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> int:
        """Return the first byte of a node, decorators aside."""
        return self._offset(node.lineno, node.col_offset)

    def end_of(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> int:
        """Return the byte after the last one of a node."""
        if node.end_lineno is None or node.end_col_offset is None:
            raise BrokenSource("a node has no end")
        return self._offset(node.end_lineno, node.end_col_offset)

    def _statement(self, node: ast.stmt) -> Statement:
        held = tuple(self._statement(inner) for inner in _statements_in(node))
        imports = isinstance(node, ast.Import | ast.ImportFrom) or any(inner.imports for inner in held)
        return Statement(node, self._span_of(node), held, 1 + sum(inner.count for inner in held), imports)

    def _span_of(self, node: ast.stmt) -> Span:
        decorators = getattr(node, "decorator_list", [])
        start = self.data.rfind(b"@", 0, self.start_of(decorators[0])) if decorators else self.start_of(node)
        return start, self.end_of(node)

    def name_span(self, node: ast.expr | ast.arg | ast.keyword, name: str) -> Span:
        """Return where a node that begins with a name has it."""
        start = self.start_of(node)
        return start, start + len(name.encode())

    def _offset(self, line: int, column: int) -> int:
        return self.line_starts[line - 1] + column


def _statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly below a statement, those of its handlers and cases too."""
    for field in _HOLDING:
        for inner in getattr(node, field, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            elif isinstance(inner, ast.ExceptHandler | ast.match_case):
                yield from inner.body


def parse_source(text: str) -> Source:
    """Parse a program.

    Errors: BrokenSource where it is no Python 3 for this interpreter, or has carriage returns, over which the
    parser and the tokeniser count lines differently.
    """
    if "\r" in text:
        raise BrokenSource("has carriage returns")
    try:
        data = text.encode()
        tree = parse_python(text)
        starts = tuple(accumulate((len(line) for line in data.split(b"\n")), lambda at, n: at + n + 1, initial=0))
        return Source(text, data, starts, tree, tuple(_tokens(text, starts)))
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError) as error:
        raise BrokenSource(str(error)) from None


def _tokens(text: str, starts: Sequence[int]) -> Iterator[Token]:
    lines = text.split("\n")
    of_one_byte = text.isascii()

    def offset(position: tuple[int, int]) -> int:
        line, column = position
        if of_one_byte and line <= len(lines):
            return starts[line - 1] + column
        # The tokeniser may end a text that has no last newline on a line of its own.
        return starts[line - 1] + len(lines[line - 1][:column].encode()) if line <= len(lines) else starts[-1] - 1

    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield Token(token.type, token.string, (offset(token.start), offset(token.end)))


def _logical_lines(tokens: Sequence[Token]) -> Iterator[Span]:
    parts: list[Span] = []
    for token in tokens:
        if token.kind == tokenize.NEWLINE and parts:
            yield parts[0][0], parts[-1][1]
            parts = []
        elif token.kind not in _LAYOUT and token.kind != tokenize.NEWLINE:
            parts.append(token.span)
