"""Programs whose changed call takes variables: its values stand above it, so that the call can be asked for as a line.

A line with a value in it that stands nowhere else is nobody's to know.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from keyword import iskeyword

from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.corpus.witnesses.changed_uses import UsingProgram
from pipeline.corpus.witnesses.reduced import Part, ProvenProgram, still_showing
from pipeline.corpus.witnesses.script_runs import ScriptRuns
from pipeline.corpus.witnesses.scripts import line_of
from pipeline.lake.rows import SymbolParameter

_IMPORT = ast.Import | ast.ImportFrom
_STATEMENT = ast.Expr | ast.Assign | ast.AnnAssign
_SCOPE = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_BUILTINS = frozenset(dir(builtins))
_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def lift_values(
    proven: Sequence[ProvenProgram],
    signatures: Sequence[Sequence[SymbolParameter] | None],
    least: int,
    runs: ScriptRuns,
) -> list[ProvenProgram | None]:
    """Return the programs with the values of the changed call as variables above it; None where that is not to be had.

    The call must give at least so many arguments, and stand in a statement of its own. `signatures` are the parameters
    of what is called, None where nothing is to be lifted. Run again, a program must show the same.
    """
    parts = [
        _lifted(each, signature, least) if signature is not None else None
        for each, signature in zip(proven, signatures, strict=True)
    ]
    return still_showing(proven, parts, runs)


def _lifted(each: ProvenProgram, signature: Sequence[SymbolParameter], least: int) -> Part | None:
    program, name = each.program, each.program.core.path.rpartition(".")[2]
    place = _place_of_call(each, name)
    if place is None:
        return None
    line = program.lines[place]
    node = copy.deepcopy(line.node)
    call = _call_in(node, name)
    if call is None or len(call.args) + len(call.keywords) < least:
        return None
    values = _name_arguments(call, signature, _names_of(program))
    if not values:
        return None
    # By the alphabet: the order in which the call takes them is to be known.
    above = [line_of(ast.Assign([ast.Name(name, ast.Store())], values[name], lineno=1)) for name in sorted(values)]
    call_line = line_of(node, line.expectation, line.compares)
    lines = (*program.lines[:place], *above, call_line, *program.lines[place + 1 :])
    uses = (*program.uses[:place], *(() for _ in above), *program.uses[place:])
    printed = [*each.printed[:place], *("" for _ in above), *each.printed[place:]]
    failing = each.place + (len(above) if each.place >= place else 0)
    return Part(replace(program, lines=lines, uses=uses), printed, failing)


def _place_of_call(each: ProvenProgram, name: str) -> int | None:
    """Return the place of the line that fails, or, where an import of the name fails, of the one line that uses it."""
    lines = each.program.lines
    if not isinstance(lines[each.place].node, _IMPORT):
        return each.place
    places = [place for place, line in enumerate(lines) if not isinstance(line.node, _IMPORT) and name in line.needs]
    return places[0] if len(places) == 1 else None


def _call_in(statement: ast.stmt, name: str) -> ast.Call | None:
    """Return the one call of a name in a statement; None where it is in a scope of its own, or spreads a value."""
    if not isinstance(statement, _STATEMENT):
        return None
    named = [node for node in ast.walk(statement) if name in (getattr(node, "attr", None), getattr(node, "id", None))]
    calls = [node for node in _outside_of_scopes(statement) if isinstance(node, ast.Call) and node.func in named]
    if len(named) != 1 or len(calls) != 1:
        return None
    spreads = any(isinstance(each, ast.Starred) for each in calls[0].args) or any(
        each.arg is None for each in calls[0].keywords
    )
    return None if spreads else calls[0]


def _outside_of_scopes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPE):
            yield from _outside_of_scopes(child)


def _name_arguments(
    call: ast.Call, signature: Sequence[SymbolParameter], used_names: Collection[str]
) -> dict[str, ast.expr]:
    """Put variables into a call, each named as its parameter, and return their values; none where a name is used."""
    values: dict[str, ast.expr] = {}
    for place, (value, name) in enumerate(zip(call.args, _names_by_position(signature), strict=False)):
        if _is_value(value):
            values[name] = value
            call.args[place] = ast.Name(name, ast.Load())
    for keyword in call.keywords:
        if keyword.arg is not None and _is_value(keyword.value):
            values[keyword.arg] = keyword.value
            keyword.value = ast.Name(keyword.arg, ast.Load())
    return {} if not set(values).isdisjoint(used_names) or any(map(iskeyword, values)) else values


def _is_value(argument: ast.expr) -> bool:
    """Say whether an argument is no variable: `int` is somebody's choice as `3` is."""
    return not isinstance(argument, ast.Name) or argument.id in _BUILTINS


def _names_by_position(signature: Sequence[SymbolParameter]) -> Iterator[str]:
    for parameter in signature:
        if parameter["kind"] in _BY_POSITION:
            yield parameter["name"]
        elif parameter["kind"] == ParameterKind.VAR_POSITIONAL:
            yield from (f"{parameter['name']}_{number}" for number in count(1))


def _names_of(program: UsingProgram) -> set[str]:
    """Return the names that a variable may not have: those of the program, and Python's own."""
    names = {name for line in program.lines for name in (*line.binds, *line.needs)}
    return names | _BUILTINS | {program.core.path.rpartition(".")[2]}
