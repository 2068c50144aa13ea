"""Other inputs made of those that an example states, so that more can be tested than it states."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.terms import InputChange

_NUMBER = r"[0-9]{1,15}"
_NUMBERS = {
    InputChange.INCREASED: re.compile(rf"{_NUMBER}(?=[^0-9]*$)"),
    InputChange.FIRST_INCREASED: re.compile(rf"(?<![0-9]){_NUMBER}(?![0-9])"),
}


def other_inputs(arguments: Sequence[str], changes: Sequence[InputChange]) -> Iterator[tuple[str, ...]]:
    """Yield arguments in which one is changed, as source, each once; the changes go round the arguments in turn."""
    seen = {tuple(arguments)}
    for change in changes:
        for number, argument in enumerate(arguments):
            changed = changed_argument(argument, change)
            if changed is None:
                continue
            made = (*arguments[:number], changed, *arguments[number + 1 :])
            if made not in seen:
                seen.add(made)
                yield made


def changed_argument(argument: str, change: InputChange) -> str | None:
    """Return an argument changed, as source, or None where the change means nothing for it.

    Of a call, the first argument that is a literal and can be changed so is changed: `range(3)` becomes `range(4)`.
    """
    if change is InputChange.MISSING:
        return None if argument == "None" else "None"
    node = ast.parse(argument, mode="eval").body
    try:
        made = _changed(ast.literal_eval(node), change)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _changed_call(node, change)
    return None if made is None else repr(made)


def _changed_call(node: ast.expr, change: InputChange) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    for number, argument in enumerate(node.args):
        if not isinstance(argument, ast.Starred) and (made := changed_argument(ast.unparse(argument), change)):
            node.args[number] = ast.parse(made, mode="eval").body
            return ast.unparse(node)
    for keyword in node.keywords:
        if made := changed_argument(ast.unparse(keyword.value), change):
            keyword.value = ast.parse(made, mode="eval").body
            return ast.unparse(node)
    return None


def _changed(value: Any, change: InputChange) -> Any:
    if isinstance(value, bool):
        return not value if change is InputChange.FLIPPED else None
    if isinstance(value, int | float):
        return _number(value, change)
    if isinstance(value, str) and change in _NUMBERS:
        made, found = _NUMBERS[change].subn(lambda number: str(int(number[0]) + 1), value, count=1)
        return made if found else None
    if isinstance(value, str | bytes | list | tuple):
        return _sequence(value, change)
    return {} if isinstance(value, dict) and value and change is InputChange.EMPTIED else None


def _number(value: float, change: InputChange) -> float | None:
    made = {InputChange.INCREASED: value + 1, InputChange.DOUBLED: value * 2, InputChange.NEGATED: -value}
    if change is InputChange.ZEROED and value:
        return type(value)()
    return made.get(change)


def _sequence(value: Any, change: InputChange) -> Any:
    if not value:
        return None
    made = {
        InputChange.REVERSED: value[::-1] if isinstance(value, list | tuple) else None,
        InputChange.SHORTENED: value[:-1],
        InputChange.CUT_IN_FRONT: value[1:],
        InputChange.REPEATED: value * 2,
        InputChange.EMPTIED: value[:0],
    }
    return made.get(change)
