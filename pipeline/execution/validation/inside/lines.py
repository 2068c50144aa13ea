"""Which lines of a case's code were executed: statement by statement, without any package."""

import dis
import io
import sys
import threading
import tokenize
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tracer:
    """Notes the lines of one file that this process and its threads reach."""

    def __init__(self) -> None:
        self.path = ""
        self.reached: set[int] = set()

    def start(self, path: str) -> None:
        """Note from now on what is executed of a file."""
        self.path = path
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def stop(self) -> None:
        """Note nothing any more."""
        sys.settrace(None)
        threading.settrace(None)

    def enter(self, frame: "Any", event: str, arg: "Any") -> "Any":
        """Follow the frames of the file, and let others run untraced."""
        return self.line if frame.f_code.co_filename == self.path else None

    def line(self, frame: "Any", event: str, arg: "Any") -> "Any":
        """Note a line."""
        if event == "line":
            self.reached.add(frame.f_lineno)
        return self.line

    def report(self) -> "tuple[list[int], list[int]] | None":
        """Return the lines on which a statement begins that has code, and those of them that were executed.

        As in coverage.py, docstrings are no statements, and lines that continue a statement count as its first.
        None where the file is no Python.
        """
        try:
            with open(self.path, "rb") as file:
                source = file.read()
            begins, code = beginnings(source), compile(source, self.path, "exec", 0, True)
        except (OSError, SyntaxError, ValueError, tokenize.TokenError):
            return None
        statements = {begins.get(line, line) for line in lines_with_code(code)} - docstrings(source)
        reached = {begins.get(line, line) for line in self.reached}
        return sorted(statements), sorted(statements & reached)


def beginnings(source: bytes) -> "dict[int, int]":
    """Return for each line of a statement of several lines its first."""
    begins: dict[int, int] = {}
    first = 0
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.NEWLINE:
            begins.update(dict.fromkeys(range(first, token.end[0] + 1), first) if first else {})
            first = 0
        elif not first and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            first = token.start[0] if token.type != tokenize.ENCODING else 0
    return begins


def lines_with_code(code: types.CodeType) -> "set[int]":
    """Return the lines that begin some code, in a code object and those within it."""
    lines = {line for _, line in dis.findlinestarts(code) if line}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            lines |= lines_with_code(constant)
    return lines


def docstrings(source: bytes) -> "set[int]":
    """Return the first lines of docstrings."""
    import ast

    lines = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and ast.get_docstring(node, clean=False) is not None:
            # Before Python 3.8 the line is that on which a string ends.
            lines.add(first.lineno if sys.version_info >= (3, 8) else first.lineno - source_of(first).count("\n"))
    return lines


def source_of(expression: "Any") -> str:
    """Return the string of an expression that is one."""
    source: str = expression.value.s
    return source
