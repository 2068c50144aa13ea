"""What a program of a change prints that other code hardly would: not what it is given, and not what others give."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence

from more_itertools import first

from pipeline.core.vocabularies.changes import WHOLE
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.own_tests.changed_uses import ChangeSide, UsingProgram
from pipeline.corpus.own_tests.scripts import Line, line_of
from pipeline.corpus.usages.api import Api
from pipeline.lake.rows import SymbolParameter

EMPTY = frozenset({"", "[]", "()", "{}", "set()", "None", "((),)", "[[]]"})
"""Outputs that a program may have for many reasons."""

LONGEST_OUTPUT = 120
"""Characters of an output that a comment may hold."""

_BEFORE_NEIGHBOURS = """
import signal
def _end(*_): raise TimeoutError
signal.signal(signal.SIGALRM, _end)
"""
_NEIGHBOUR = """
try:
    signal.setitimer(signal.ITIMER_REAL, {seconds})
    {imports}
    {printing}
except BaseException:
    pass
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
"""


def is_distinctive(side: ChangeSide, program: UsingProgram, printed: Sequence[str]) -> bool:
    """Say whether what a program prints at home is worth a row.

    A written one prints a short value, no type. None prints only what it is given where the API itself is to be named.
    """
    text = "".join(printed).strip()
    is_call = program.core.form is UsageForm.CALL
    is_written = program.test is None
    if is_written and (len(text) > LONGEST_OUTPUT or text.startswith("typing.") or (is_call and text in EMPTY)):
        return False
    if not is_call or not (is_written or side.change["kind"] in WHOLE):
        return True
    return not {each.strip() for each in printed if each} <= _inputs(program)


def _inputs(program: UsingProgram) -> set[str]:
    """Return the texts of what the use is given: the literals of its line, and of variables that this line needs."""
    place = first(number for number, uses in enumerate(program.uses) if program.core in uses)
    line = program.lines[place]
    variables = [
        other.node.value
        for other in program.lines[:place]
        if isinstance(other.node, ast.Assign) and other.binds & line.needs
    ]
    texts: set[str] = set()
    for node in (*ast.walk(line.node), *variables):
        if isinstance(node, ast.expr):
            try:
                texts.add(str(ast.literal_eval(node)).strip())
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
    return texts


def neighbours(side: ChangeSide, program: UsingProgram, api: Api, most: int) -> list[str]:
    """Return the names of the functions beside the one that a written program calls, those of like signature first.

    There are none where the program is of a test, about a parameter, or calls nothing by the name of the API.
    """
    row = api.symbols.get(api.preferred(side.path))
    owner, _, name = side.path.rpartition(".")
    if row is None or program.test or side.keyword or _call_of(program.lines[-1].node, name) is None:
        return []
    required = _required(row["parameters"])
    others = {
        path.rpartition(".")[2]: each
        for path, each in ((path, api.symbols[api.preferred(path)]) for path in api.symbols)
        if path.rpartition(".")[0] == owner
        and each["kind"] == row["kind"]
        and each["canonical_path"] != row["canonical_path"]
        and not path.rpartition(".")[2].startswith("_")
    }
    return sorted(others, key=lambda each: (_required(others[each]["parameters"]) != required, each))[:most]


def _required(parameters: Iterable[SymbolParameter]) -> int:
    return sum(each["default"] is None for each in parameters)


def with_neighbours(side: ChangeSide, program: UsingProgram, names: Sequence[str], seconds: float) -> tuple[Line, ...]:
    """Return a written program that prints, in a line for each, what its neighbours give in place of the API.

    One that fails, or takes longer than so many seconds, prints nothing.
    """
    owner, _, name = side.path.rpartition(".")
    statements = ast.parse(_BEFORE_NEIGHBOURS).body
    for other in names:
        printing = copy.deepcopy(program.lines[-1].node)
        call = _call_of(printing, name)
        assert call is not None
        imports = ""
        if isinstance(call.func, ast.Attribute):
            call.func.attr = other
        else:
            call.func = ast.Name(other, ast.Load())
            imports = f"from {owner} import {other}"
        text = _NEIGHBOUR.format(seconds=seconds, imports=imports, printing=ast.unparse(printing))
        statements += ast.parse(text).body
    return (*program.lines[:-1], *map(line_of, statements))


def _call_of(printing: ast.stmt, name: str) -> ast.Call | None:
    for node in ast.walk(printing):
        if isinstance(node, ast.Call) and _called(node) == name:
            return node
    return None


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def plain_code(code: str | None, path: str | None, api: Api | None) -> str:
    """Return a program without what does not change its meaning: prefixes of texts, arguments that are defaults.

    Two programs of one change with the same plain code show the same.
    """
    tree = ast.parse(code or "")
    row = api.symbols.get(api.preferred(path or "")) if api else None
    defaults = {each["name"]: each["default"] for each in row["parameters"]} if row else {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        if isinstance(node, ast.Call) and (path or "").rpartition(".")[2] == _called(node):
            node.keywords = [each for each in node.keywords if ast.unparse(each.value) != defaults.get(each.arg or "")]
    return ast.unparse(tree)
