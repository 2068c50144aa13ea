"""Tasks in an example: expressions that differ in their values alone are cases of one function.

Also what a statement leaves open about a task of a witness: which parameter is which, what is done with the value.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.families.problems.lifting import Lifted, lift, parameter, replaced
from pipeline.families.problems.slices import Program, Slice, Step, Unfit, names_in, program_of, slice_of
from pipeline.families.problems.stated_values import Outcome, expected_result
from pipeline.lake.rows import RewriteRow, SnippetRow


@dataclass(frozen=True, slots=True)
class CaseOf:
    """Arguments of a function as source, one for each parameter, and what comes of them."""

    arguments: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Task:
    """A function that an example shows, and the cases that it states.

    `imports` and `definitions` (helpers that have nothing to do with the library; with it: `own`) are what the function
    needs, `argument_imports` and `argument_names` what the arguments of the cases take for granted. Parameters are
    still called as `lifting.parameter` calls them; `variables` are their names in the example, or "".
    """

    imports: tuple[str, ...]
    definitions: tuple[str, ...]
    own: tuple[str, ...]
    body: tuple[str, ...]
    returned: str
    variables: tuple[str, ...]
    argument_imports: tuple[str, ...]
    argument_names: tuple[str, ...]
    cases: tuple[CaseOf, ...]

    @property
    def code(self) -> str:
        """Everything that has to do with the library, as one text."""
        return "\n".join([*self.own, *self.body, self.returned])


@dataclass(frozen=True, slots=True)
class SnippetTasks:
    """The tasks of an example, and why expressions make none."""

    tasks: tuple[Task, ...]
    unfit: tuple[str, ...]


def tasks_of(snippet: SnippetRow | RewriteRow, roots: Collection[str], *, printed_values: bool = False) -> SnippetTasks:
    """Return the tasks of a snippet in the order of their first case; `roots` are the modules of the library.

    `printed_values`: where what is printed reads as a literal, the task gives that value, and not its text.
    """
    program = program_of(snippet, roots)
    groups: dict[tuple[object, ...], list[tuple[Slice, Lifted, Outcome]]] = {}
    unfit: list[str] = []
    for position, step in enumerate(program.steps):
        outcome = expected_result(step, printed_values=printed_values) if step.of_library else None
        if outcome is None:
            continue
        try:
            needed = slice_of(program, outcome.expression, position)
            lifted = lift(program, needed, outcome.expression)
        except Unfit as error:
            unfit.append(f"{ast.unparse(outcome.expression)}: {error}")
            continue
        key = (lifted.shape, tuple(sorted(needed.own)), len(lifted.arguments))
        groups.setdefault(key, []).append((needed, lifted, outcome.outcome))
    return SnippetTasks(tuple(_task(program, group) for group in groups.values()), tuple(unfit))


def renamed(task: Task, name: str, other: str) -> Task:
    """Return a task with another name in place of one, in all that has to do with the library."""

    def written(lines: Iterable[str]) -> tuple[str, ...]:
        return tuple(re.sub(rf"\b{re.escape(name)}\b", other, line) for line in lines)

    (returned,) = written([task.returned])
    return replace(
        task, imports=written(task.imports), own=written(task.own), body=written(task.body), returned=returned
    )


def without_none(task: Task) -> Task:
    """Return a task without the parameters that are None in all cases: its code has None there.

    Nothing else can be given in place of None, and no test shows that it is given.
    """
    numbers = range(len(task.variables))
    others = [number for number in numbers if {case.arguments[number] for case in task.cases} != {"None"}]
    sources = {parameter(number): "None" for number in numbers}
    sources |= {parameter(number): parameter(place) for place, number in enumerate(others)}
    return replace(
        task,
        body=tuple(replaced(source, sources) for source in task.body),
        returned=replaced(task.returned, sources),
        variables=tuple(task.variables[number] for number in others),
        cases=_without_duplicates(
            CaseOf(tuple(case.arguments[number] for number in others), case.outcome) for case in task.cases
        ),
    )


def _task(program: Program, group: Sequence[tuple[Slice, Lifted, Outcome]]) -> Task:
    """Put the cases of one shape together."""
    needed, first, _ = group[0]
    free = {name for _, lifted, _ in group for name in lifted.free}
    steps = {position for each, _, _ in group for position in each.imports}
    helper_positions = {position for each, _, _ in group for position in each.helpers}
    own = [ast.unparse(program.steps[position].node) for position in sorted(needed.own)]
    code = names_in(parse_python("\n".join([*own, *first.body, first.returned])))
    helpers = [program.steps[position] for position in sorted(helper_positions)]
    used = code | {name for step in helpers for name in step.needs}
    imported = [program.steps[position] for position in sorted(steps)]
    return Task(
        imports=_import_lines(imported, used),
        definitions=tuple(ast.unparse(step.node) for step in helpers),
        own=tuple(own),
        body=first.body,
        returned=first.returned,
        variables=first.variables,
        argument_imports=_import_lines([step for step in imported if not step.of_library], free),
        argument_names=tuple(sorted(free & {name for step in helpers for name in step.binds})),
        cases=_without_duplicates(CaseOf(lifted.arguments, outcome) for _, lifted, outcome in group),
    )


def _without_duplicates(cases: Iterable[CaseOf]) -> tuple[CaseOf, ...]:
    """Keep the first case of the same arguments."""
    by_arguments: dict[tuple[str, ...], CaseOf] = {}
    for case in cases:
        by_arguments.setdefault(case.arguments, case)
    return tuple(by_arguments.values())


def _import_lines(steps: Iterable[Step], names: Collection[str]) -> tuple[str, ...]:
    """Return the imports that bring some names, each line cut down to those names."""
    lines = [line for step in steps if (line := _narrowed(step.node, names))]
    return tuple(dict.fromkeys(lines))


def _narrowed(node: ast.stmt, names: Collection[str]) -> str | None:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return None
    aliases = [a for a in node.names if (a.asname or a.name.split(".")[0]) in names or a.name == "*"]
    if not aliases:
        return None
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(aliases))
    return ast.unparse(ast.ImportFrom(node.module, aliases, node.level))


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
    """Say whether a task gives what a call of the core API gives, as it is or as a built-in type makes it.

    Any other statement behind the call may change the value, as `x.sort()` does.
    """
    holders: set[str] = set()
    for statement in parse_python("\n".join(task.body)).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if _is_value(value, name, holders):
                holders.add(target)
            case _:
                holders.clear()
    return _is_value(parse_python(task.returned, mode="eval").body, name, holders)


def is_whole_line(task: Task, name: str) -> bool:
    """Say whether a call of the core API is all that its statement works out, so that the line can be known.

    From `return not f(x)` nobody who does not see it knows the `not`.
    """
    statements = [statement for source in (*task.body, task.returned) for statement in parse_python(source).body]
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


def _is_value(node: ast.expr, name: str, holders: Collection[str]) -> bool:
    """Say whether an expression is a call of the core API, or one of the variables that hold its value."""
    inner = _unwrapped(node, name)
    return _is_call(inner, name) or (isinstance(inner, ast.Name) and inner.id in holders)


def _by_place(task: Task, name: str) -> list[int]:
    """Return the parameters that are the first arguments of the core API by their places, in order."""
    numbers = {parameter(number): number for number in range(len(task.variables))}
    for node in ast.walk(parse_python("\n".join([*task.body, task.returned]))):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args) if called == name:
                return [numbers[arg.id] for arg in args if isinstance(arg, ast.Name) and arg.id in numbers]
    return []


def _type(source: str) -> str:
    try:
        return type(literal_eval(source)).__name__
    except (ValueError, TypeError, SyntaxError):
        return type(parse_python(source, mode="eval").body).__name__
