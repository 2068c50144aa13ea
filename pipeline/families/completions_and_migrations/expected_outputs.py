"""The expected outputs of an example, assigned to the statements of another program: of an answer, or of a mutant.

Unchanged statements must display their own outputs. New statements together must display the outputs of the statements
that they replace.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from pipeline.corpus.usages.text import parse_program
from pipeline.execution.validation.cases import Case

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import SnippetCheck

TRACEBACK = "Traceback (most recent call last)"
"""How an output begins that states an exception."""
_ANYTHING = "..."


class Example(TypedDict):
    """A program with its statements and what they display: a snippet, or what a codemod made of one."""

    id: str
    preamble: str
    code: str
    checks: Sequence[SnippetCheck]


@dataclass(frozen=True, slots=True)
class _Unit:
    """Statements of the reference that display one output, and its expected text."""

    statements: int
    expected: str | None
    options: tuple[str, ...]


def displaying(example: Example, reference: str, program: str) -> Case:
    """Return the case of a program: its statements with their expected outputs, or the whole, which has to run."""
    checks = expected_outputs(example["preamble"], example["checks"], reference, program)
    return Case("", "", program, checks or ())


def expected_outputs(
    preamble: str, checks: Sequence[SnippetCheck], reference: str, program: str
) -> list[SnippetCheck] | None:
    """Return the `checks` of a program that replaces a reference, which is `preamble` and the statements of its checks.

    A program that only another Python may parse counts as one statement that displays all outputs. None where no
    output is expected, or statements of the reference cannot be matched with outputs: then the program only has to run.
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
        return [*_unit_checks(units, now.body, lines)]
    first, last = _common(units, was.body, now.body)
    before, middle, after = units[:first], units[first:last], units[last:]
    start, end = (sum(unit.statements for unit in some) for some in (before, after))
    stop = len(now.body) - end
    return [
        *_unit_checks(before, now.body[:start], lines),
        *_together(middle, now.body[start:stop]),
        *_unit_checks(after, now.body[stop:], lines),
    ]


def _units(preamble: str, checks: Sequence[SnippetCheck]) -> list[_Unit] | None:
    preamble_tree = parse_program(preamble)
    parsed = [parse_program(check["statement"]) for check in checks]
    if preamble_tree is None or None in parsed:
        return None
    units = [_Unit(1, None, ()) for _ in preamble_tree.body]
    for check, tree in zip(checks, parsed, strict=True):
        units.append(_Unit(len(tree.body) if tree else 0, check["expected"], tuple(check["options"])))
    return units


def _unit_checks(units: Sequence[_Unit], body: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[SnippetCheck]:
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
    """Return the number of unchanged units at the beginning, and the index of the first unchanged one of the end."""
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
    """Check the joint output of statements: as one block they display the outputs of all."""
    if not units and not body:
        return
    whole = ast.If(test=ast.Constant(value=True), body=list(body) or [ast.Pass()], orelse=[])
    yield _whole(units, ast.unparse(whole))


def _whole(units: Sequence[_Unit], statement: str) -> SnippetCheck:
    options = sorted({option for unit in units for option in unit.options} - {"SKIP"} | {"ELLIPSIS"})
    return {"statement": f"{statement}\n", "expected": _joined(units), "options": options}


def _joined(units: Sequence[_Unit]) -> str | None:
    """Return the concatenated outputs; an exception alone, since nothing is displayed beside it."""
    outputs = [unit.expected for unit in units]
    if all(text is None for text in outputs):
        return None
    raised = next((text for text in outputs if text and text.lstrip().startswith(TRACEBACK)), None)
    return raised or "".join(_ANYTHING if text is None else text for text in outputs)
