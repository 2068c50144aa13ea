"""The runs that decide whether a sample passes: its program with the outputs or tests of the task."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.controls import control, fails_for_certain
from pipeline.evaluation.scores.filling import body_in, filled, solved
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun, Run
from pipeline.evaluation.scores.tasks import Task, rows_of
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.splitting import NotParted, Parted, part
from pipeline.families.all_families import FAMILIES
from pipeline.families.completions_and_migrations.expected_outputs import displaying
from pipeline.lake.ids import content_id
from pipeline.lake.schema import Row
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot

_EXAMPLE = ("id", "preamble", "code", "checks")
_PROJECT = (
    "id",
    "project",
    "version",
    "outcome",
    "sha256",
    "size",
    "packages",
    "python",
    "lock_id",
    "lock",
    "import_names",
)
_ENVIRONMENT = ("library", "version", "outcome", "python", "lock_id", "lock", "import_names")


@dataclass(frozen=True)
class Sources:
    """Rows that runs need beside tasks: examples and rewrites by id, environments by lock, projects by id.

    `settings` are the rules that influence the outcome of a run.
    """

    examples: Mapping[str, Row]
    environments: Mapping[str, Row]
    projects: Mapping[str, Row]
    settings: Any

    @classmethod
    def read(cls, snapshot: Snapshot, settings: Any, library: str | None = None) -> Sources:
        """Read them from a snapshot, all of them or those of a library.

        Errors: SnapshotError.
        """
        pieces = ("snippets", "rewrites")
        examples = [row for file in pieces for row in rows_of(snapshot, file, _EXAMPLE, library=library)]
        files = dict.fromkeys(family.environments for family in FAMILIES if family.environments)
        environments = [row for file in files for row in rows_of(snapshot, file, _ENVIRONMENT, library=library)]
        by_lock = {row["lock_id"]: row for row in environments if row["lock_id"]}
        projects = {row["id"]: row for row in rows_of(snapshot, "projects", _PROJECT, library=library)}
        return cls({row["id"]: row for row in examples}, by_lock, projects, settings)

    def example(self, of: str) -> Row:
        """Return an example by its id.

        Errors: SnapshotError.
        """
        if of not in self.examples:
            raise SnapshotError(f"no snippet {of} in the snapshot: run `driftline verify` on it")
        return self.examples[of]


_OF_EXAMPLES = frozenset({Family.COMPLETION, Family.MIGRATION})


def plan(task: Task, sample: str, sources: Sources) -> Sequence[Run]:
    """Return the runs of a sample; none if the reference was never run, no run is conclusive, or tests are `unparted`.

    Errors: SnapshotError.
    """
    planner = PLANNERS.get(task.family)
    return [*planner(task, sample, sources)] if planner else []


def plan_control(task: Task, sources: Sources) -> Sequence[Run]:
    """Return the run of the empty answer, unless it is certain to fail.

    Errors: SnapshotError.
    """
    empty_answer = control(task)
    if empty_answer is None or (task.family in _OF_EXAMPLES and fails_for_certain(task, _example(task, sources))):
        return []
    return [replace(run, control=True) for run in plan(task, empty_answer, sources)]


def _example(task: Task, sources: Sources) -> Row:
    """Return the example of a completion, or of the target side of a migration."""
    row = task.row
    of = row["snippet_id"] if task.family is Family.COMPLETION else _target(row)
    return sources.example(of)


def _target(row: Row) -> str:
    return str(row["target_rewrite_id"] or row["target_snippet_id"])


def _completion(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    if row["reference_outcome"] == Outcome.PASSED:
        case = displaying(_example(task, sources), row["code"], filled(row, sample))
        yield _run(task, sample, Metric.PASS, row["lock_id"], case, sources)


def _migration(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    case = displaying(_example(task, sources), row["target_code"], sample)
    yield _run(task, sample, Metric.PASS, row["target_lock_id"], case, sources)


def _function(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    parted = _parted(row["tests"], row["module"])
    if parted is not None:
        case = Case("", "", filled(row, sample), parted=parted, module=row["module"])
        yield _run(task, sample, Metric.PASS, row["lock_id"], case, sources)


def _problem(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    program = solved(row["starting_code"], sample)
    for metric, text, module in (
        (Metric.PASS, row["hidden_tests"], row["module"]),
        (Metric.PASS_VISIBLE, row["test"], None),
    ):
        parted = _parted(text, module)
        if parted is not None:
            case = Case("", "", program, parted=parted, module=module)
            yield _run(task, sample, metric, row["lock_id"], case, sources)


def unparted(task: Task) -> str | None:
    """Return why tests of a task are not run: expected values would have to be in the process of the answer."""
    row = task.row
    if task.family is Family.FUNCTION:
        tests = [(row["tests"], row["module"])]
    elif task.family is Family.PROBLEM:
        tests = [(row["hidden_tests"], row["module"]), (row["test"], None)]
    else:
        return None
    parts = (_parts(*each) for each in tests)
    return next((each for each in parts if isinstance(each, str)), None)


def _parted(tests: str, module: str | None) -> Parted | None:
    parts = _parts(tests, module)
    return parts if isinstance(parts, Parted) else None


@functools.lru_cache(512)
def _parts(tests: str, module: str | None) -> Parted | str:
    """Return tests in parts, or why they cannot be parted."""
    try:
        return part(tests, module)
    except NotParted as error:
        return str(error)


def _run(task: Task, sample: str, metric: Metric, lock_id: str, case: Case, sources: Sources) -> Run:
    environment = sources.environments.get(lock_id, {})
    named = replace(case, import_names=tuple(environment.get("import_names", ())))
    key = content_id(lock_id, asdict(named), sources.settings)
    return CaseRun((task.family, task.id), sample, metric, key, False, lock_id, replace(named, id=key))


def _repository_task(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    place = row["body_first_line"], row["body_last_line"]
    yield _in_project(task, sample, partial(body_in, body=sample, lines=place), place, row["tests"], sources)


def _scene(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    before, after = task.row["prefix"], task.row["test_suffix"]
    text = f"{before}{sample}{after}"
    yield _in_project(task, sample, lambda _: text, text, task.row["unit_test_ids"], sources)


def _in_project(
    task: Task, sample: str, rewrite: Callable[[str], str], place: object, tests: Sequence[str], sources: Sources
) -> Run:
    project_id, path = task.row["project_id"], task.row["path"]
    key = content_id(project_id, path, place, sample, tests, sources.settings)
    return ProjectRun((task.family, task.id), sample, Metric.PASS, key, False, project_id, path, rewrite, tests)


PLANNERS: Mapping[Family, Callable[[Task, str, Sources], Iterator[Run]]] = {
    Family.COMPLETION: _completion,
    Family.FUNCTION: _function,
    Family.MIGRATION: _migration,
    Family.PROBLEM: _problem,
    Family.REPOSITORY_TASK: _repository_task,
    Family.SCENE: _scene,
}
