"""A program as text, bytes, syntax tree and tokens at once, all with positions in UTF-8 bytes."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

Span = tuple[int, int]
"""First byte and the byte after the last."""

_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class BrokenSource(ValueError):
    """The text cannot be read as a program."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the program; `kind` is a constant of the standard module `token`."""

    kind: int
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed program; `line_starts` holds the first byte of each line."""

    text: str
    data: bytes
    line_starts: tuple[int, ...]
    tree: ast.Module
    tokens: tuple[Token, ...]

    def span_of(self, node: ast.stmt) -> Span:
        """Return the bytes of a statement, decorators included."""
        start = self._offset(node.lineno, node.col_offset)
        decorators = getattr(node, "decorator_list", [])
        if decorators:
            first = self._offset(decorators[0].lineno, decorators[0].col_offset)
            start = self.data.rfind(b"@", 0, first)
        if node.end_lineno is None or node.end_col_offset is None:
            raise BrokenSource("a statement has no end")
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def lines_in(self, span: Span) -> int:
        """Return how many physical lines a span touches."""
        return self.data.count(b"\n", *span) + 1

    def text_of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.data[span[0] : span[1]].decode()

    def _offset(self, line: int, column: int) -> int:
        return self.line_starts[line - 1] + column


def parse_source(text: str) -> Source:
    """Parse a program.

    Errors: BrokenSource where it is no Python 3 for this interpreter, or has carriage returns, over which the
    parser and the tokeniser count lines differently.
    """
    if "\r" in text:
        raise BrokenSource("has carriage returns")
    try:
        data = text.encode()
        tree = ast.parse(text)
        starts = tuple(accumulate((len(line) for line in data.split(b"\n")), lambda at, n: at + n + 1, initial=0))
        return Source(text, data, starts, tree, tuple(_tokens(text, starts)))
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError) as error:
        raise BrokenSource(str(error)) from None


def _tokens(text: str, starts: Sequence[int]) -> Iterator[Token]:
    lines = text.split("\n")

    def offset(position: tuple[int, int]) -> int:
        line, column = position
        # The tokeniser may end a text that has no last newline on a line of its own.
        return starts[line - 1] + len(lines[line - 1][:column].encode()) if line <= len(lines) else starts[-1] - 1

    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield Token(token.type, token.string, (offset(token.start), offset(token.end)))


def logical_lines(source: Source) -> Iterator[Span]:
    """Yield the logical lines from their first token to their last, without indentation and comments at the end.

    A logical line may run over several physical ones (Python language reference, 2.1.1).
    """
    parts: list[Span] = []
    for token in source.tokens:
        if token.kind == tokenize.NEWLINE and parts:
            yield parts[0][0], parts[-1][1]
            parts = []
        elif token.kind not in _LAYOUT and token.kind != tokenize.NEWLINE:
            parts.append(token.span)


def statements_around(source: Source, at: int) -> list[ast.stmt]:
    """Return the statements that hold a byte, outermost first."""
    found: list[ast.stmt] = []
    nodes: list[ast.AST] = list(source.tree.body)
    while nodes:
        node = nodes.pop(0)
        if isinstance(node, ast.stmt):
            start, end = source.span_of(node)
            if not start <= at < end:
                continue
            found.append(node)
            nodes = []
        nodes.extend(child for child in ast.iter_child_nodes(node) if _may_hold_statements(child))
    return found


def _may_hold_statements(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)
