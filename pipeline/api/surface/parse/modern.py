"""Source of Python 3.12 and later rewritten so that Python 3.11 parses it, line by line the same.

Names, signatures, bases, docstrings and warnings stay as they are; type parameters go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from pipeline.api.surface.parse.edits import Edit, captured, edited
from pipeline.core.syntax_trees import parse_python

_STATEMENT = re.compile(
    rb"^[ \t]*(?P<statement>(?:(?:async[ \t]+)?def|class|(?P<alias>type))[ \t]+(?P<name>\w+)[ \t]*(?P<next>\[|=(?!=)))",
    re.MULTILINE,
)
_FORMATTED = re.compile(rb"(?i)\b(?:[ft]|r[ft]|[ft]r)['\"]")
_BRACKETS = re.compile(rb"[\[\](){}]")
_EQUALS = re.compile(rb"\s*=")
_PLAIN = re.compile(rb"[^\"'\\\n#]*")
_QUERY = "(string) @string (comment) @comment"


def as_older(text: str) -> str | None:
    """Return source in which Python 3.11 finds the same names, or None if there is nothing of later ones in it.

    What goes are the type parameters of functions and classes, with their defaults (PEP 695, 696). `type X = value`
    becomes `X: TypeAlias = value`. Of a formatted string that only a later parser ends where it ends (PEP 701), or of a
    template string (PEP 750), an expression that needs that parser becomes `_`.
    """
    source = text.encode()
    if not (_STATEMENT.search(source) or _FORMATTED.search(source)):
        return None
    nodes = captured(source, _QUERY)
    strings = nodes.get("string", [])
    # what is in them stays as it is, bracket or statement
    texts = {node.start_byte: node.end_byte for node in [*strings, *nodes.get("comment", [])]}
    formatted = [node for node in strings if any(part.type == "interpolation" for part in node.children)]
    return edited(source, [*_typed(source, texts), *(edit for node in formatted for edit in _string(node, source))])


def _typed(source: bytes, texts: dict[int, int]) -> Iterator[Edit]:
    """Yield the edits of statements with type parameters, and of those that give a type a name."""
    inside = sorted(texts.items())
    at = 0
    for statement in _STATEMENT.finditer(source):
        while at < len(inside) and inside[at][1] <= statement.start("statement"):
            at += 1
        if at < len(inside) and inside[at][0] <= statement.start("statement"):
            continue
        start, end = statement.span("next")
        if statement["next"] == b"[":
            end = _closed(source, start, texts)
        if statement["alias"] is None:
            if statement["next"] == b"[":
                yield start, end, _lines(source[start:end])
        elif equals := _EQUALS.match(source, end - 1 if statement["next"] == b"=" else end):
            first, end = statement.start("statement"), equals.end()
            yield first, end, statement["name"] + b": TypeAlias =" + _lines(source[first:end])


def _closed(source: bytes, start: int, texts: dict[int, int]) -> int:
    """Return the end of what the bracket at a place opens."""
    depth, at = 0, start
    while bracket := _BRACKETS.search(source, at):
        skipped = next((end for first, end in texts.items() if first <= bracket.start() < end), None)
        at = skipped or bracket.end()
        if skipped is None:
            depth += 1 if bracket[0] in b"[({" else -1
        if depth == 0:
            return at
    return len(source)


def _lines(text: bytes) -> bytes:
    """Return what keeps the lines of a text that goes."""
    return b"\\\n" * text.count(b"\n")


def _string(node: tree_sitter.Node, source: bytes) -> Iterator[Edit]:
    start, *inside, end = node.children
    opened = re.sub(rb"[tT]", b"f", source[start.start_byte : start.end_byte])
    try:
        parse_python(opened + source[start.end_byte : node.end_byte])
    except (SyntaxError, ValueError):
        parts = [(part.type, source[part.start_byte : part.end_byte]) for part in inside]
        literal = b"".join(_interpolated(text) if kind == "interpolation" else text for kind, text in parts)
        closed = source[end.start_byte : end.end_byte]
        lost = source[start.end_byte : end.start_byte].count(b"\n") - literal.count(b"\n")
        yield node.start_byte, node.end_byte, opened + literal + closed + b"\\\n" * lost
    else:
        yield start.start_byte, start.end_byte, opened


def _interpolated(text: bytes) -> bytes:
    return text if _PLAIN.fullmatch(text) else b"{_}"
