"""The pages of the documentation as text: their prose without code, and their code without prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.core.settings import PROJECT

TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = (*(PROJECT / name for name in TOP), *sorted((PROJECT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^( *)```.*?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BLOCK_START = re.compile(r"^ *(?:[-*] |\d+\. )")
_SENTENCE_END = re.compile(r"(?<=[.!?])[*)\"]*\s+(?=[\"(*]*[A-Z`0-9])")
_LEFT_OUT = ("#", "<!--", ">", "title:", "---")


def name_of(page: Path) -> str:
    """Return the path of a page below the project."""
    return page.relative_to(PROJECT).as_posix()


def code_spans(page: Path) -> list[str]:
    """Return the code spans of a page's prose."""
    return _CODE.findall(_FENCE.sub("", page.read_text("utf-8")))


def code_lines(page: Path) -> list[str]:
    """Return the lines of a page's code blocks, and its code spans."""
    blocks = [line.strip() for match in _FENCE.finditer(page.read_text("utf-8")) for line in match[2].splitlines()]
    return blocks + code_spans(page)


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page: of paragraphs, items and cells of tables, with code as one word."""
    for block in _blocks(_FENCE.sub("\n", page.read_text("utf-8"))):
        plain = _LINK.sub(r"\1", _CODE.sub("`code`", block))
        yield from (part.strip() for part in _SENTENCE_END.split(plain) if part.strip())


def _blocks(text: str) -> Iterator[str]:
    """Yield the parts of Markdown that end a sentence: paragraphs, items, cells.

    Headings, comments and quoted messages are left out.
    """
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        is_table = line.lstrip().startswith("|")
        if lines and (not line.strip() or is_table or line.startswith(_LEFT_OUT) or _BLOCK_START.match(line)):
            yield " ".join(lines)
            lines = []
        if is_table:
            yield from (cell for cell in re.split(r"(?<!\\)\|", line) if re.search(r"\w", cell))
        elif line.strip() and not line.startswith(_LEFT_OUT):
            lines.append(_BLOCK_START.sub("", line).strip())
