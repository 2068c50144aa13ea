"""The blocks of a function: what tree-sitter says is a function, an if, a loop, a statement and so on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import more_itertools
from tree_sitter import Node

from pipeline.core.vocabularies.scenes import BlockType
from pipeline.families.scenes.source import SourceFile, Span, first_line, last_line

_COMPOUND: Mapping[str, BlockType] = {
    "if_statement": BlockType.IF,
    "elif_clause": BlockType.ELIF,
    "else_clause": BlockType.ELSE,
    "for_statement": BlockType.FOR,
    "while_statement": BlockType.WHILE,
    "with_statement": BlockType.WITH,
    "try_statement": BlockType.TRY,
    "except_clause": BlockType.EXCEPT,
    "except_group_clause": BlockType.EXCEPT,
    "finally_clause": BlockType.FINALLY,
    "match_statement": BlockType.MATCH,
    "case_clause": BlockType.CASE,
}
_DEFINITIONS: Mapping[str, BlockType] = {
    "function_definition": BlockType.FUNCTION,
    "class_definition": BlockType.CLASS,
}
_STATEMENTS = frozenset(
    {
        "expression_statement",
        "return_statement",
        "assert_statement",
        "raise_statement",
        "delete_statement",
        "import_statement",
        "import_from_statement",
    }
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block: where it stands, in characters and in lines from 1, and its syntax.

    `inside` is what follows the header, None where it has none; `nodes` are the parts of the tree that it is made of.
    """

    type: BlockType
    span: Span
    lines: Span
    inside: Span | None
    nodes: tuple[Node, ...]


def blocks_of(source: SourceFile, function: Node) -> list[Block]:
    """Return the blocks of a function definition, outer ones first; no two have the same first and last line.

    A block is known by its lines (Codev-Bench's block_key), so of several in the same lines the outermost stays.
    """
    blocks: dict[Span, Block] = {}
    for block in _of_node(source, function):
        blocks.setdefault(block.lines, block)
    return list(blocks.values())


def _of_node(source: SourceFile, node: Node) -> Iterator[Block]:
    """Yield the blocks that a statement, clause or definition is made of."""
    if node.type in _DEFINITIONS:
        yield from _definition(source, node)
    elif node.type in _COMPOUND:
        yield _block(source, _COMPOUND[node.type], [node], _inside(source, node))
        yield from _parts(source, node)
    elif node.type in _STATEMENTS and not _is_text(node):
        yield _block(source, BlockType.STATEMENT, [node])
    else:
        yield from _parts(source, node)


def _definition(source: SourceFile, node: Node) -> Iterator[Block]:
    """Yield the parameters of a definition, and its body below the docstring: what it is to do is left to be read."""
    parameters, body = node.child_by_field_name("parameters"), _below_docstring(_body(source, node))
    if parameters and parameters.named_child_count:
        yield _block(source, BlockType.PARAMETERS, parameters.children[1:-1])
    if any(_is_code(part) for part in body):
        yield _block(source, _DEFINITIONS[node.type], body)
    yield from _parts(source, node)


def _parts(source: SourceFile, node: Node) -> Iterator[Block]:
    """Yield the blocks below a node: of its statements and clauses. No test can judge a comment: it is none."""
    for child in node.named_children:
        if child.type in ("block", "decorated_definition"):
            yield from _parts(source, child)
        elif child.type in _COMPOUND or child.type in _DEFINITIONS or child.type in _STATEMENTS:
            yield from _of_node(source, child)


def _body(source: SourceFile, node: Node) -> list[Node]:
    """Return what stands below the header of a node: statements, and comments on lines of their own."""
    suite = next((child for child in node.children if child.type == "block"), None)
    if suite is None:
        return []
    above = [child for child in node.children if child.end_byte <= suite.start_byte]
    header = more_itertools.first(child for child in reversed(above) if child.type == ":")
    comments = [child for child in above if child.start_byte > header.start_byte and source.starts_line(child)]
    return [*comments, *suite.named_children]


def _below_docstring(body: list[Node]) -> list[Node]:
    """Return the body of a definition without the docstring and what stands above it."""
    first = next((at for at, node in enumerate(body) if node.type != "comment"), None)
    return body[first + 1 :] if first is not None and _is_text(body[first]) else body


def _inside(source: SourceFile, node: Node) -> Span | None:
    body = _body(source, node)
    return (source.span(body[0])[0], source.span(body[-1])[1]) if any(_is_code(part) for part in body) else None


def _is_code(node: Node) -> bool:
    return node.type != "comment" and not _is_text(node)


def _is_text(node: Node) -> bool:
    """Return whether a statement is a string and nothing else, such as a docstring."""
    return node.type == "expression_statement" and [child.type for child in node.children] in (
        ["string"],
        ["concatenated_string"],
    )


def _block(source: SourceFile, type_: BlockType, nodes: list[Node], inside: Span | None = None) -> Block:
    span = (source.span(nodes[0])[0], source.span(nodes[-1])[1])
    return Block(type_, span, (first_line(nodes[0]), last_line(nodes[-1])), inside, tuple(nodes))
