"""Statements that are nested too deeply to be read, left out of a source so that the rest of it can be read.

Tables that a program wrote are such: a sum of thousands of terms, a thousand `elif`, a chain of as many calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import tree_sitter

from pipeline.api.surface.parse.edits import Edit, edited, parsed

TOO_DEEP = (RecursionError, MemoryError)
"""What the parser raises at its limits (`MemoryError` is an overflow of its stack), and what walks over a tree."""

_DEFINITIONS = frozenset({"class_definition", "function_definition"})
_BLIND = frozenset({"expression_statement", "return_statement", "assert_statement", "delete_statement"})
"""Statements that bind nothing but what an assignment in them does."""


@dataclass(frozen=True, slots=True)
class Shallow:
    """A source without its deep statements, every line in its place.

    `lines` are the first lines of these statements, `names` the dotted names of what they bind, which is bound to `...`
    instead; `binds_more` if one of them may bind other names besides.
    """

    text: str
    lines: tuple[int, ...]
    names: tuple[str, ...]
    binds_more: bool


@dataclass(frozen=True, slots=True)
class _Statement:
    node: tree_sitter.Node
    names: tuple[str, ...]
    inside: str

    @property
    def edit(self) -> Edit:
        instead = "; ".join(f"{name} = ..." for name in self.names) or "pass"
        newlines = self.node.end_point.row - self.node.start_point.row
        return self.node.start_byte, self.node.end_byte, instead.encode() + b"\n" * newlines


def without_deep(text: str, is_deep: Callable[[str], bool]) -> Shallow:
    """Leave out the statements of a module and of its classes of which `is_deep` says that they cannot be read.

    Of a class in which some statements are so, only these are left out.
    """
    source = text.encode("utf-8", "surrogatepass")
    omitted = list(_deep(parsed(source), source, "", is_deep))
    return Shallow(
        edited(source, (statement.edit for statement in omitted)),
        tuple(statement.node.start_point.row + 1 for statement in omitted),
        tuple(statement.inside + name for statement in omitted for name in statement.names),
        any(not statement.names and statement.node.type not in _BLIND for statement in omitted),
    )


def _deep(block: tree_sitter.Node, source: bytes, inside: str, is_deep: Callable[[str], bool]) -> Iterator[_Statement]:
    for node in block.named_children:
        line = source.rfind(b"\n", 0, node.start_byte) + 1
        blanks = source[line : node.start_byte]
        alone = source[node.start_byte : node.end_byte].decode()
        if inside:
            alone = f"class _:\n{blanks.decode() if blanks.isspace() else ' '}{alone}"
        if not is_deep(f"{alone}\n"):
            continue
        names = tuple(_names(node))
        definition = node.child_by_field_name("definition") or node
        body = definition.child_by_field_name("body") if definition.type == "class_definition" else None
        within = list(_deep(body, source, f"{inside}{names[0]}.", is_deep)) if body is not None else []
        yield from within or [_Statement(node, names, inside)]


def _names(node: tree_sitter.Node) -> Iterator[str]:
    """Yield the names that a definition or an assignment binds."""
    definition = node.child_by_field_name("definition") or node
    if definition.type in _DEFINITIONS:
        targets = definition.children_by_field_name("name")
    else:
        targets = []
        waiting = [*node.named_children]
        for assigned in waiting:
            if assigned.type == "assignment":
                targets += assigned.children_by_field_name("left")
                waiting += assigned.children_by_field_name("right")
    for target in targets:
        parts = [target] if target.type == "identifier" else target.named_children
        yield from (part.text.decode() for part in parts if part.type == "identifier" and part.text)
