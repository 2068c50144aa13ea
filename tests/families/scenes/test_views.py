"""How scenes cut files: nothing is lost or added, and an empty block is one that runs."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import enum
import inspect
import json.encoder
import tarfile
import traceback
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given

from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.families.scenes.blocks import Block, blocks_of
from pipeline.families.scenes.source import SourceFile, Span
from pipeline.families.scenes.views import View, continuations, cut, emptied, hidden_names, view
from tests.families.scenes.programs import programs

TEXT = """\
def f(a):
    first = a
    if first:
        second = 2
    return first


x = f(1)
"""


def block_of(text: str, type_: BlockType) -> tuple[Block, Span]:
    source = SourceFile(text)
    node = next(iter(source.functions().values()))
    return next(block for block in blocks_of(source, node) if block.type == type_), source.extent(node)


def shown(text: str, type_: BlockType, scene: Scene) -> tuple[str, str, str] | None:
    block, (_, end) = block_of(text, type_)
    cut_at = view(scene, block, end, text)
    if cut_at is None:
        return None
    return text[: cut_at.middle[0]], text[slice(*cut_at.middle)], text[cut_at.suffix_start :]


IF = "if first:\n        second = 2"
ABOVE, BELOW = "def f(a):\n    first = a\n    ", "\n    return first\n\n\nx = f(1)\n"


@pytest.mark.parametrize(
    ("scene", "type_", "expected"),
    [
        (Scene.WHOLE_BLOCK, BlockType.IF, (ABOVE, IF, BELOW)),
        (Scene.OTHER_FILES, BlockType.IF, (ABOVE, IF, BELOW)),
        (Scene.FUNCTION_EMPTY_BELOW, BlockType.IF, (ABOVE, IF, "\n\n\nx = f(1)\n")),
        (Scene.NOTHING_BELOW, BlockType.IF, (ABOVE, IF, "")),
        (Scene.PART_OF_BLOCK, BlockType.IF, (ABOVE + "if first:\n        ", "second = 2", BELOW)),
        (Scene.COMPLETE_BLOCK, BlockType.IF, (ABOVE + IF, "", BELOW)),
        (Scene.WHOLE_BLOCK, BlockType.PARAMETERS, ("def f(", "a", TEXT[7:])),
        (Scene.FUNCTION_EMPTY_BELOW, BlockType.PARAMETERS, None),
        (Scene.NOTHING_BELOW, BlockType.PARAMETERS, None),
        (Scene.COMPLETE_BLOCK, BlockType.STATEMENT, None),
        (Scene.PART_OF_BLOCK, BlockType.STATEMENT, None),
        (Scene.FUNCTION_EMPTY_BELOW, BlockType.FUNCTION, None),
        (Scene.PART_OF_BLOCK, BlockType.FUNCTION, None),
    ],
)
def test_what_a_scene_shows(scene: Scene, type_: BlockType, expected: tuple[str, str, str] | None) -> None:
    assert shown(TEXT, type_, scene) == expected


@pytest.mark.parametrize("scene", [Scene.FUNCTION_EMPTY_BELOW, Scene.NOTHING_BELOW])
@pytest.mark.parametrize("header", ["else", "elif a"])
def test_no_block_is_chosen_whose_statement_continues_in_hidden_text(scene: Scene, header: str) -> None:
    text = TEXT.replace(f"{IF}\n", f"{IF}\n    {header}:\n        second = 3\n")
    source = SourceFile(text)
    node = next(iter(source.functions().values()))
    views = {
        text[slice(*block.span)]: view(scene, block, source.extent(node)[1], text) for block in blocks_of(source, node)
    }
    assert views["second = 2"] is None
    assert views["first = a"] is not None


def test_nothing_below_is_no_other_scene_where_nothing_is_there() -> None:
    text = TEXT[: TEXT.index("\n\n\nx")] + "\n"
    assert shown(text, BlockType.IF, Scene.NOTHING_BELOW) is None
    assert shown(text, BlockType.IF, Scene.FUNCTION_EMPTY_BELOW) is not None


@pytest.mark.parametrize(
    ("text", "type_", "empty"),
    [
        (TEXT, BlockType.IF, ""),
        (TEXT, BlockType.FUNCTION, "pass"),
        (TEXT, BlockType.PARAMETERS, ""),
        ("def f():\n    try:\n        a()\n    except B:\n        c()\n", BlockType.EXCEPT, "except B:\n        pass"),
        ("def f():\n    try:\n        a()\n    finally:\n        c()\n", BlockType.FINALLY, "finally:\n        pass"),
        ("def f():\n    if x:\n        a()\n    elif y:\n        c()\n    else:\n        d()\n", BlockType.ELIF, ""),
        ("def f():\n    match x:\n        case 1:\n            c()\n", BlockType.CASE, "case 1:\n            pass"),
        ("def f():\n    return `x`\n", BlockType.FUNCTION, "pass"),
        ("class A:\n    def f():\n        x = 1\n\n    y = 2\n", BlockType.FUNCTION, "pass"),
    ],
)
def test_what_takes_the_place_of_an_empty_block(text: str, type_: BlockType, empty: str | None) -> None:
    block, extent = block_of(text, type_)
    assert emptied(text, block, block.span, extent) == empty


@pytest.mark.parametrize(
    ("text", "type_", "wrong"),
    [
        (TEXT, BlockType.IF, ["\n    if first:\n        second = 2"]),
        (
            "def f():\n    for x in y:\n        if x:\n            a()\n",
            BlockType.IF,
            ["\n        if x:\n            a()"],
        ),
        # what follows is that of the loop around it; a comment is no statement
        (
            "def f():\n\tfor x in y:\n\t\tif x:\n\t\t\ta()\n\t# done\n\tc = b\n",
            BlockType.IF,
            ["\n\t\tif x:\n\t\t\ta()", "\n\tc = b"],
        ),
        # a second else is no Python
        ("def f():\n    if x:\n        a()\n    else:\n        d()\n    é()\n", BlockType.ELSE, ["\n    é()"]),
        ("class A:\n    def f():\n        x = 1\n\n    y = 2\n", BlockType.FUNCTION, ["\n        x = 1"]),
    ],
)
def test_what_must_not_follow_a_complete_block(text: str, type_: BlockType, wrong: list[str]) -> None:
    block, extent = block_of(text, type_)
    assert continuations(text, block, extent) == wrong


@given(programs())
def test_prefix_middle_and_suffix_are_the_file(text: str) -> None:
    ast.parse(text)
    source = SourceFile(text)
    assert not source.broken
    (node,) = [node for node in source.functions().values() if b"function" in (node.text or b"")[:12]]
    found = 0
    for block in blocks_of(source, node):
        for scene in Scene:
            if cut_at := view(scene, block, source.span(node)[1], text):
                found += 1
                check_cut(text, block, scene, cut_at, source.extent(node))
    assert found


@pytest.mark.parametrize("module", [argparse, asyncio.base_events, json.encoder, enum, tarfile, traceback])
def test_the_same_holds_of_the_standard_library(module: ModuleType) -> None:
    text = inspect.getsource(module)
    source = SourceFile(text)
    found = 0
    for node in source.functions().values():
        for block in blocks_of(source, node):
            for scene in (Scene.WHOLE_BLOCK, Scene.PART_OF_BLOCK):
                if cut_at := view(scene, block, source.span(node)[1], text):
                    found += 1
                    start, end = cut_at.middle
                    assert text[start:end].strip() == text[start:end]
                    assert text.count("\n", 0, block.span[0]) + 1 == block.lines[0]
                    empty = emptied(text, block, cut_at.middle, source.extent(node))
                    assert (empty is None) == (block.type == BlockType.MATCH and scene == Scene.PART_OF_BLOCK)
    assert found > 20


def check_cut(text: str, block: Block, scene: Scene, cut_at: View, extent: Span) -> None:
    start, end = cut_at.middle
    row: Any = {"middle_start": start, "middle_end": end, "suffix_start": cut_at.suffix_start}
    prefix, suffix, test_suffix = cut(row, text)
    assert prefix + text[start:end] + test_suffix == text
    assert test_suffix.endswith(suffix)
    if scene not in (Scene.FUNCTION_EMPTY_BELOW, Scene.NOTHING_BELOW):
        assert suffix == test_suffix
    assert bool(text[start:end]) == (scene != Scene.COMPLETE_BLOCK)
    assert text.count("\n", 0, block.span[0]) + 1 == block.lines[0]
    assert text.count("\n", 0, block.span[1]) + 1 == block.lines[1]
    empty = emptied(text, block, cut_at.middle, extent)
    # The cases of a match are all that can stand in it.
    assert (empty is None) == (block.type == BlockType.MATCH and scene == Scene.PART_OF_BLOCK)
    ast.parse(prefix + (empty or text[start:end]) + test_suffix)


NEEDS = """\
class A:
    def f(self, a):
        if a:
            parts = [one for one in helper(a)]
            self.rest = a
        return parts


