"""Plain text of reStructuredText and Markdown: prose by paragraphs, and the blocks of code as written."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator, Sequence

from pipeline.corpus.prose import plain
from pipeline.corpus.snippets.layout import PYTHON, Block, blocks_of, indent_of, without_fences
from pipeline.corpus.snippets.names import parse
from pipeline.corpus.snippets.prompts import groups_of

_ADMONITION = re.compile(r"\.\. (?:note|warning|attention|caution|danger|error|hint|important|tip)\s*::\s*(.*)")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}).*")
_ITEM = re.compile(r"\s*(?:[*+\-•]|\(?\w{1,2}[.)]|#\.)\s+\S")
_MARKS = re.compile(r"[`*:|\\\[]")
_RULE = re.compile(r"\s*([=\-~^\"'#*+`.])\1{2,}\s*")


@functools.lru_cache(maxsize=65536)
def prose(text: str) -> str:
    """Return a text without code, directives and markup: paragraphs apart by a blank line, list items by a line end."""
    lines = text.expandtabs().splitlines()
    if "::" in text or ">>>" in text or "``" in text or "~~~" in text or ".. " in text:
        lines = list(_without_directives(_without_code(lines)))
    paragraphs = ("\n".join(_items(block)) for block in _blocks(lines))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def code_blocks(text: str) -> tuple[str, ...]:
    """Return the blocks of Python in a text as they are written, prompts and outputs included, in order."""
    if ">>>" not in text and "::" not in text and "``" not in text and "~~~" not in text:
        return ()
    lines = text.expandtabs().splitlines()
    prompted = [(group.start, group.end) for group in groups_of(without_fences(lines))]
    plainly = [
        (block.start, block.end)
        for block in blocks_of(lines)
        if not any(block.start <= start < block.end for start, _ in prompted) and _is_python(block)
    ]
    blocks = (_cut(lines[start:end]) for start, end in sorted(prompted + plainly))
    return tuple(block for block in blocks if block)


def _is_python(block: Block) -> bool:
    return block.language in PYTHON or (not block.language and bool(parse(block.text)))


def _cut(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")


def _without_code(lines: Sequence[str]) -> list[str]:
    spans = [(group.start, group.end) for group in groups_of(without_fences(lines))]
    spans += [(block.start, block.end) for block in blocks_of(lines)]
    code = {number for start, end in spans for number in range(start, end)}
    remaining = ("" if number in code or _FENCE.fullmatch(line) else line for number, line in enumerate(lines))
    return [line.rstrip()[:-1] if line.rstrip().endswith("::") and ".. " not in line else line for line in remaining]


def _without_directives(lines: Sequence[str]) -> Iterator[str]:
    """Drop what stands after two dots (directives, comments, targets) with its body; of a note the body stays."""
    margin: int | None = None
    for line in lines:
        if line.strip() and margin is not None and indent_of(line) <= margin:
            margin = None
        if margin is not None:
            continue
        stripped = line.strip()
        if note := _ADMONITION.fullmatch(stripped):
            yield note[1]
        elif stripped.startswith(".. ") or stripped == "..":
            margin = indent_of(line)
        else:
            yield line


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip() and not _RULE.fullmatch(line):
            block.append(line)
        elif block:
            yield block
            block = []


def _items(block: Sequence[str]) -> Iterator[str]:
    """Yield a paragraph, or each item of a list, on one line."""
    start = 0
    for number in range(1, len(block) + 1):
        if number == len(block) or _ITEM.match(block[number]):
            text = "\n".join(block[start:number])
            # a third of the time is spent on looking for markup, and most items have none
            if item := plain(text) if _MARKS.search(text) else " ".join(text.split()):
                yield item
            start = number
