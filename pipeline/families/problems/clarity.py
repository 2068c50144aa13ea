"""What a statement leaves open about a task of a witness: which parameter is which, and what is done with the value."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Sequence

from pipeline.families.problems.lifting import parameter
from pipeline.families.problems.tasks import Task

_TRANSPARENT = frozenset({"bool", "dict", "list", "set", "sorted", "str", "tuple"})
"""Functions that say nothing new of a value: what comes of them is seen by its type, which a statement names."""


def unexplained_parameters(task: Task, name: str, names: Sequence[str], described: Collection[int]) -> list[str]:
    """Return parameters that nobody can tell from one another, or know the meaning of.

    They are of one type, called after it, not described, and not given to the core API `name` by their places: in
    order, they are told apart. A flag is one of them also where it is the only one, since True may mean anything.
    """
    placed = _by_place(task, name)
    groups: dict[str, list[int]] = defaultdict(list)
    for number, variable in enumerate(task.variables):
        if not variable and number not in described:
            groups[_type(task.cases[0].arguments[number])].append(number)
    for kind, numbers in groups.items():
        if kind == "bool":
            return [names[number] for number in numbers]
        if len(numbers) > 1 and [number for number in placed if number in numbers] != numbers:
            return [names[number] for number in numbers]
    return []


def gives_value(task: Task, name: str) -> bool:
    """Say whether a task gives what a call of the core API gives, as it is or as a built-in type makes it."""
    return _is_value(task, ast.parse(task.returned, mode="eval").body, name, len(task.body))


def is_whole_line(task: Task, name: str) -> bool:
    """Say whether a call of the core API is all that its statement works out, so that the line can be known.

    From `return not f(x)` nobody who does not see it knows the `not`.
    """
    statements = [statement for source in (*task.body, task.returned) for statement in ast.parse(source).body]
    return all(_is_call(_unwrapped(_value(each), name), name) for each in statements if _calls(each, name))


def _value(statement: ast.stmt) -> ast.AST:
    match statement:
        case ast.Assign(value=value) | ast.Expr(value=value):
            return value
    return statement


def _unwrapped(node: ast.AST, name: str) -> ast.AST:
    """Return what stands within transparent functions."""
    match node:
        case ast.Call(func=ast.Name(id=wrapper), args=[inner], keywords=[]) if (
            wrapper in _TRANSPARENT and wrapper != name
        ):
            return _unwrapped(inner, name)
    return node


def _calls(node: ast.AST, name: str) -> bool:
    return any(_is_call(each, name) for each in ast.walk(node))


def _is_call(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            return called == name
    return False


def _is_value(task: Task, node: ast.expr, name: str, before: int) -> bool:
    match inner := _unwrapped(node, name):
        case ast.Name(id=bound):
            for position in reversed(range(before)):
                match ast.parse(task.body[position]).body:
                    case [ast.Assign(targets=[ast.Name(id=target)], value=value)] if target == bound:
                        return _is_value(task, value, name, position)
    return _is_call(inner, name)


def _by_place(task: Task, name: str) -> list[int]:
    """Return the parameters that are the first arguments of the core API by their places, in order."""
    numbers = {parameter(number): number for number in range(len(task.variables))}
    for node in ast.walk(ast.parse("\n".join([*task.body, task.returned]))):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args) if called == name:
                return [numbers[arg.id] for arg in args if isinstance(arg, ast.Name) and arg.id in numbers]
    return []


def _type(source: str) -> str:
    try:
        return type(ast.literal_eval(source)).__name__
    except (ValueError, TypeError, SyntaxError):
        return type(ast.parse(source, mode="eval").body).__name__
