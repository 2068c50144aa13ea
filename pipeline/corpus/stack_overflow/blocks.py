"""Which blocks of code are taken: those in the library's language."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import tree_sitter
import tree_sitter_c_sharp
import tree_sitter_java
import tree_sitter_javascript

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language
from pipeline.corpus.stack_overflow.markup import Segment
from pipeline.corpus.stack_overflow.rules import BlockRules

_GRAMMARS = {
    Language.JAVA: tree_sitter_java.language,
    Language.CSHARP: tree_sitter_c_sharp.language,
    Language.JAVASCRIPT: tree_sitter_javascript.language,
}
_NO_CODE = frozenset(
    {
        "comment",
        "line_comment",
        "block_comment",
        "empty_statement",
        "jsx_element",
        "string",
        "number",
        "object",
        "array",
    }
)
_WRAPPERS = frozenset({"expression_statement", "global_statement", "parenthesized_expression"})


def refusal(block: Segment, language: Language, rules: BlockRules) -> tuple[RejectReason, str] | None:
    """Return why a block is not taken, None if it is."""
    if block.hint and rules.language_of(block.hint) is not language:
        return RejectReason.NO_USE, f"the block says that it is written in {block.hint}, not {language}"
    if len(block.text) > rules.max_characters:
        return RejectReason.TOO_LONG, f"{len(block.text)} characters, the rule allows {rules.max_characters}"
    if language is Language.PYTHON:
        return None
    if (lines := block.text.count("\n") + 1) < rules.min_lines:
        return RejectReason.TOO_SHORT, f"{lines} lines, the rule asks for {rules.min_lines}"
    share = error_share(block.text, language)
    if share > rules.max_error_share:
        return RejectReason.BROKEN_EXAMPLE, f"errors in {share:.0%} of its lines, read as {language}"
    return None


def error_share(code: str, language: Language) -> float:
    """Return the share of the lines of code at which its grammar finds an error; 1 where there is no code at all."""
    root = _parser(language).parse(code.encode()).root_node
    if all(_is_no_code(node) for node in root.named_children):
        return 1.0
    lines = {line for node in _errors(root) for line in range(node.start_point.row, node.end_point.row + 1)}
    return len(lines) / (code.count("\n") + 1)


@functools.cache
def _parser(language: Language) -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(_GRAMMARS[language]()))


def _is_no_code(node: tree_sitter.Node) -> bool:
    """Tell whether a node is only a comment, a literal or markup, which JavaScript reads as JSX."""
    while node.type in _WRAPPERS and node.named_child_count == 1:
        node = node.named_children[0]
    return node.type in _NO_CODE


def _errors(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the outermost nodes that are errors, and what the grammar added to go on."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            stack += node.children
