"""Controls: empty answers. If the control of a task passes, running predictions of it measures nothing.

Many lines of examples display nothing, and nothing depends on them. Most controls need no run, since they are certain
to fail: a missing name cannot be imported, and an empty statement displays no output.
"""

from __future__ import annotations

import ast

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.usages.text import parse_program
from pipeline.evaluation.scores.tasks import Task
from pipeline.families.completions_and_migrations.expected_outputs import Example
from pipeline.families.completions_and_migrations.masks import MASKS

NO_NAME = "driftline_has_no_such_name"
_NOTHING, _NO_CONDITION = "pass", "if True:"
_TRACEBACK = "Traceback"
# Constructs in which a name may be looked up later than its statement runs, or never.
_LATER = (
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.BoolOp, ast.IfExp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Try, ast.If, ast.While, ast.For, ast.With, ast.Match),
)


def control(task: Task) -> str | None:
    """Return an empty answer to a task; None where runs of the snapshot have proved that it fails."""
    if task.family is Family.FUNCTION and task.row["granularity"] == Granularity.BLOCK:
        # Acceptance required that an empty body fails.
        return None
    if task.family in (Family.COMPLETION, Family.FUNCTION):
        if task.row["granularity"] == Granularity.TOKEN:
            return NO_NAME
        return _NO_CONDITION if task.row["answer"].endswith(":") else _NOTHING
    return _NOTHING if task.family is Family.MIGRATION else None


def fails_for_certain(task: Task, example: Example) -> bool:
    """Say whether the control of a task need not be run, since it cannot pass."""
    with_output = [
        (check["statement"], check["expected"]) for check in example["checks"] if check["expected"] is not None
    ]
    if any(expected.lstrip().startswith(_TRACEBACK) for _, expected in with_output):
        return False
    if task.family is Family.MIGRATION:
        return any(_shows(expected) for _, expected in with_output)
    if task.row["granularity"] == Granularity.TOKEN:
        program = parse_program(task.row["masked_code"].replace(MASKS[Granularity.TOKEN], NO_NAME))
        return program is not None and any(_looks_up(statement) for statement in program.body)
    removed = f"\n{task.row['answer']}\n"
    return any(_shows(expected) and f"\n{statement.strip()}\n" in removed for statement, expected in with_output)


def _shows(expected: str) -> bool:
    return bool(expected.replace("...", "").strip())


def _looks_up(statement: ast.stmt) -> bool:
    """Say whether a statement cannot run without looking up the name that is not there."""
    nodes = list(ast.walk(statement))
    if any(isinstance(node, _LATER) for node in nodes):
        return False
    if isinstance(statement, ast.ImportFrom):
        return any(alias.name == NO_NAME for alias in statement.names)
    loaded = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Load)]
    return any(NO_NAME in (getattr(node, "id", None), getattr(node, "attr", None)) for node in loaded)
