"""The layout of a docstring: its sections, and the blocks of code that its markup sets apart."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import SnippetStyle

PYTHON = frozenset({"python", "python3", "py", "py3"})
_EXAMPLES = re.compile(r"(usage )?examples?( usage)?|usage|sample usage", re.IGNORECASE)
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,})\s*")
_GOOGLE = re.compile(r"\s*([A-Z][\w ]*):\s*")
_FENCE = re.compile(r"\s*(?P<mark>`{3,}|~{3,})\s*\{?(?P<language>[\w+-]*).*")
_DIRECTIVE = re.compile(r"\s*\.\. (?P<name>[\w:-]+)::\s*(?P<language>\S*)\s*")
_CODE_DIRECTIVES = frozenset({"code-block", "code", "sourcecode", "testcode"})
_OPTION = re.compile(r"\s*:[\w-]+:.*")


@dataclass(frozen=True, slots=True)
class Section:
    """A run of lines; `style` is set where it is a section of examples."""

    start: int
    end: int
    style: SnippetStyle | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its lines, the language that the markup states (if any) and the markup."""

    start: int
    end: int
    language: str
    style: SnippetStyle
    text: str


def indent_of(line: str) -> int:
    """Return how far a line is indented."""
    return len(line) - len(line.lstrip())


def sections_of(lines: Sequence[str]) -> list[Section]:
    """Cut a docstring into sections: NumPy headings are underlined, Google headings end in a colon.

    Sources: numpydoc's style guide; the Google Python Style Guide, section 3.8.
    """
    starts: dict[int, SnippetStyle | None] = {0: None}
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.fullmatch(following) and indent_of(line) == indent_of(following):
            starts[number] = SnippetStyle.NUMPY if _EXAMPLES.fullmatch(line.strip()) else None
        elif (heading := _GOOGLE.fullmatch(line)) and _body_end(lines, number) > number + 1:
            starts[number] = SnippetStyle.GOOGLE if _EXAMPLES.fullmatch(heading[1]) else None
            starts.setdefault(_body_end(lines, number), None)
    bounds = [*sorted(start for start in starts if start < len(lines)), len(lines)]
    return [Section(start, end, starts[start]) for start, end in itertools.pairwise(bounds)]


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """Return the blocks of code of a docstring: fences, code directives and literal blocks, in order.

    Sources: CommonMark 4.5; docutils' literal blocks and `code` directive; Sphinx' `code-block` and `testcode`.
    """
    blocks: list[Block] = []
    number = 0
    while number < len(lines):
        block = _fence(lines, number) or _directive(lines, number) or _literal(lines, number)
        if block:
            blocks.append(block)
        number = block.end if block and block.end > number else number + 1
    return blocks


def without_fences(lines: Sequence[str]) -> list[str]:
    """Return the lines with the fences emptied, which would otherwise be read as the output of a prompt."""
    return ["" if _FENCE.fullmatch(line) else line for line in lines]


def _body_end(lines: Sequence[str], number: int) -> int:
    """Return the line after the indented body that belongs to a line; the next line where there is none."""
    margin, end = indent_of(lines[number]), number + 1
    for following in range(number + 1, len(lines)):
        if lines[following].strip():
            if indent_of(lines[following]) <= margin:
                break
            end = following + 1
    return end


def _fence(lines: Sequence[str], number: int) -> Block | None:
    opening = _FENCE.fullmatch(lines[number])
    if not opening:
        return None
    for end in range(number + 1, len(lines)):
        if lines[end].strip().startswith(opening["mark"]) and not lines[end].strip().strip("`~"):
            body = lines[number + 1 : end]
            return Block(number + 1, end, opening["language"].lower(), SnippetStyle.MARKDOWN, _dedent(body))
    return None


def _directive(lines: Sequence[str], number: int) -> Block | None:
    directive = _DIRECTIVE.fullmatch(lines[number])
    if not directive or directive["name"] not in _CODE_DIRECTIVES:
        return None
    start = number + 1
    while start < len(lines) and _OPTION.fullmatch(lines[start]):
        start += 1
    # The word after testcode names a group of tests, not a language.
    language = "python" if directive["name"] == "testcode" else directive["language"].lower()
    return _indented(lines, number, start, language)


def _literal(lines: Sequence[str], number: int) -> Block | None:
    line = lines[number].rstrip()
    if not line.endswith("::") or _DIRECTIVE.fullmatch(line) or line.lstrip().startswith((">>>", "...")):
        return None
    return _indented(lines, number, number + 1, "")


def _indented(lines: Sequence[str], head: int, start: int, language: str) -> Block | None:
    end = _body_end(lines, head)
    while start < end and not lines[start].strip():
        start += 1
    if start >= end:
        return None
    return Block(start, end, language, SnippetStyle.SPHINX, _dedent(lines[start:end]))


def _dedent(lines: Sequence[str]) -> str:
    text = textwrap.dedent("\n".join(lines)).strip("\n")
    return f"{text}\n" if text else ""
