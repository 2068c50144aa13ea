"""A source file of a project as text and syntax tree, with positions in characters."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator

import tree_sitter
import tree_sitter_python
from tree_sitter import Node

from pipeline.core.syntax_trees import parse_python

Span = tuple[int, int]
"""First character and the character after the last."""


class SourceFile:
    """A file and its tree; `broken` if it is no Python 3 for this interpreter or for tree-sitter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._data = text.encode("utf-8", "surrogatepass")
        self._ascii = len(self._data) == len(text)
        self._tree = _parser().parse(self._data)
        self.broken = self._tree.root_node.has_error or not parses(text)

    def functions(self) -> dict[int, Node]:
        """Return the function definitions by the line of their `def`, from 1; of several in a line the first."""
        nodes: dict[int, Node] = {}
        for node in _walk(self._tree.root_node):
            if node.type == "function_definition":
                nodes.setdefault(first_line(node), node)
        return nodes

    def definitions(self) -> dict[str, Span]:
        """Return the lines of the functions, classes, methods and assigned names of the module, by dotted name."""
        return {name: (first_line(node), last_line(node)) for name, node in _defined(self._tree.root_node, "")}

    def at(self, byte: int) -> int:
        """Return the number of characters before a byte offset."""
        return byte if self._ascii else len(self._data[:byte].decode("utf-8", "surrogatepass"))

    def span(self, node: Node) -> Span:
        """Return the characters of a node."""
        return self.at(node.start_byte), self.at(node.end_byte)

    def extent(self, node: Node) -> Span:
        """Return the characters of a node with the layout before it in its line."""
        start = self._data.rfind(b"\n", 0, node.start_byte) + 1
        return self.at(start), self.at(node.end_byte)

    def starts_line(self, node: Node) -> bool:
        """Return whether only layout precedes a node in its line."""
        start = node.start_byte
        return not self._data[self._data.rfind(b"\n", 0, start) + 1 : start].strip()


def first_line(node: Node) -> int:
    """Return the first line of a node, from 1."""
    return node.start_point[0] + 1


def last_line(node: Node) -> int:
    """Return the last line of a node, from 1."""
    return node.end_point[0] + 1


def identifiers(node: Node) -> Iterator[tuple[str, int]]:
    """Yield the names below a node with their lines, in the order of the text."""
    for inner in _walk(node):
        if inner.type == "identifier":
            yield (inner.text or b"").decode("utf-8", "replace"), first_line(inner)


def tokens(node: Node) -> Iterator[str]:
    """Yield the tokens of a node: names and literals as they stand, no comments and no layout."""
    for inner in _walk(node, stop_at=("string",)):
        if (not inner.children or inner.type == "string") and inner.type != "comment":
            yield (inner.text or b"").decode("utf-8", "replace")


def parses(text: str) -> bool:
    """Return whether a text is Python for this interpreter."""
    with warnings.catch_warnings():
        # An escape that is none, in somebody else's file, is no news.
        warnings.simplefilter("ignore")
        try:
            parse_python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _defined(scope: Node, prefix: str) -> Iterator[tuple[str, Node]]:
    """Yield what the statements of a module or class define; the last definition of a name is the one that counts."""
    for statement in scope.named_children:
        node = statement.child_by_field_name("definition") or statement
        if node.type == "expression_statement" and node.named_children[0].type == "assignment":
            name = node.named_children[0].child_by_field_name("left")
        else:
            name = node.child_by_field_name("name")
        if name is not None and name.type == "identifier":
            dotted = prefix + (name.text or b"").decode("utf-8", "replace")
            yield dotted, statement
            if node.type == "class_definition" and (body := node.child_by_field_name("body")):
                yield from _defined(body, f"{dotted}.")


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


def _walk(node: Node, stop_at: tuple[str, ...] = ()) -> Iterator[Node]:
    """Yield a node and all below it in the order of the text; no recursion, since code nests as deep as it likes."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in stop_at:
            waiting += reversed(node.children)