def helper(a):
    one = a
    return a
"""


@pytest.mark.parametrize(
    ("scene", "names"),
    [
        (Scene.WHOLE_BLOCK, []),
        (Scene.FUNCTION_EMPTY_BELOW, ["parts"]),
        (Scene.NOTHING_BELOW, ["helper", "parts"]),
    ],
)
def test_names_that_stand_only_where_nothing_is_shown(scene: Scene, names: list[str]) -> None:
    block, extent = block_of(NEEDS, BlockType.IF)
    cut_at = view(scene, block, extent[1], NEEDS)
    assert cut_at is not None
    assert hidden_names(NEEDS, block, cut_at, extent) == names


def test_a_name_of_another_function_does_not_say_how_this_one_calls_a_variable() -> None:
    text = NEEDS + "\n\ndef g(parts):\n    return parts\n"
    block, extent = block_of(text, BlockType.IF)
    cut_at = view(Scene.FUNCTION_EMPTY_BELOW, block, extent[1], text)
    assert cut_at is not None
    assert hidden_names(text, block, cut_at, extent) == ["parts"]
    bound_above = text.replace("        if a:", "        parts = a\n        if a:")
    block, extent = block_of(bound_above, BlockType.IF)
    cut_at = view(Scene.FUNCTION_EMPTY_BELOW, block, extent[1], bound_above)
    assert cut_at is not None
    assert hidden_names(bound_above, block, cut_at, extent) == []
