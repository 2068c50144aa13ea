"""A task as another release wants it: the codemods of migrations follow what changed between the two."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

import libcst as cst

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import CALLED_OTHERWISE, RELOCATED, REPLACEABLE_APIS
from pipeline.core.vocabularies.samples import Direction, MigrationBasis
from pipeline.corpus.usages.uses import usage_row
from pipeline.families.completions_and_migrations.codemods.program import Program
from pipeline.families.completions_and_migrations.codemods.rewrite import rewrite
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit
from pipeline.families.completions_and_migrations.transitions import Replacements, Transition
from pipeline.families.problems.library import Library
from pipeline.families.problems.lifting import parameter
from pipeline.families.problems.tasks import Task

_FOLLOWED = RELOCATED | REPLACEABLE_APIS | CALLED_OTHERWISE
"""The kinds of change that codemods know."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A task as another release wants it; `is_replacement`: it uses a stated one, which may do something else."""

    task: Task
    is_replacement: bool


class OtherRelease:
    """Writes tasks for the release on the other side of a change, upwards and downwards."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._changes = sorted(library.changes.values(), key=lambda row: row["id"])
        self._replacements = Replacements.of(self._changes, library.lifecycles)
        self._transitions: dict[tuple[str, str], Transition | None] = {}

    def follow(self, task: Task, version: str, other: str) -> Followed | None:
        """Return a task of a version as the other release wants it; None where codemods write nothing otherwise."""
        transition = self._transition(version, other)
        if transition is None:
            return None
        program = _program(task)
        usages = [usage_row(use, "", self._library.name, version) for use in self._library.uses(program, version)]
        steps = [step for usage in usages if (step := transition.step(usage)) is not None]
        if not steps:
            return None
        try:
            written = rewrite(Program({"preamble": "", "code": program, "checks": []}), [step.task for step in steps])
        except (Unfit, cst.CSTValidationError):
            return None
        if written is None:
            return None
        return Followed(
            _task(task, written.pieces.preamble + written.pieces.code),
            any(step.basis is MigrationBasis.REPLACEMENT for step in steps),
        )

    def _transition(self, version: str, other: str) -> Transition | None:
        """Return what changes from one release to the other; None where nothing does that codemods know."""
        if (version, other) not in self._transitions:
            history = self._library.history
            upwards = history.rank(version) < history.rank(other)
            ends = (version, other) if upwards else (other, version)
            changes = [
                row
                for row in self._changes
                if (row["old_version"], row["new_version"]) == ends and row["kind"] in _FOLLOWED
            ]
            direction = Direction.OLD_TO_NEW if upwards else Direction.NEW_TO_OLD
            transition = Transition(changes, self._replacements, history, direction) if changes else None
            self._transitions[version, other] = transition
        return self._transitions[version, other]


def _program(task: Task) -> str:
    """Return a task as a program whose last statement is its function."""
    names = ", ".join(parameter(number) for number in range(len(task.variables)))
    body = [f"    {line}" for each in (*task.body, f"return {task.returned}") for line in each.split("\n")]
    return "\n".join([*task.imports, *task.definitions, *task.own, f"def task({names}):", *body, ""])


def _task(task: Task, program: str) -> Task:
    """Return what a program makes of a task."""
    *above, function = parse_python(program).body
    assert isinstance(function, ast.FunctionDef)
    *body, last = function.body
    assert isinstance(last, ast.Return)
    assert last.value is not None
    imports = [node for node in above if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [ast.unparse(node) for node in above if node not in imports]
    return replace(
        task,
        imports=tuple(map(ast.unparse, imports)),
        definitions=tuple(others[: len(task.definitions)]),
        own=tuple(others[len(task.definitions) :]),
        body=tuple(map(ast.unparse, body)),
        returned=ast.unparse(last.value),
    )
