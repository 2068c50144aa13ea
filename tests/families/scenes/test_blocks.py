"""The blocks of functions: which there are, where they begin and end, and what is inside."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.scenes import BlockType
from pipeline.families.scenes.blocks import Block, blocks_of
from pipeline.families.scenes.source import SourceFile

FUNCTION = '''\
@decorator
def f(self, a,
      b=1):  # of the header
    """Doc."""
    # one
    # two
    if a:  # why
        # inside
        x = call(a)
    elif b:
        return 2
    else:
        x = 3
    try:
        z()
    except (A, B) as e:
        q()
    finally:
        u()
    for i in x: k(i)
    while True:
        with a as b:
            break
    match x:
        case 1:
            d()
    def inner(): return 1
    return (a,
            b)
    # end
'''


def blocks(text: str) -> list[Block]:
    source = SourceFile(text)
    (function,) = [node for line, node in sorted(source.functions().items())][:1]
    return blocks_of(source, function)


def test_every_kind_of_block_is_found_outer_ones_first() -> None:
    assert [(str(block.type), *block.lines) for block in blocks(FUNCTION)] == [
        ("parameters", 2, 3),
        ("function", 5, 30),
        ("if", 7, 13),
        ("statement", 9, 9),
        ("elif", 10, 11),
        ("statement", 11, 11),
        ("else", 12, 13),
        ("statement", 13, 13),
        ("try", 14, 19),
        ("statement", 15, 15),
        ("except", 16, 17),
        ("statement", 17, 17),
        ("finally", 18, 19),
        ("statement", 19, 19),
        ("for", 20, 20),
        ("while", 21, 23),
        ("with", 22, 23),
        ("match", 24, 26),
        ("case", 25, 26),
        ("statement", 26, 26),
        ("function", 27, 27),
        ("statement", 28, 29),
    ]


@pytest.mark.parametrize(
    ("type_", "text", "inside"),
    [
        (BlockType.PARAMETERS, "self, a,\n      b=1", None),
        (
            BlockType.IF,
            FUNCTION[FUNCTION.index("if a") : FUNCTION.index("\n    try:")],
            "# inside\n        x = call(a)",
        ),
        (BlockType.ELIF, "elif b:\n        return 2", "return 2"),
        (BlockType.EXCEPT, "except (A, B) as e:\n        q()", "q()"),
        (BlockType.FOR, "for i in x: k(i)", "k(i)"),
        (BlockType.WITH, "with a as b:\n            break", "break"),
        (BlockType.CASE, "case 1:\n            d()", "d()"),
        (BlockType.FUNCTION, FUNCTION[FUNCTION.index("# one") : -1], None),
    ],
)
def test_a_block_and_what_is_inside(type_: BlockType, text: str, inside: str | None) -> None:
    block = next(block for block in blocks(FUNCTION) if block.type == type_)
    assert FUNCTION[slice(*block.span)] == text
    assert (FUNCTION[slice(*block.inside)] if block.inside else None) == inside


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("    '''Only text.'''", []),
        ("    # above\n    '''Text.'''\n    # below\n    x = 1", ["function", "statement"]),
        ("    '''Text.'''; x = 1", ["function"]),
        ("    x = 1", ["function"]),
        ("    x = 1; y = 2", ["function"]),
        ("    pass\n    global x", ["function"]),
        ("    # ä\n    x = 'é'", ["function", "statement"]),
        ("    x = 1  # at the end\n    y = 2", ["function", "statement", "statement"]),
        ("    # one\n\n    # apart\n    x = 1", ["function", "statement"]),
        ("    '''Text.'''\n    # nothing else", []),
        ("    '''Text.'''\n    # below\n    'more text'", []),
        ("    def g():\n        # only text\n        'Text.'", ["function"]),
        ("    class A:\n        x = 1\n    y = 2", ["function", "class", "statement"]),
    ],
)
def test_what_is_no_block_of_its_own(body: str, types: list[str]) -> None:
    assert [str(block.type) for block in blocks(f"def f():\n{body}\n")] == types


@pytest.mark.parametrize(
    ("parameters", "written", "lines"),
    [
        ("a, b=1", "a, b=1", (1, 1)),
        ("\n    a,\n    *,\n    b: int = 1,\n", "a,\n    *,\n    b: int = 1,", (2, 4)),
        (" a ", "a", (1, 1)),
        ("a,  # first\n    b", "a,  # first\n    b", (1, 2)),
    ],
)
def test_parameters_are_written_without_the_layout_around_them(
    parameters: str, written: str, lines: tuple[int, int]
) -> None:
    text = f"def f({parameters}):\n    return a\n"
    block = blocks(text)[0]
    assert (block.type, text[slice(*block.span)], block.lines) == (BlockType.PARAMETERS, written, lines)


def test_positions_are_characters_whatever_the_script() -> None:
    text = "# é\ndef f():\n    x = 'ü'\n    if x:\n        return 'ß'\n    return x\n"
    block = next(block for block in blocks(text) if block.type == BlockType.IF)
    assert text[slice(*block.span)] == "if x:\n        return 'ß'"


def test_deep_nesting_is_no_recursion_into_expressions() -> None:
    text = "def f():\n    x = 1\n    return " + "(" * 3000 + ")" * 3000 + "\n"
    assert [str(block.type) for block in blocks(text)] == ["function", "statement", "statement"]


def test_blocks_of_older_snapshots_are_still_read() -> None:
    """Comments are made no more; a term that goes would leave no old snapshot with scenes readable."""
    assert BlockType("comment").meaning
