"""Which pieces of a docstring make one program: those that need names of each other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import SnippetStyle
from pipeline.corpus.snippets.names import bound_names, free_names, parse
from pipeline.lake.rows import SnippetCheck


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a docstring.

    `code` is the program without prompts and outputs; `checks` its statements with the outputs that the docstring
    states, none for a plain block of code; `line` the first line of the example, from 0 at the docstring's first.
    """

    style: SnippetStyle
    code: str
    checks: tuple[SnippetCheck, ...]
    line: int


def append(first: Example, other: Example) -> Example:
    """Return two pieces as one program; outputs are kept only if they cover all of it."""
    checked = all(piece.checks or not piece.code for piece in (first, other))
    return Example(
        other.style if first.style is SnippetStyle.DOCTEST else first.style,
        first.code + ("" if checked or not first.code else "\n") + other.code,
        first.checks + other.checks if checked else (),
        min(first.line, other.line),
    )


def join_dependent(pieces: Sequence[Example]) -> list[Example]:
    """Join each piece with the latest earlier one that binds a name it needs; order is kept."""
    programs: list[Example] = []
    for piece in pieces:
        needed = set(free_names(piece.code))
        for position in range(len(programs) - 1, -1, -1):
            if needed & bound_names(programs[position].code):
                programs[position] = append(programs[position], piece)
                break
        else:
            programs.append(piece)
    return programs


def split_independent(pieces: Sequence[Example]) -> list[Example]:
    """Make programs of the pieces of a long section, as many as their names allow.

    Imports are needed by everyone and repeated in each program that uses them; other names tie pieces together.
    """
    shared: list[SnippetCheck] = []
    own: list[Example] = []
    for piece in pieces:
        used = [row for row in shared if bound_names(row["statement"]) & set(free_names(piece.code))]
        own.append(_with_statements(used, piece))
        shared += [check for check in piece.checks if _only_imports(check["statement"])]
    programs = join_dependent(own)
    return [program for program in programs if not _only_imports(program.code)] or programs


def _with_statements(checks: Sequence[SnippetCheck], piece: Example) -> Example:
    code = "".join(check["statement"] for check in checks)
    return Example(piece.style, code + piece.code, (*checks, *piece.checks), piece.line)


def _only_imports(code: str) -> bool:
    statements = parse(code)
    return bool(statements) and all(isinstance(s, ast.Import | ast.ImportFrom) for s in statements or ())
