"""What a scene shows of a file around its cursor, and the file with what is to be written left empty."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

from tree_sitter import Node

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.families.scenes.blocks import Block
from pipeline.families.scenes.source import Span, parses
from pipeline.lake.rows import SceneRow

_WITHOUT_HEADER = frozenset({BlockType.STATEMENT, BlockType.PARAMETERS})
_LEAVING = frozenset(f"{name}_statement" for name in ("return", "raise", "break", "continue", "pass"))
"""Statements that change nothing where they stand twice in a row."""

_CONTINUES = re.compile(r"(else|elif|except|finally|case)\b")


@dataclass(frozen=True, slots=True)
class View:
    """Where a scene cuts a file: `middle` is to be written, below it the text from `suffix_start` on is shown."""

    middle: Span
    suffix_start: int


def view(scene: Scene, block: Block, function_end: int, text: str) -> View | None:
    """Return how a scene cuts a file at a block, None where it has no such scene.

    `function_end` is where the outermost function around the block ends. A scene that would show the same as one with a
    smaller number is none, and parameters are written where all else is there.
    """
    start, end = block.span
    rest_of_function, rest_of_file = text[end:function_end].strip(), text[function_end:].strip()
    # What is hidden and goes on with the statement would make an answer that ends it a syntax error.
    whole = block.type != BlockType.PARAMETERS and not _CONTINUES.match(rest_of_function)
    if scene == Scene.FUNCTION_EMPTY_BELOW:
        return View(block.span, function_end) if whole and rest_of_function else None
    if scene == Scene.NOTHING_BELOW:
        return View(block.span, len(text)) if whole and rest_of_file else None
    if scene == Scene.PART_OF_BLOCK:
        return View(block.inside, block.inside[1]) if block.inside else None
    if scene == Scene.COMPLETE_BLOCK:
        return View((end, end), end) if block.type not in _WITHOUT_HEADER else None
    return View((start, end), end)


def hidden_names(text: str, block: Block, cut: View, extent: Span) -> list[str]:
    """Return the names that a middle needs and that stand only where nothing is shown.

    They are names that it binds and the rest of its function uses, and names of others, or of `self`, that it uses.
    `extent` is where the outermost function around the block stands: a name of another function says nothing of how the
    rest of this one calls a variable.
    """
    below = text[cut.middle[1] : cut.suffix_start]
    if not below.strip():
        return []
    visible = _words(text[: cut.middle[0]] + text[cut.suffix_start :])
    in_function = _words(text[cut.middle[1] : min(cut.suffix_start, extent[1])])
    first, last = block.lines
    begin = text.count("\n", 0, extent[0]) + 1
    located = [(getattr(node, "lineno", 0), node) for node in ast.walk(_parsed(text))]
    nodes = [node for line, node in located if first <= line <= last]
    # Prose of the docstring names no variable.
    above = {name for line, node in located if begin <= line < first for name in _variable(node)}
    own = {part.id for node in nodes if isinstance(node, _COMPREHENSIONS) for part in _targets(node)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - own
    used = {node.id for node in nodes if isinstance(node, ast.Name)} - own - bound
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_self(node.value)}
    return sorted(((bound & in_function) - above) | ((used & _words(below)) - visible))


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[ast.Name]:
    names = (part for each in node.generators for part in ast.walk(each.target))
    return [name for name in names if isinstance(name, ast.Name)]


def _variable(node: ast.AST) -> tuple[str, ...]:
    return (node.id,) if isinstance(node, ast.Name) else (node.arg,) if isinstance(node, ast.arg) else ()


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    return parse_python(text)


def emptied(text: str, block: Block, middle: Span, extent: Span) -> str | None:
    """Return what takes the place of a middle in a function that still parses: nothing, or the least that must.

    None where nothing of it can be left out, as with the cases of a match. What does not parse fails every test, and
    would say nothing of the tests. `extent` is where the function stands, from the beginning of its line.
    """
    # What is indented is no module of its own.
    head = "if True:\n" if text[extent[0]].isspace() else ""
    above, below = head + text[extent[0] : middle[0]], text[middle[1] : extent[1]]
    # A while without a body would never end.
    candidates = ["", "break" if block.type == BlockType.WHILE and middle == block.inside else "pass"]
    if block.inside and block.inside[0] > middle[0]:
        # A handler, say, without which its try is none: the header stays.
        candidates.append(text[middle[0] : block.inside[0]] + "pass")
    return next((each for each in candidates if parses(above + each + below)), None)


def continuations(text: str, block: Block, extent: Span) -> list[str]:
    """Return what must not be written after a complete block: the block once more, or the next statement once more.

    Those with which its function does not parse, or does the same, are left out. `extent` is where the function stands,
    from the beginning of its line.
    """
    start, end = block.span
    repeated = [(text[start:end], block.nodes[0])]
    following = _next_statement(block.nodes[-1])
    if following is not None and following.type not in _LEAVING:
        repeated.append(((following.text or b"").decode("utf-8", "replace"), following))
    head = "if True:\n" if text[extent[0]].isspace() else ""
    above, below = head + text[extent[0] : end], text[end : extent[1]]
    lines = text.split("\n")
    # Layout is ASCII: columns in bytes are those in characters.
    codes = [f"\n{lines[node.start_point[0]][: node.start_point[1]]}{code}" for code, node in repeated]
    return [code for code in dict.fromkeys(codes) if parses(above + code + below)]


def _next_statement(node: Node) -> Node | None:
    """Return the statement after a node, or after those around it, in its function."""
    while node.type not in ("function_definition", "class_definition", "module"):
        following = node.next_named_sibling
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        if following is not None:
            return following
        if node.parent is None:
            return None
        node = node.parent
    return None


def cut(scene: SceneRow, text: str) -> tuple[str, str, str]:
    """Return prefix, shown suffix and the suffix that tests are run with, of a row of `scenes` and its file.

    prefix + middle + the last is the file.
    """
    return text[: scene["middle_start"]], text[scene["suffix_start"] :], text[scene["middle_end"] :]
