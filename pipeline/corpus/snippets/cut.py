"""Cutting a file into parts: its functions, methods, class bodies and runs of statements, by their lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import SnippetStyle

Lines = tuple[int, int]
"""First and last line, from 1."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a file that belong together.

    `heads` are the heads of the classes around them, outermost first, and `initialiser` the `__init__` of the
    innermost, where those are not among the lines themselves.
    """

    style: SnippetStyle
    lines: Lines
    heads: tuple[Lines, ...] = ()
    initialiser: Lines | None = None


def parts_of(body: Sequence[ast.stmt], max_run_lines: int) -> Iterator[Part]:
    """Yield the parts of a module, in order; docstrings and imports are no parts.

    Statements that follow each other are one part as long as they have no more than `max_run_lines` lines together.
    """
    for group in _groups(body, max_run_lines):
        first = group[0]
        if isinstance(first, Definition):
            yield Part(SnippetStyle.FUNCTION, lines_of(group))
        elif isinstance(first, ast.ClassDef):
            yield from _parts_of_class(first, (), max_run_lines)
        elif not isinstance(first, ast.Import | ast.ImportFrom) and not _only_text(group):
            yield Part(SnippetStyle.STATEMENTS, lines_of(group))


def lines_of(statements: Sequence[ast.stmt]) -> Lines:
    """Return the lines of statements that follow each other, decorators included."""
    return _first_line(statements[0]), statements[-1].end_lineno or statements[-1].lineno


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _groups(body: Sequence[ast.stmt], max_lines: int) -> Iterator[list[ast.stmt]]:
    """Yield each definition and import alone, and the other statements in runs of bounded length."""
    run: list[ast.stmt] = []
    for statement in body:
        alone = isinstance(statement, Definition | ast.ClassDef | ast.Import | ast.ImportFrom)
        if run and (alone or not _joins(run, statement, max_lines)):
            yield run
            run = []
        if alone:
            yield [statement]
        else:
            run.append(statement)
    if run:
        yield run


def _joins(run: Sequence[ast.stmt], statement: ast.stmt, max_lines: int) -> bool:
    """Say whether a statement goes on a run; two on one line cannot be parted."""
    first, last = lines_of([run[0], statement])
    return last - first < max_lines or statement.lineno == run[-1].end_lineno


def _parts_of_class(node: ast.ClassDef, outer: tuple[Lines, ...], max_run_lines: int) -> Iterator[Part]:
    """Yield the parts of a class: the first one begins with its head, the others have it around them."""
    whole = lines_of([node])
    head = whole[0], _first_line(node.body[0]) - 1
    if _first_line(node.body[0]) <= node.lineno:
        yield Part(SnippetStyle.CLASS_BODY, whole, outer)
        return
    initialiser = next((lines_of([n]) for n in node.body if isinstance(n, Definition) and n.name == "__init__"), None)
    for number, group in enumerate(_groups(node.body, max_run_lines)):
        lines = lines_of(group)
        style = SnippetStyle.METHOD if isinstance(group[0], Definition) else SnippetStyle.CLASS_BODY
        if isinstance(group[0], ast.ClassDef):
            yield from _parts_of_class(group[0], (*outer, head), max_run_lines)
        elif number == 0:
            yield Part(style, (head[0], lines[1]), outer)
        elif not _only_text(group):
            yield Part(style, lines, (*outer, head), initialiser if initialiser != lines else None)


def _only_text(statements: Sequence[ast.stmt]) -> bool:
    """Say whether statements are docstrings and the like, which do nothing."""
    values = (s.value if isinstance(s, ast.Expr) else s for s in statements)
    return all(isinstance(value, ast.Constant | ast.Pass) for value in values)
