"""Syntax trees of tree-sitter, read once into nodes that Python walks fast: named nodes only, without comments."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator

import tree_sitter
import tree_sitter_python

DEFINITIONS = frozenset({"function_definition", "class_definition"})
SCOPES = DEFINITIONS | {"lambda"}
BINDERS = DEFINITIONS | {
    *("assignment", "augmented_assignment", "for_statement", "named_expression", "as_pattern", "delete_statement"),
    *("case_pattern", "import_statement", "import_from_statement", "global_statement", "nonlocal_statement"),
    *("yield", "return_statement"),
}
"""What binds or declares a name of its scope, or gives what a call of the scope gives."""
_LEAVES = frozenset(
    {"identifier", "integer", "float", "string_start", "string_content", "string_end", "escape_sequence"}
)
_TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)([^#\n]+)")


class Node:
    """A node of the tree: `field` is what it is to its parent, `text` the name of an identifier; bytes count.

    `binders` are the nodes in the body of a scope that may bind names of this scope, in order.
    """

    __slots__ = ("binders", "children", "end", "field", "start", "text", "type")

    def __init__(self, type_: str, start: int, end: int, field: str | None, children: list[Node]) -> None:
        self.type = type_
        self.start = start
        self.end = end
        self.field = field
        self.text = ""
        self.children = children
        self.binders = _NONE

    def get(self, field: str) -> Node | None:
        """Return the child in a field, the first if there are several."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def all(self, field: str) -> list[Node]:
        """Return the children in a field."""
        return [child for child in self.children if child.field == field]


_NONE: list[Node] = []


class Source:
    """A source and its tree."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = _read(data)
        self.type_comments = (
            {}
            if b"type:" not in data
            else {match.start(): match[1].decode("utf-8", "replace").strip() for match in _TYPE_COMMENT.finditer(data)}
        )

    @functools.cached_property
    def _comments_at(self) -> list[int]:
        return list(self.type_comments)

    @functools.cached_property
    def newlines(self) -> list[int]:
        """The bytes at which lines end."""
        return [match.start() for match in re.finditer(b"\n", self.data)]

    def line_of(self, position: int) -> int:
        """Return the line that a byte stands on, from 1."""
        return bisect_left(self.newlines, position) + 1

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
        position = bisect_left(self._comments_at, start)
        at = self._comments_at[position] if position < len(self._comments_at) else end
        return self.type_comments[at] if at < end else None


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all that is below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _read(data: bytes) -> Node:  # noqa: C901 - it runs for each node of each file; a call for each part would double it
    """Parse and copy the tree; a cursor visits a node for a quarter of what a list of children costs."""
    root = Node("module", 0, len(data), None, [])
    cursor = _parser().parse(data).walk()
    down, next_, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    binders: list[Node] = []
    siblings, root.binders = root.children, binders
    open_nodes = [(root, binders)]
    if not down():
        return root
    while True:
        raw = cursor.node
        if raw is not None and raw.is_named and (kind := raw.type) != "comment":
            node = Node(kind, raw.start_byte, raw.end_byte, cursor.field_name, _NONE)
            siblings.append(node)
            if kind in BINDERS:
                binders.append(node)
            if kind == "identifier":
                node.text = data[node.start : node.end].decode("utf-8", "surrogatepass")
            elif kind not in _LEAVES and not (kind == "string" and _is_plain(data, node.start)) and down():
                node.children = siblings = []
                if node.field == "body" and open_nodes[-1][0].type in SCOPES:
                    node.binders = binders = []
                open_nodes.append((node, binders))
                continue
        while not next_():
            if not up():
                return root
            open_nodes.pop()
            if not open_nodes:
                return root
            siblings, binders = open_nodes[-1][0].children, open_nodes[-1][1]


def _is_plain(data: bytes, start: int) -> bool:
    """Tell whether a string has nothing in it that is evaluated."""
    return data[start] in b"'\"rRbBuU" and data[start + 1 : start + 2] not in (b"f", b"F")


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
