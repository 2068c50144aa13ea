"""The examples in a docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from more_itertools import first

from pipeline.core.vocabularies.samples import SnippetStyle
from pipeline.corpus.snippets.layout import PYTHON, Block, Section, blocks_of, sections_of, without_fences
from pipeline.corpus.snippets.names import parse
from pipeline.corpus.snippets.programs import Example, append, join_dependent, split_independent
from pipeline.corpus.snippets.prompts import Group, groups_of

_CODE_NODES = (ast.Call, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.With)


def extract(docstring: str, split_over: int = 40) -> list[Example]:
    """Return the examples of a docstring (indentation removed), in order of their lines.

    Interactive statements of one section are one program, since doctest runs them in one namespace, and so are
    sections that need names of an earlier one; a program of more than `split_over` lines is split where its parts
    are independent. Blocks of code without prompts are programs of their own, joined where one needs another.
    Blocks that state another language, or state none and do not look like Python, are no examples.
    """
    lines = docstring.expandtabs().splitlines()
    sections = sections_of(lines)
    groups = groups_of(without_fences(lines))
    blocks = [block for block in blocks_of(lines) if not _has_prompts(block.start, block.end, groups)]
    plain = [*_from_blocks(blocks, sections), *_from_sections(lines, sections, groups, blocks)]
    plain.sort(key=lambda example: example.line)
    examples = [*_interactive(groups, sections, split_over), *join_dependent(plain)]
    return sorted(examples, key=lambda example: (example.line, example.code))


def _interactive(groups: Sequence[Group], sections: Sequence[Section], split_over: int) -> list[Example]:
    """Make programs of the interactive statements."""
    by_section: dict[int, list[Example]] = {}
    for group in groups:
        section = _section_at(sections, group.start)
        piece = Example(section.style or SnippetStyle.DOCTEST, group.code, group.checks, group.start)
        by_section.setdefault(section.start, []).append(piece)
    pieces_of: dict[int, list[Example]] = {}
    for pieces in by_section.values():
        whole = _whole(pieces)
        split = whole.code.count("\n") > split_over and all(parse(piece.code) is not None for piece in pieces)
        pieces_of[pieces[0].line] = split_independent(pieces) if split else [whole]
    return join_dependent([piece for pieces in pieces_of.values() for piece in pieces])


def _whole(pieces: Sequence[Example]) -> Example:
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = append(whole, piece)
    return whole


def _from_blocks(blocks: Sequence[Block], sections: Sequence[Section]) -> Iterator[Example]:
    for block in blocks:
        if block.language in PYTHON or (not block.language and _looks_like_python(block.text)):
            style = _section_at(sections, block.start).style or block.style
            yield Example(style, block.text, (), block.start)


def _from_sections(
    lines: Sequence[str], sections: Sequence[Section], groups: Sequence[Group], blocks: Sequence[Block]
) -> Iterator[Example]:
    """Yield the examples that a section of examples holds as bare indented code."""
    for section in sections:
        head = 2 if section.style is SnippetStyle.NUMPY else 1
        start = section.start + head
        marked = any(section.start <= block.start < section.end for block in blocks)
        if section.style is None or marked or _has_prompts(section.start, section.end, groups):
            continue
        text = _dedented(lines[start : section.end])
        if _looks_like_python(text):
            yield Example(section.style, text, (), start)


def _dedented(lines: Sequence[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[margin:].rstrip() for line in lines).strip("\n")
    return f"{text}\n" if text else ""


def _has_prompts(start: int, end: int, groups: Sequence[Group]) -> bool:
    return any(start <= group.start < end for group in groups)


def _section_at(sections: Sequence[Section], line: int) -> Section:
    return first(section for section in sections if section.start <= line < section.end)


def _looks_like_python(text: str) -> bool:
    """Tell whether text that states no language is code: it parses, and calls, imports or defines something."""
    statements = parse(text)
    return any(isinstance(node, _CODE_NODES) for statement in statements or () for node in ast.walk(statement))
