"""The text of a snippet in which positions count, and its tree."""

from __future__ import annotations

import ast
from typing import TypedDict

from pipeline.core.syntax_trees import parse_python


class Program(TypedDict):
    """What a snippet, or what a codemod made of one, is run as."""

    preamble: str
    code: str


def source_of(snippet: Program) -> str:
    """Return the program of a snippet: its preamble, which ends in a newline unless it is empty, then its code.

    Every byte position and line of a usage counts in this text, encoded as UTF-8.
    """
    preamble: str = snippet["preamble"]
    if preamble and not preamble.endswith("\n"):
        preamble += "\n"
    return preamble + str(snippet["code"])


def preamble_length(snippet: Program) -> int:
    """Return the position of the first byte of the code in `source_of`."""
    return len(source_of({"preamble": snippet["preamble"], "code": ""}).encode("utf-8", "surrogatepass"))


def parse_program(code: str) -> ast.Module | None:
    """Parse a whole program; None where it is not valid, or too much for the parser."""
    try:
        return parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
