"""Why a piece of found code is not looked at any closer: its licence, size, kind and language."""

from __future__ import annotations

import ast
from collections.abc import Collection

from pipeline.crawl import is_allowed
from pipeline.lake import Row
from pipeline.snippets.found_rules import FoundRules, Scope
from pipeline.snippets.names import parse, syntax_error
from pipeline.snippets.pieces import parse_file
from pipeline.snippets.rules import SnippetRules
from pipeline.surface.python2 import modernise
from pipeline.terms import RejectReason

Refusal = tuple[RejectReason, str]

_NAMES_AUTHORS = "CC-BY"


def refusal_of(found: Row, licences: Collection[str], rules: FoundRules) -> Refusal | None:
    """Return why a row of `found` is refused unread, if it is; `licences` are the SPDX identifiers that are allowed."""
    if problem := _licence_problem(found, licences, rules):
        return RejectReason.LICENCE, problem
    size = len(found["text"].encode("utf-8", "backslashreplace"))
    if size > rules.max_bytes:
        return RejectReason.TOO_LARGE, f"{size} bytes, {rules.max_bytes} are allowed"
    problem = _scope_problem(found, rules.out_of_scope)
    return (RejectReason.OUT_OF_SCOPE, problem) if problem else None


def _licence_problem(found: Row, licences: Collection[str], rules: FoundRules) -> str | None:
    licence: str | None = found["licence"]
    if licence is None:
        return "no licence that can be read" if found["source"] in rules.licence_required else None
    if not is_allowed(licence, licences):
        return f"{licence} is not on the list"
    return f"{licence} asks to name the author, who is not known" if _unnamed(licence, found) else None


def _unnamed(licence: str, found: Row) -> bool:
    return licence.startswith(_NAMES_AUTHORS) and not found["attribution"]


def _scope_problem(found: Row, scope: Scope) -> str | None:
    """Return what says that a file is a test, vendored or generated; blocks of posts and pages have no such place."""
    text, path = found["text"], f"/{found['file']}"
    for words in scope.paths if found["file"] else ():
        if seen := words.pattern.search(path):
            return f"{seen[0]!r} in its path"
    head = "\n".join(text.split("\n", scope.head_lines)[: scope.head_lines])
    for words in scope.texts:
        if seen := words.pattern.search(head):
            return f"{seen[0]!r} in its first lines"
    longest = max(map(len, text.split("\n")))
    return f"a line of {longest} characters" if longest > scope.max_line_characters else None


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


def size_problem(code: str, rules: FoundRules) -> Refusal | None:
    """Return why a piece is too long, if it is."""
    lines = code.count("\n")
    if lines > rules.max_lines or len(code) > rules.max_characters:
        return RejectReason.TOO_LONG, f"{lines} lines, {len(code)} characters"
    return None


def is_python2(text: str) -> bool:
    """Say whether a text that is no Python 3 is Python 2."""
    try:
        parse_file(modernise(text))
    except (SyntaxError, UnicodeError):
        return False
    return True
