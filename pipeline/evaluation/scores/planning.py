"""The runs that decide whether a sample passes: its program with the outputs or tests of the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scenes import BODIES
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.cases import CASES, parts_of
from pipeline.evaluation.scores.controls import control, fails_for_certain
from pipeline.evaluation.scores.filling import block_at, body_in
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun, Run
from pipeline.evaluation.scores.tasks import Task, rows_of
from pipeline.execution.validation.cases import Case
from pipeline.families.all_families import FAMILIES
from pipeline.families.completions_and_migrations.expected_outputs import Example
from pipeline.lake.ids import content_id
from pipeline.lake.rows import AnyRow, EnvironmentRow, ProjectRow
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

    examples: Mapping[str, Example]
    environments: Mapping[str, EnvironmentRow]
    projects: Mapping[str, ProjectRow]
    settings: Any

    @classmethod
    def read(cls, snapshot: Snapshot, settings: Any, library: str | None = None) -> Sources:
        """Read them from a snapshot, all of them or those of a library.

        Errors: SnapshotError.
        """
        snippets = rows_of(snapshot, "snippets", _EXAMPLE, library=library)
        examples: list[Example] = [*snippets, *rows_of(snapshot, "rewrites", _EXAMPLE, library=library)]
        files = dict.fromkeys(family.environments for family in FAMILIES if family.environments)
        environments = [row for file in files for row in rows_of(snapshot, file, _ENVIRONMENT, library=library)]
        by_lock = {row["lock_id"]: row for row in environments if row["lock_id"]}
        projects = {row["id"]: row for row in rows_of(snapshot, "projects", _PROJECT, library=library)}
        return cls({row["id"]: row for row in examples}, by_lock, projects, settings)

    def example(self, of: str) -> Example:
        """Return an example by its id.

        Errors: SnapshotError.
        """
        if of not in self.examples:
            raise SnapshotError(
                f"no snippet {of} in the snapshot: run `driftline verify` on it", code="snapshot_snippet_missing"
            )
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
    example = example_of(task, sources)
    if empty_answer is None or (example is not None and fails_for_certain(task, example)):
        return []
    return [replace(run, control=True) for run in plan(task, empty_answer, sources)]


def example_of(task: Task, sources: Sources) -> Example | None:
    """Return the example of a completion, or of the target side of a migration; None for other families.

    Errors: SnapshotError.
    """
    row = task.row
    if task.family not in _OF_EXAMPLES:
        return None
    of = row["snippet_id"] if task.family is Family.COMPLETION else _target(row)
    return sources.example(of)


def _target(row: AnyRow) -> str:
    return str(row["target_rewrite_id"] or row["target_snippet_id"])


def _in_environment(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    if task.family is Family.COMPLETION and row["reference_outcome"] != Outcome.PASSED:
        return
    lock_id = row["target_lock_id"] if task.family is Family.MIGRATION else row["lock_id"]
    for metric, case in CASES[task.family](row, sample, example_of(task, sources)):
        yield _run(task, sample, metric, lock_id, case, sources)


def unparted(task: Task) -> str | None:
    """Return why tests of a task are not run: expected values would have to be in the process of the answer."""
    row = task.row
    if task.family is Family.FUNCTION:
        tests = [(row["tests"], row["module"])]
    elif task.family is Family.PROBLEM:
        tests = [(row["hidden_tests"], row["module"]), (row["test"], None)]
    else:
        return None
    parts = (parts_of(*each) for each in tests)
    return next((each for each in parts if isinstance(each, str)), None)


def _run(task: Task, sample: str, metric: Metric, lock_id: str, case: Case, sources: Sources) -> Run:
    environment = sources.environments.get(lock_id)
    named = replace(case, import_names=tuple(environment["import_names"]) if environment else ())
    key = content_id(lock_id, asdict(named), sources.settings)
    return CaseRun((task.family, task.id), sample, metric, key, False, lock_id, replace(named, id=key))


def _repository_task(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    place = row["body_first_line"], row["body_last_line"]
    yield _in_project(task, sample, partial(body_in, body=sample, lines=place), place, row["tests"], sources)


def _scene(task: Task, sample: str, sources: Sources) -> Iterator[Run]:
    row = task.row
    before, after = row["prefix"], row["test_suffix"]
    ends_itself = after == row["suffix"]
    block = sample if ends_itself else block_at(before, sample, is_body=row["block_type"] in BODIES)
    text = f"{before}{block}{after}"
    yield _in_project(task, sample, lambda _: text, text, task.row["unit_test_ids"], sources)


def _in_project(
    task: Task, sample: str, rewrite: Callable[[str], str], place: object, tests: Sequence[str], sources: Sources
) -> Run:
    project_id, path = task.row["project_id"], task.row["path"]
    key = content_id(project_id, path, place, sample, tests, sources.settings)
    return ProjectRun((task.family, task.id), sample, Metric.PASS, key, False, project_id, path, rewrite, tests)


PLANNERS: Mapping[Family, Callable[[Task, str, Sources], Iterator[Run]]] = {
    Family.COMPLETION: _in_environment,
    Family.FUNCTION: _in_environment,
    Family.MIGRATION: _in_environment,
    Family.PROBLEM: _in_environment,
    Family.REPOSITORY_TASK: _repository_task,
    Family.SCENE: _scene,
}
