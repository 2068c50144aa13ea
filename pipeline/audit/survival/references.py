"""What proved the rows of a snapshot, as runs: the code, the tests or the probe of each, and where it ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipeline.core.vocabularies.scores import Family, Metric
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun, Run
from pipeline.evaluation.scores.tasks import rows_of
from pipeline.execution.validation.cases import Case
from pipeline.lake.ids import content_id
from pipeline.lake.schema import Row
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot

Place = tuple[str, bool]
"""Where something runs: the id of a lock, or that of a project (True)."""


@dataclass(frozen=True, slots=True)
class ProbeRun(Run):
    """A probe of an API path in the environment of a lock."""

    lock_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A published row that was executed, and the runs that must pass for it to survive.

    The first run is where the row's own version is; `lacking` says what of the snapshot is missing to run it.
    """

    family: Family
    id: str
    library: str
    version: str
    runs: tuple[Run, ...]
    lacking: str | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """Where its runs take place, each once."""
        return tuple(dict.fromkeys(place_of(run) for run in self.runs))

    @property
    def probed(self) -> bool:
        """Whether a probe stands for it, and no code is run."""
        return any(isinstance(run, ProbeRun) for run in self.runs)


def place_of(run: Run) -> Place:
    """Return where a run takes place."""
    if isinstance(run, ProjectRun):
        return run.project_id, True
    if isinstance(run, (CaseRun, ProbeRun)):
        return run.lock_id, False
    raise TypeError(f"no place for a {type(run).__name__}")


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The table of a family: what is read of it, and how its rows become runs."""

    file: str
    columns: tuple[str, ...]
    runs: Callable[[Row, Sources], Iterator[Run]]
    version: str = "version"


def read_references(snapshot: Snapshot, library: str, settings: Any) -> tuple[list[Reference], Sources]:
    """Return what of a library's published rows can be run again, with what the snapshot holds to do so.

    Left out are families of which nothing is run: block completions, and contexts, which are views of completions.

    Errors: SnapshotError.
    """
    sources = Sources.read(snapshot, settings, library)
    return [_reference(family, row, sources) for family, row in _rows(snapshot, library)], sources


def _rows(snapshot: Snapshot, library: str) -> Iterator[tuple[Family, Row]]:
    for family, shelf in _SHELVES.items():
        columns = ("id", "library", shelf.version, *shelf.columns)
        for row in rows_of(snapshot, shelf.file, columns, library=library):
            yield family, row


def _reference(family: Family, row: Row, sources: Sources) -> Reference:
    shelf = _SHELVES[family]
    runs, lacking = [], None
    try:
        runs = [replace(run, answered=(family, row["id"])) for run in shelf.runs(row, sources)]
    except SnapshotError as error:
        lacking = str(error)
    return Reference(family, row["id"], row["library"], row[shelf.version], tuple(runs), lacking)


def _completion(row: Row, sources: Sources) -> Iterator[Run]:
    if row["reference_outcome"] is None:
        # Part of a project: its proof was a probe of the API.
        yield _probe(row["lock_id"], row["path"])
    else:
        yield _example(row["snippet_id"], row["lock_id"], sources)


def _controlled(row: Row, sources: Sources) -> Iterator[Run]:
    yield _probe(row["lock_id"], row["path"])


def _migration(row: Row, sources: Sources) -> Iterator[Run]:
    yield _example(row["target_rewrite_id"] or row["target_snippet_id"], row["target_lock_id"], sources)
    yield _example(row["source_rewrite_id"] or row["snippet_id"], row["lock_id"], sources)


def _problem(row: Row, sources: Sources) -> Iterator[Run]:
    program = row["starting_code"] + row["solution"]
    yield _case(row["lock_id"], Case("", "", program, test_file=row["hidden_tests"], module=row["module"]), sources)
    yield _case(row["lock_id"], Case("", "", program, test=row["test"]), sources)


def _function(row: Row, sources: Sources) -> Iterator[Run]:
    yield _case(row["lock_id"], Case("", "", row["code"], test_file=row["tests"], module=row["module"]), sources)


def _repository_task(row: Row, sources: Sources) -> Iterator[Run]:
    yield _tests(row, row["tests"], sources)


def _scene(row: Row, sources: Sources) -> Iterator[Run]:
    yield _tests(row, row["unit_test_ids"], sources)


def _example(of: str, lock_id: str, sources: Sources) -> Run:
    """Return the run of an example, as validation runs it."""
    row = sources.example(of)
    return _case(lock_id, Case("", row["preamble"], row["code"], tuple(row["checks"])), sources)


def _case(lock_id: str, case: Case, sources: Sources) -> Run:
    names = sources.environments.get(lock_id, {}).get("import_names", ())
    named = replace(case, import_names=tuple(names))
    key = content_id(lock_id, asdict(named), sources.settings)
    return CaseRun(_NOBODY, "", Metric.PASS, key, False, lock_id, replace(named, id=key))


def _probe(lock_id: str, path: str) -> Run:
    return ProbeRun(_NOBODY, "", Metric.PASS, content_id("probe", lock_id, path), False, lock_id, path)


def _tests(row: Row, tests: Sequence[str], sources: Sources) -> Run:
    """Return the run of tests on the project as it is: what is to be written stands in its files."""
    project = sources.projects.get(row["project_id"], {})
    key = content_id(row["project_id"], project.get("lock_id"), project.get("sha256"), tests, sources.settings)
    return ProjectRun(_NOBODY, "", Metric.PASS, key, False, row["project_id"], row["path"], _as_it_is, tests)


def _as_it_is(text: str) -> str:
    return text


_NOBODY = (Family.COMPLETION, "")
_SHELVES: Mapping[Family, _Shelf] = {
    Family.COMPLETION: _Shelf("completions", ("path", "snippet_id", "reference_outcome", "lock_id"), _completion),
    Family.CONTROLLED: _Shelf("controlled_completions", ("path", "lock_id"), _controlled),
    Family.FUNCTION: _Shelf("functions", ("code", "tests", "module", "lock_id"), _function),
    Family.MIGRATION: _Shelf(
        "migrations",
        ("snippet_id", "target_snippet_id", "lock_id", "target_lock_id", "source_rewrite_id", "target_rewrite_id"),
        _migration,
        "target_version",
    ),
    Family.PROBLEM: _Shelf(
        "problems", ("starting_code", "solution", "test", "hidden_tests", "module", "lock_id"), _problem
    ),
    Family.REPOSITORY_TASK: _Shelf("repository_tasks", ("project_id", "path", "tests"), _repository_task),
    Family.SCENE: _Shelf("scenes", ("project_id", "path", "unit_test_ids"), _scene),
}
