"""Other inputs made of those that an example states, so that more can be tested than it states."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.problems import InputChange

_NUMBER = r"[0-9]{1,15}"
_NUMBERS = {
    InputChange.INCREASED: re.compile(rf"{_NUMBER}(?=[^0-9]*$)"),
    InputChange.FIRST_INCREASED: re.compile(rf"(?<![0-9]){_NUMBER}(?![0-9])"),
}


_EXCHANGED = 4
"""Further stated inputs whose values are put into the first one."""


def further_inputs(
    documented: Sequence[tuple[str, ...]], changes: Sequence[InputChange], limit: int
) -> list[tuple[str, ...]]:
    """Return at most `limit` inputs, as source, that differ from a stated one in one argument; arguments take turns.

    An argument is changed, or that of another stated input.
    """
    turns = zip_longest(*(_varied(documented, number, changes) for number in range(len(documented[0]))))
    further = dict.fromkeys(arguments for turn in turns for arguments in turn if arguments is not None)
    return [arguments for arguments in further if arguments not in set(documented)][:limit]


def paired_inputs(
    documented: Sequence[tuple[str, ...]], numbers: Sequence[int], changes: Sequence[InputChange], limit: int
) -> list[tuple[str, ...]]:
    """Return at most `limit` inputs in pairs that differ in one of some arguments alone, and from what is stated.

    Both of a pair have another argument changed. So a hidden pair shows what a flag does, of which the stated input is
    one half.
    """
    turns = zip_longest(*(_pairs(documented, number, changes) for number in numbers))
    pairs = dict.fromkeys(pair for turn in turns for pair in turn if pair is not None)
    paired = dict.fromkeys(arguments for pair in pairs for arguments in pair)
    return [arguments for arguments in paired if arguments not in set(documented)][:limit]


def _pairs(
    documented: Sequence[tuple[str, ...]], number: int, changes: Sequence[InputChange]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    others = [other for other in range(len(documented[0])) if other != number]
    turns = zip_longest(*(_varied(documented, other, changes) for other in others))
    for arguments in (arguments for turn in turns for arguments in turn if arguments is not None):
        for changed in _varied([arguments], number, changes):
            yield arguments, changed


def _varied(
    documented: Sequence[tuple[str, ...]], number: int, changes: Sequence[InputChange]
) -> Iterator[tuple[str, ...]]:
    """Yield inputs that differ from a stated one in the argument of this number."""
    for change in changes:
        for arguments in documented:
            changed = changed_argument(arguments[number], change)
            if changed is not None:
                yield (*arguments[:number], changed, *arguments[number + 1 :])
    first = documented[0]
    for other in documented[1 : 1 + _EXCHANGED]:
        yield (*first[:number], other[number], *first[number + 1 :])


def changed_argument(argument: str, change: InputChange) -> str | None:
    """Return an argument changed, as source, or None where the change means nothing for it.

    Of a call, the first argument that is a literal and can be changed so is changed: `range(3)` becomes `range(4)`.
    """
    node = parse_python(argument, mode="eval").body
    try:
        value = _changed(literal_eval(node), change)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _changed_call(node, change)
    return None if value is None else repr(value)


def _changed_call(node: ast.expr, change: InputChange) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    for number, argument in enumerate(node.args):
        if not isinstance(argument, ast.Starred) and (source := changed_argument(ast.unparse(argument), change)):
            node.args[number] = parse_python(source, mode="eval").body
            return ast.unparse(node)
    for keyword in node.keywords:
        if source := changed_argument(ast.unparse(keyword.value), change):
            keyword.value = parse_python(source, mode="eval").body
            return ast.unparse(node)
    return None


def _changed(value: Any, change: InputChange) -> Any:
    if isinstance(value, bool):
        return not value if change is InputChange.FLIPPED else None
    if isinstance(value, int | float):
        return _number(value, change)
    if isinstance(value, str) and change in _NUMBERS:
        text, count = _NUMBERS[change].subn(lambda number: str(int(number[0]) + 1), value, count=1)
        return text if count else None
    if isinstance(value, str | bytes | list | tuple):
        return _sequence(value, change)
    return {} if isinstance(value, dict) and value and change is InputChange.EMPTIED else None


def _number(value: float, change: InputChange) -> float | None:
    values = {InputChange.INCREASED: value + 1, InputChange.DOUBLED: value * 2, InputChange.NEGATED: -value}
    if change is InputChange.ZEROED and value:
        return type(value)()
    return values.get(change)


def _sequence(value: Any, change: InputChange) -> Any:
    if not value:
        return None
    values = {
        InputChange.REVERSED: value[::-1] if isinstance(value, list | tuple) else None,
        InputChange.SHORTENED: value[:-1],
        InputChange.CUT_IN_FRONT: value[1:],
        InputChange.REPEATED: value * 2,
        InputChange.EMPTIED: value[:0],
    }
    return values.get(change)
