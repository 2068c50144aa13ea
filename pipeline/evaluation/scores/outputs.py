"""The outputs that an example states, asked of a program that a model wrote in its place.

A prediction is judged by what its statements display, as the example itself was: what stands as it stood must display
what it did, and what was written anew must display together what the statements displayed that it replaces.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.evaluation.scores.fragments import parse_program
from pipeline.lake.rows import SnippetCheck

_TRACEBACK = "Traceback (most recent call last)"
_ANYTHING = "..."


@dataclass(frozen=True, slots=True)
class _Unit:
    """Statements of the reference that display one output, and what is stated of it."""

    statements: int
    expected: str | None
    options: tuple[str, ...]


def stated_outputs(
    preamble: str, checks: Sequence[SnippetCheck], reference: str, program: str
) -> list[SnippetCheck] | None:
    """Return the `checks` of a program that stands in the place of a reference, which is `preamble` and what they say.

    A program that cannot be read here, but perhaps by its own Python, is one statement that displays it all.
    None where nothing is stated, or where statements and outputs of the reference cannot be told apart: then the
    program only has to run.
    """
    was = parse_program(reference)
    units = _units(preamble, checks)
    if not checks or was is None or units is None or sum(unit.statements for unit in units) != len(was.body):
        return None
    now = parse_program(program)
    try:
        return _aligned(units, was, now, program) if now is not None else [_whole(units, program)]
    except RecursionError:
        return [_whole(units, program)]


def _aligned(units: Sequence[_Unit], was: ast.Module, now: ast.Module, program: str) -> list[SnippetCheck]:
    lines = program.split("\n")
    if len(now.body) == len(was.body):
        return [*_one_to_one(units, now.body, lines)]
    first, last = _common(units, was.body, now.body)
    before, middle, after = units[:first], units[first:last], units[last:]
    start, end = (sum(unit.statements for unit in some) for some in (before, after))
    stop = len(now.body) - end
    return [
        *_one_to_one(before, now.body[:start], lines),
        *_together(middle, now.body[start:stop]),
        *_one_to_one(after, now.body[stop:], lines),
    ]


def _units(preamble: str, checks: Sequence[SnippetCheck]) -> list[_Unit] | None:
    given = parse_program(preamble)
    parsed = [parse_program(check["statement"]) for check in checks]
    if given is None or None in parsed:
        return None
    units = [_Unit(1, None, ()) for _ in given.body]
    for check, tree in zip(checks, parsed, strict=True):
        units.append(_Unit(len(tree.body) if tree else 0, check["expected"], tuple(check["options"])))
    return units


def _one_to_one(units: Sequence[_Unit], body: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[SnippetCheck]:
    at = 0
    for unit in units:
        statements = body[at : at + unit.statements]
        at += unit.statements
        if statements:
            text = "\n".join(lines[_first_line(statements[0]) - 1 : statements[-1].end_lineno]) + "\n"
            yield {"statement": text, "expected": unit.expected, "options": list(unit.options)}


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _common(units: Sequence[_Unit], was: Sequence[ast.stmt], now: Sequence[ast.stmt]) -> tuple[int, int]:
    """Return how many units at the beginning, and from which on to the end, stand as they stood."""
    old, new = [ast.dump(statement) for statement in was], [ast.dump(statement) for statement in now]
    first = start = 0
    while first < len(units) and old[start : (stop := start + units[first].statements)] == new[start:stop]:
        first, start = first + 1, stop
    last, end = len(units), 0
    while last > first:
        more = end + units[last - 1].statements
        if more > len(new) - start or old[len(old) - more : len(old) - end] != new[len(new) - more : len(new) - end]:
            break
        last, end = last - 1, more
    return first, last


def _together(units: Sequence[_Unit], body: Sequence[ast.stmt]) -> Iterator[SnippetCheck]:
    """Ask of statements together what is stated of others; a block of one statement displays what each of them does."""
    if not units and not body:
        return
    whole = ast.If(test=ast.Constant(value=True), body=list(body) or [ast.Pass()], orelse=[])
    yield _whole(units, ast.unparse(whole))


def _whole(units: Sequence[_Unit], statement: str) -> SnippetCheck:
    options = sorted({option for unit in units for option in unit.options} - {"SKIP"} | {"ELLIPSIS"})
    return {"statement": f"{statement}\n", "expected": _joined(units), "options": options}


def _joined(units: Sequence[_Unit]) -> str | None:
    """Return the outputs one after the other; an exception alone, since nothing is displayed beside it."""
    stated = [unit.expected for unit in units]
    if all(text is None for text in stated):
        return None
    raised = next((text for text in stated if text and text.lstrip().startswith(_TRACEBACK)), None)
    return raised or "".join(_ANYTHING if text is None else text for text in stated)
