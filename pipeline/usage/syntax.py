"""Syntax trees of tree-sitter, read once into nodes that Python walks fast: named nodes only, without comments."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import tree_sitter
import tree_sitter_python

DEFINITIONS = frozenset({"function_definition", "class_definition"})
_LEAVES = frozenset(
    {"identifier", "integer", "float", "string_start", "string_content", "string_end", "escape_sequence"}
)
_TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)([^#\n]+)")


class Node:
    """A node of the tree: `field` is what it is to its parent, `text` the name of an identifier; bytes count."""

    __slots__ = ("children", "end", "field", "start", "text", "type")

    def __init__(self, type_: str, start: int, end: int, field: str | None) -> None:
        self.type = type_
        self.start = start
        self.end = end
        self.field = field
        self.text = ""
        self.children: list[Node] = []

    def get(self, field: str) -> Node | None:
        """Return the child in a field, the first if there are several."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def all(self, field: str) -> list[Node]:
        """Return the children in a field."""
        return [child for child in self.children if child.field == field]


class Source:
    """A source and its tree."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = _read(data)
        self.type_comments = {
            found.start(): found[1].decode("utf-8", "replace").strip() for found in _TYPE_COMMENT.finditer(data)
        }

    def text(self, node: Node) -> str:
        """Return what is written at a node."""
        return self.data[node.start : node.end].decode("utf-8", "surrogatepass")

    def type_comment_after(self, node: Node) -> str | None:
        """Return the type comment at the end of the line on which a node ends (PEP 484)."""
        if not self.type_comments:
            return None
        end = self.data.find(b"\n", node.end)
        return self.type_comment_between(node.end, end if end >= 0 else len(self.data))

    def type_comment_between(self, start: int, end: int) -> str | None:
        """Return the first type comment that starts between two bytes."""
        return next((text for at, text in self.type_comments.items() if start <= at < end), None)


def walk(node: Node, *, into_scopes: bool = False) -> Iterator[Node]:
    """Yield a node and what is below it, without the inside of definitions and lambdas unless so asked."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if into_scopes or current is node or (current.type not in DEFINITIONS and current.type != "lambda"):
            stack.extend(reversed(current.children))


def _read(data: bytes) -> Node:
    """Parse and copy the tree; the cursor visits a node for a quarter of what a list of children costs."""
    cursor = _parser().parse(data).walk()
    root = Node("module", 0, len(data), None)
    parents = [root]
    if not cursor.goto_first_child():
        return root
    while True:
        raw = cursor.node
        if raw is not None and raw.is_named and (kind := raw.type) != "comment":
            node = Node(kind, raw.start_byte, raw.end_byte, cursor.field_name)
            parents[-1].children.append(node)
            if kind == "identifier":
                node.text = data[node.start : node.end].decode("utf-8", "surrogatepass")
            elif kind not in _LEAVES and not _is_plain(kind, data, node.start) and cursor.goto_first_child():
                parents.append(node)
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return root
            parents.pop()
            if not parents:
                return root


def _is_plain(kind: str, data: bytes, start: int) -> bool:
    """Tell whether a string has nothing in it that is evaluated."""
    return kind == "string" and data[start] in b"'\"rRbBuU" and data[start + 1 : start + 2] not in (b"f", b"F")


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
