"""Source that this Python does not parse, rewritten where a tolerant grammar finds something."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import tree_sitter
import tree_sitter_python

Edit = tuple[int, int, bytes]
"""First byte, end, and what comes in their place."""


@functools.cache
def _grammar(query: str) -> tuple[tree_sitter.Parser, tree_sitter.Query]:
    language = tree_sitter.Language(tree_sitter_python.language())
    return tree_sitter.Parser(language), tree_sitter.Query(language, query)


def parsed(source: bytes) -> tree_sitter.Node:
    """Return the syntax tree of a source, whatever is wrong with that."""
    return _grammar("")[0].parse(source).root_node


def captured(source: bytes, query: str) -> dict[str, list[tree_sitter.Node]]:
    """Return the nodes that a query of tree-sitter finds in a source, by the names in the query."""
    parser, compiled = _grammar(query)
    return tree_sitter.QueryCursor(compiled).captures(parser.parse(source).root_node)


def edited(source: bytes, edits: Iterable[Edit]) -> str:
    """Return a source after some edits; of two that overlap the outer one is done."""
    pieces: list[bytes] = []
    end = 0
    # the outer one of two that overlap comes first
    for start, stop, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start >= end:
            pieces += [source[end:start], new]
            end = stop
    return b"".join([*pieces, source[end:]]).decode()
