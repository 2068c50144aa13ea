"""The statements of an example, with what each binds and needs, and the part of them that an expression needs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.corpus.snippets.names import bound_by, needed_by, needed_later_by, parse
from pipeline.lake.rows import RewriteRow, SnippetCheck, SnippetRow

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Step:
    """A statement with the output that is stated for it, if any.

    `of_library`: it imports the library, or uses a name that came from it.
    """

    node: ast.stmt
    expected: str | None
    options: frozenset[str]
    binds: frozenset[str]
    needs: frozenset[str]
    of_library: bool

    @property
    def is_import(self) -> bool:
        """Whether it imports something."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or a class."""
        return isinstance(self.node, _DEFINITIONS)


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of an example, and the names that have to do with the library once it has run."""

    steps: tuple[Step, ...]
    of_library: frozenset[str]

    def binder(self, name: str, before: int) -> int | None:
        """Return the last step before a position that binds a name, or None."""
        return next((i for i in reversed(range(before)) if name in self.steps[i].binds), None)


def program_of(snippet: SnippetRow | RewriteRow, roots: Collection[str]) -> Program:
    """Read the steps of a snippet: its preamble, then its code; `roots` are the modules of the library.

    A name that is bound twice, once with and once without the library, counts as the library's from then on. A
    snippet whose statements do not parse has no steps.
    """
    steps: list[Step] = []
    foreign: set[str] = set()
    for node, expected, options in _statements(snippet):
        binds, needs = frozenset(bound_by(node)), frozenset(needed_by(node) | needed_later_by(node))
        of_library = _imports(node, roots) or bool(needs & foreign)
        foreign |= binds if of_library else set()
        steps.append(Step(node, expected, frozenset(options), binds, needs, of_library))
    return Program(tuple(steps), frozenset(foreign))


def _statements(snippet: SnippetRow | RewriteRow) -> Iterator[tuple[ast.stmt, str | None, Sequence[str]]]:
    for node in parse(snippet["preamble"]) or ():
        yield node, None, ()
    for check in snippet["checks"] or _as_checks(snippet["code"]):
        nodes = parse(check["statement"]) or []
        for node in nodes:
            yield node, check["expected"] if node is nodes[-1] else None, check["options"]


def _as_checks(code: str) -> list[SnippetCheck]:
    """Return the statements of a program without stated outputs, as if each stood at a prompt."""
    return [{"statement": ast.unparse(node), "expected": None, "options": []} for node in parse(code) or ()]


def _imports(node: ast.stmt, roots: Collection[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in roots for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in roots


@dataclass(slots=True)
class Slice:
    """The steps that an expression needs, by what becomes of them, each a list of positions in the program.

    `imports` bring names; `helpers` define what has nothing to do with the library; `own` are definitions that
    use the library; `body` are the statements that lead to the expression; `data` are assignments of values without
    the library, by name.
    """

    imports: set[int] = field(default_factory=set)
    helpers: set[int] = field(default_factory=set)
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
    needed_steps = Slice()
    queue = [(name, at) for name in names_in(expression)]
    done: set[tuple[str, int]] = set()
    while queue:
        name, before = queue.pop()
        position = program.binder(name, before)
        if position is None or (name, position) in done:
            continue
        done.add((name, position))
        step = program.steps[position]
        queue += [(needed, position) for needed in step.needs]
        _enter(needed_steps, name, position, step)
        for effect in _effects(program, name, position, before):
            if step.is_import or step.is_definition:
                continue
            if name in needed_steps.data:
                raise Unfit(f"{name} is changed after it was made")
            needed_steps.body.add(effect)
            queue += [(needed, effect) for needed in program.steps[effect].needs]
    return needed_steps


def names_in(node: ast.AST) -> set[str]:
    """Return the names that are read somewhere in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _enter(needed_steps: Slice, name: str, position: int, step: Step) -> None:
    if step.is_import:
        needed_steps.imports.add(position)
    elif step.is_definition:
        (needed_steps.own if step.of_library else needed_steps.helpers).add(position)
    elif not _is_assignment(step.node):
        raise Unfit(f"{name} is made by a statement of several parts")
    elif step.of_library or not _of_one_name(step.node):
        needed_steps.body.add(position)
    else:
        if needed_steps.data.get(name, position) != position:
            raise Unfit(f"{name} is made twice")
        needed_steps.data[name] = position


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
