"""Blocks of posts and pages as programs, with what they need of the blocks before them."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import SnippetSource, SnippetStyle
from pipeline.corpus.snippets.code_sample_rules import Placeholders
from pipeline.corpus.snippets.extract import extract
from pipeline.corpus.snippets.names import bound_names, free_names
from pipeline.corpus.snippets.pieces import Piece
from pipeline.corpus.snippets.redact import redact
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.lake.rows import CodeSampleRow

_PROMPT = re.compile(r"^\s*>>>", re.MULTILINE)
_IPYTHON = re.compile(r"^\s*In \[\d*\]:", re.MULTILINE)
_INPUT = re.compile(r"\s*(?:In \[\d*\]|\.{3,}):(?: |$)(?![%!])(.*)")

_LOOK_BACK = 50
"""Programs before a block that are looked through: further up a long page, a name stands for something else."""


@dataclass(frozen=True, slots=True)
class Block:
    """The programs of a block, how much was redacted, and the rule that could not take all of its kind out."""

    pieces: tuple[Piece, ...]
    redacted: int
    unredacted: str | None


class Blocks:
    """The blocks of Python of a library, by the post or page on which they stand."""

    def __init__(self, rows: Iterable[CodeSampleRow], rules: SnippetRules) -> None:
        self._rules = rules
        self._read: dict[str, Block] = {}
        self._placeholders: dict[str, Placeholders] = defaultdict(dict)
        self._places: dict[tuple[str, str], list[CodeSampleRow]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: (row["line"], row["id"])):
            self._places[row["place"], row["version"]].append(row)

    def read(self, row: CodeSampleRow) -> Block:
        """Return the programs of a block. Secrets go first, since what is behind prompts stands in outputs too."""
        if row["id"] not in self._read:
            text = with_plain_line_ends(row["text"])
            prompted = _PROMPT.search(text) or _IPYTHON.search(text)
            placeholders = self._placeholders[row["place"]]
            cleaned = redact(text, self._rules.samples.redactions, is_python=not prompted, placeholders=placeholders)
            pieces = pieces_of_block(cleaned.text, style_of(row), self._rules.samples.max_lines)
            self._read[row["id"]] = Block(tuple(pieces), cleaned.count, cleaned.unredacted)
        return self._read[row["id"]]

    def before(self, row: CodeSampleRow, piece: Piece, defined: Collection[str]) -> str:
        """Return the programs before a piece, on the same post or page, that bind names which it needs, in turn.

        Names that are `defined` anyway are not looked for. Of too many programs those nearest by are taken.
        """
        needed = set(free_names(piece.code)) - set(defined)
        chosen: list[str] = []
        for code in itertools.islice(self._earlier(row, piece), _LOOK_BACK if needed else 0):
            longer = sum(program.count("\n") for program in [*chosen, code]) > self._rules.samples.max_preamble_lines
            if bound_names(code) & needed and not longer:
                chosen.append(code)
                needed = (needed - bound_names(code)) | (set(free_names(code)) - set(defined))
        return "".join(reversed(chosen))

    def _earlier(self, row: CodeSampleRow, piece: Piece) -> Iterator[str]:
        """Yield the programs before a piece, the nearest first."""
        where = row["line"] + piece.line
        for other in reversed(self._places[row["place"], row["version"]]):
            if other["line"] <= row["line"]:
                block = self.read(other)
                pieces = () if block.unredacted else reversed(block.pieces)
                yield from (p.code for p in pieces if other["line"] + p.line < where)


def style_of(row: CodeSampleRow) -> SnippetStyle:
    """Return how the code of a post or page is called where it has no prompts."""
    return SnippetSource(row["source"]).source.style or SnippetStyle.POST


def with_plain_line_ends(text: str) -> str:
    """Return a text in which lines end as Python ends them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def pieces_of_block(text: str, style: SnippetStyle, split_over: int) -> list[Piece]:
    """Return the programs of a block of Python: what stands behind its prompts, or else all of it.

    Outputs of IPython are left out, since they are not what Python would print.
    """
    if _PROMPT.search(text):
        return [
            Piece(example.style, "", example.code, example.line, example.checks)
            for example in extract(text, split_over)
        ]
    if first := _IPYTHON.search(text):
        inputs = (_INPUT.fullmatch(line) for line in text.split("\n"))
        code = "".join(f"{line[1]}\n" for line in inputs if line)
        return [Piece(style, "", code, text.count("\n", 0, first.end()))]
    return [Piece(style, "", text if text.endswith("\n") else f"{text}\n", 0)]
