"""Why a piece of found code is not looked at any closer: its licence, size, kind and language."""

from __future__ import annotations

import ast
from collections.abc import Collection

from pipeline.api.surface.parse.python2 import modernise
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.code_sample_rules import CodeSampleRules
from pipeline.corpus.snippets.names import parse, syntax_error
from pipeline.corpus.snippets.pieces import parse_file
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.index.licences import is_allowed
from pipeline.lake.rows import CodeSampleRow

Refusal = tuple[RejectReason, str]

FILES = frozenset(source for source in SnippetSource if source.source.files)
"""The sources whose rows are whole files; of the others they are blocks of posts and pages."""

_NAMES_AUTHORS = "CC-BY"


def refusal_of(
    sample: CodeSampleRow, licences: Collection[str], files: PythonFileRules, rules: CodeSampleRules
) -> Refusal | None:
    """Return why a row of `code_samples` is refused unread, if it is; `licences` are the allowed SPDX identifiers.

    What was fetched before a curator changed the rules of files is refused here.
    """
    if problem := _licence_problem(sample, licences, rules):
        return RejectReason.LICENCE, problem
    size = len(sample["text"].encode("utf-8", "backslashreplace"))
    if size > files.max_file_bytes:
        return RejectReason.TOO_LARGE, f"{size} bytes, the limit is {files.max_file_bytes}"
    longest = max(map(len, sample["text"].split("\n")))
    if longest > rules.max_line_characters:
        return RejectReason.OUT_OF_SCOPE, f"a line of {longest} characters: generated data"
    why = files.out_of_scope(sample["file"], sample["text"]) if sample["source"] in FILES else None
    return (RejectReason.OUT_OF_SCOPE, why) if why else None


def _licence_problem(sample: CodeSampleRow, licences: Collection[str], rules: CodeSampleRules) -> str | None:
    licence: str | None = sample["licence"]
    if licence is None:
        return "no licence that can be read" if sample["source"] in rules.licence_required else None
    if not is_allowed(licence, licences):
        return f"{licence} is not on the list"
    return f"{licence} asks to name the author, who is not known" if _unnamed(licence, sample) else None


def _unnamed(licence: str, sample: CodeSampleRow) -> bool:
    return licence.startswith(_NAMES_AUTHORS) and not sample["attribution"]


def read_python(text: str) -> ast.Module | Refusal:
    """Parse a Python file, or return why it is none of today's: written in Python 2, or in no Python known here."""
    try:
        return parse_file(text)
    except SyntaxError as error:
        problem = f"line {error.lineno or 1}: {error.msg}"
    if is_python2(text):
        return RejectReason.PYTHON_2, problem
    return RejectReason.UNPARSED_SOURCE, problem


def block_problem(code: str, rules: SnippetRules) -> Refusal | None:
    """Return why a block of Python cannot be a program, if it cannot."""
    if problem := syntax_error(code):
        return (RejectReason.PYTHON_2 if is_python2(code) else RejectReason.BROKEN_EXAMPLE), problem
    working = [s for s in parse(code) or () if not isinstance(s, ast.Import | ast.ImportFrom)]
    if len(working) < rules.min_statements:
        return RejectReason.TOO_SHORT, f"{len(working)} statements beside imports"
    return None


def size_problem(code: str, rules: CodeSampleRules) -> Refusal | None:
    """Return why a piece is too long, if it is."""
    lines = code.count("\n")
    if lines > rules.max_lines or len(code) > rules.max_characters:
        return RejectReason.TOO_LONG, f"{lines} lines, {len(code)} characters"
    return None


def is_python2(text: str) -> bool:
    """Say whether a text is Python 2, and no Python 3."""
    return not _parses(text) and _parses(modernise(text))


def _parses(text: str) -> bool:
    try:
        parse_file(text)
    except (SyntaxError, UnicodeError):
        return False
    return True
