"""Tasks of witnesses: a program of which running shows a change becomes a function that is to be written."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import GONE, OF_PARAMETERS, WHOLE, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.uses import Use
from pipeline.corpus.witnesses.changed_uses import CALLED
from pipeline.families.completions_and_migrations.completions import witnessed_changes
from pipeline.families.problems.candidates import ExampleTask, WitnessedChange, refusal
from pipeline.families.problems.library import Library
from pipeline.families.problems.lifting import parameter
from pipeline.families.problems.program import write
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.tasks import Task, gives_value, is_whole_line, tasks_of, without_none
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, SnippetRow, WitnessRow
from pipeline.lake.stage import Reject

_OF_CALLS = WHOLE | OF_PARAMETERS | {ChangeKind.BEHAVIOUR}
"""Kinds of change of which a call is the whole of what is to be done."""


def witnessed_tasks(
    snippets: Iterable[SnippetRow],
    witnesses: Iterable[WitnessRow],
    library: Library,
    rules: ProblemRules,
    *,
    with_program: bool = False,
) -> Iterator[ExampleTask | Reject]:
    """Yield the tasks that the witnesses of changes show, and what makes none.

    `with_program`: those too that a statement alone does not explain, since the program is shown but for a part.
    Programs of one change that differ in their values alone are cases of one task, as they are in an example.

    Rejects: those of `show`; NO_TEXT where no statement could say what is to be done, NO_CHECK where a value says
    nothing, UNCHANGED where the other release takes the same call or name, SEVERAL_ANSWERS where the last release of an
    API has its replacement too, UNFIT_NAME where the API is not called by its own name,
    DUPLICATE for a program whose case another one has taken in.
    """
    rows_of_witnesses = [row for row in witnesses if row["distinctive"]]
    changes, paths = witnessed_changes(rows_of_witnesses, library.changes.values()), _paths(rows_of_witnesses)
    rows = sorted((row for row in snippets if row["id"] in changes), key=_id)
    by_program: dict[tuple[object, ...], ExampleTask] = {}

    def tasks(snippet: SnippetRow) -> Iterator[ExampleTask | Reject]:
        key = snippet["id"]
        return _tasks(snippet, changes[key].change, paths[key], library, rules, with_program=with_program)

    for result in guarded(rows, _id, tasks):
        if isinstance(result, Reject):
            yield result
            continue
        task, witnessed = result.task, result.witnessed
        assert witnessed is not None
        key = (
            witnessed.change["id"],
            result.snippet["version"],
            task.imports,
            task.definitions,
            task.own,
            task.body,
            task.returned,
        )
        if key in by_program:
            first = by_program[key]
            by_program[key] = replace(first, task=_with_cases(first.task, task))
            yield Reject(result.key, RejectReason.DUPLICATE, f"a case of the same program as {first.key}")
        else:
            by_program[key] = result
    yield from by_program.values()


def _paths(witnesses: Iterable[WitnessRow]) -> dict[str, set[str]]:
    """Return the public paths of the APIs that each form of a witness uses, by its snippet."""
    paths: dict[str, set[str]] = defaultdict(set)
    for row in witnesses:
        for key, path in ((row["old_snippet_id"], row["old_path"]), (row["new_snippet_id"], row["new_path"])):
            if key is not None and path is not None:
                paths[key].add(path)
    return paths


def _id(row: SnippetRow) -> str:
    return str(row["id"])


def _tasks(
    snippet: SnippetRow,
    change: ChangeRow,
    paths: Collection[str],
    library: Library,
    rules: ProblemRules,
    *,
    with_program: bool,
) -> Iterator[ExampleTask | Reject]:
    version = snippet["version"]
    if refused := _unfit_change(change, version, library, with_program=with_program):
        yield Reject(snippet["id"], *refused)
        return
    parts = tasks_of(snippet, library.roots(version), printed_values=True)
    if not parts.tasks:
        detail = parts.unfit[0] if parts.unfit else "no use of the library has a stated output to compare"
        yield Reject(snippet["id"], RejectReason.NO_CHECK, detail)
    for number, task in enumerate(map(without_none, parts.tasks), 1):
        example = ExampleTask(snippet, number, task)
        path = _called(library.uses(write(task, (), rules).program, version), paths)
        meaningless = sorted({each for case in task.cases for each in case.arguments} & rules.meaningless)
        if unfit := refusal(example, rules):
            yield unfit
        elif path is None:
            detail = f"{task.returned}: {', '.join(sorted(paths))} is not called by its own name"
            yield Reject(example.key, RejectReason.UNFIT_NAME, detail)
        elif meaningless:
            detail = f"{task.returned}: {meaningless[0]} stands for any text"
            yield Reject(example.key, RejectReason.NO_CHECK, detail)
        elif several := _unpacked(task):
            detail = f"{several}: nothing says that it is given as several arguments"
            yield Reject(example.key, RejectReason.NO_TEXT, detail)
        elif unexplained := _unexplained(task, path.rpartition(".")[2], with_program=with_program):
            yield Reject(example.key, RejectReason.NO_TEXT, unexplained)
        else:
            yield replace(example, witnessed=WitnessedChange(change, path))


def _unfit_change(
    change: ChangeRow, version: str, library: Library, *, with_program: bool
) -> tuple[RejectReason, str] | None:
    """Return why a change is none that a task of a version can be about."""
    kind, is_old = ChangeKind(change["kind"]), version == change["old_version"]
    replacement = change["replacement"] if kind in GONE and is_old else None
    if kind is ChangeKind.PARAMETER_RENAMED:
        return RejectReason.UNCHANGED, "by its place the parameter is given in either release"
    if kind is ChangeKind.PARAMETER_KIND:
        return RejectReason.UNCHANGED, "given in the other way the parameter is taken in either release"
    if with_program and kind in OF_PARAMETERS:
        return RejectReason.UNCHANGED, "the name that would be masked is in both releases"
    if replacement and library.history.definition(replacement, version) is not None:
        return RejectReason.SEVERAL_ANSWERS, f"{version} has {replacement} too, which replaces {change['path']}"
    if kind not in _OF_CALLS:
        return RejectReason.NO_TEXT, f"no statement can say what {kind} asks for"
    return None


def _unexplained(task: Task, name: str, *, with_program: bool) -> str:
    """Return why the prompt does not explain a task about an API of this name, "" if it does."""
    if with_program:
        return "" if task.own or is_whole_line(task, name) else f"{task.returned}: no line is a call of {name} alone"
    if task.own:
        return f"{task.returned}: no statement describes the definitions that use the library"
    return "" if gives_value(task, name) else f"{task.returned}: a statement says what {name} gives, which is not this"


def _called(uses: Collection[Use], paths: Collection[str]) -> str | None:
    """Return the API that is called by its own name: one of the paths, else the only one below them."""
    calls = [use.path for use in uses if use.form in CALLED and use.name == use.path.rpartition(".")[2]]
    below = {path for path in calls if any(path.startswith(f"{each}.") for each in paths)}
    own = [path for path in calls if path in paths]
    path = own[0] if own else below.pop() if len(below) == 1 else None
    # A name that stands for it, as in `f = lib.f`, would be the same one.
    bound = any(use.path == path and use.form == UsageForm.ATTRIBUTE for use in uses)
    return None if bound else path


def _unpacked(task: Task) -> str | None:
    """Return a call in which a parameter is given as several arguments."""
    parameters = {parameter(number) for number in range(len(task.variables))}
    for call in ast.walk(parse_python("\n".join([*task.body, task.returned]))):
        if isinstance(call, ast.Call):
            starred = [each.value for each in call.args if isinstance(each, ast.Starred)]
            named = [each.value for each in call.keywords if each.arg is None]
            if any(isinstance(each, ast.Name) and each.id in parameters for each in (*starred, *named)):
                return ast.unparse(call)
    return None


def _with_cases(task: Task, other: Task) -> Task:
    covered = {case.arguments for case in task.cases}
    return replace(
        task,
        cases=task.cases + tuple(case for case in other.cases if case.arguments not in covered),
        argument_imports=tuple(dict.fromkeys([*task.argument_imports, *other.argument_imports])),
        argument_names=tuple(dict.fromkeys([*task.argument_names, *other.argument_names])),
    )
