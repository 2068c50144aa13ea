"""Comments that document an assignment: `#: …` above it or behind it, as Sphinx reads them (autodoc)."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

DOCUMENTS = "#:"

_COMMENT = re.compile(r"\s*#: ?(.*?)\s*\Z")


def comment_on(statement: ast.stmt, lines: Sequence[str]) -> ast.Constant | None:
    """Return the comment that documents a statement, as a string that stands where the comment does.

    That is the comment behind it, else all that are directly above it. `lines` are those of its source.
    """
    if behind := _behind(statement, lines):
        return _constant([behind], statement.end_lineno or statement.lineno)
    at = statement.lineno - 1
    if lines[at].encode()[: statement.col_offset].strip():
        # another statement begins the line: what is above documents that one
        return None
    first = at
    while first and _COMMENT.match(lines[first - 1]):
        first -= 1
    return _constant(lines[first:at], first + 1) if first < at else None


def _behind(statement: ast.stmt, lines: Sequence[str]) -> str | None:
    # columns are counted in bytes
    rest = lines[(statement.end_lineno or statement.lineno) - 1].encode()[statement.end_col_offset :]
    # brackets may be open around the value
    match = _COMMENT.match(rest.decode().lstrip(" \t)"))
    return match[0] if match else None


def _constant(comments: Sequence[str], line: int) -> ast.Constant | None:
    texts = [match[1] for match in map(_COMMENT.match, comments) if match]
    text = "\n".join(texts)
    if not text.strip():
        return None
    return ast.Constant(text, lineno=line, col_offset=0, end_lineno=line + len(texts) - 1, end_col_offset=0)
