"""What an expression of an example needs of the statements before it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from pipeline.families.problems.steps import Program, Step


@dataclass(slots=True)
class Slice:
    """The steps that an expression needs, by what becomes of them, each a list of positions in the program.

    `imports` bring names; `given` define helpers that have nothing to do with the library; `own` are definitions that
    use the library; `body` are the statements that lead to the expression; `data` are assignments of values without
    the library, by name.
    """

    imports: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)
    body: set[int] = field(default_factory=set)
    data: dict[str, int] = field(default_factory=dict)


class Unfit(ValueError):
    """An expression cannot be made a function; the message says why."""


def slice_of(program: Program, expression: ast.expr, at: int) -> Slice:
    """Return what the expression at a position needs, so that it can be evaluated alone.

    Statements with a stated output of their own are taken to change nothing: where they do, running shows it.

    Errors: Unfit.
    """
    found = Slice()
    wanted = [(name, at) for name in names_in(expression)]
    seen: set[tuple[str, int]] = set()
    while wanted:
        name, before = wanted.pop()
        position = program.binder(name, before)
        if position is None or (name, position) in seen:
            continue
        seen.add((name, position))
        step = program.steps[position]
        wanted += [(needed, position) for needed in step.needs]
        _enter(found, name, position, step)
        for effect in _effects(program, name, position, before):
            if step.is_import or step.is_definition:
                continue
            if name in found.data:
                raise Unfit(f"{name} is changed after it was made")
            found.body.add(effect)
            wanted += [(needed, effect) for needed in program.steps[effect].needs]
    return found


def names_in(node: ast.AST) -> set[str]:
    """Return the names that are read somewhere in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _enter(found: Slice, name: str, position: int, step: Step) -> None:
    if step.is_import:
        found.imports.add(position)
    elif step.is_definition:
        (found.own if step.of_library else found.given).add(position)
    elif not _is_assignment(step.node):
        raise Unfit(f"{name} is made by a statement of several parts")
    elif step.of_library or not _of_one_name(step.node):
        found.body.add(position)
    else:
        if found.data.get(name, position) != position:
            raise Unfit(f"{name} is made twice")
        found.data[name] = position


def _effects(program: Program, name: str, after: int, before: int) -> list[int]:
    """Return the statements between two positions that may change what a name stands for without binding it."""
    return [
        position
        for position in range(after + 1, before)
        if (step := program.steps[position]).expected is None and _touches(step.node, name)
    ]


def _touches(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and name in names_in(node.value)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        places = [target for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
        return any(name in names_in(place) for place in places)
    return isinstance(node, ast.For | ast.While | ast.With | ast.If | ast.Try) and name in names_in(node)


def _is_assignment(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def _of_one_name(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return len(targets) == 1 and isinstance(targets[0], ast.Name)
