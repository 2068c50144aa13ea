"""The tasks of a snapshot: which rows of which table a prediction can answer, and by what they are grouped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from pipeline.core.vocabularies.scores import Facet, Family
from pipeline.evaluation.export.codevbench import is_unnoticed
from pipeline.lake.schema import Row
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the tasks of a family stand: the file of a snapshot, the column with their id, and what scoring reads.

    `running` is what Pass@k reads beside that.
    """

    file: str
    key: str
    scoring: tuple[str, ...]
    running: tuple[str, ...] = ()


SHELVES: Mapping[Family, Shelf] = {
    Family.COMPLETION: Shelf(
        "completions",
        "id",
        ("granularity", "answer", "core_token", "masked_code"),
        ("code", "snippet_id", "reference_outcome", "lock_id"),
    ),
    Family.CONTEXT: Shelf("contexts", "completion_id", ("hint", "reference_call", "right_context_few_lines")),
    Family.CONTROLLED: Shelf("controlled_completions", "id", ("hint", "reference_call", "document_id")),
    Family.BLOCK_COMPLETION: Shelf("block_completions", "id", ("answer", "core_token")),
    Family.FUNCTION: Shelf(
        "functions",
        "id",
        ("granularity", "answer", "core_token", "masked_code"),
        ("tests", "module", "lock_id"),
    ),
    Family.MIGRATION: Shelf(
        "migrations",
        "id",
        ("target_code", "target_name"),
        ("target_snippet_id", "target_lock_id", "target_rewrite_id"),
    ),
    Family.PROBLEM: Shelf(
        "problems",
        "id",
        ("api_calls", "starting_code", "solution"),
        ("test", "hidden_tests", "module", "lock_id"),
    ),
    Family.REPOSITORY_TASK: Shelf(
        "repository_tasks",
        "id",
        ("intra_class", "intra_file", "cross_file", "reference"),
        ("project_id", "path", "lock_id", "tests", "body_first_line", "body_last_line"),
    ),
    Family.SCENE: Shelf(
        "scenes",
        "id",
        ("project_id", "discriminating"),
        ("path", "lock_id", "unit_test_ids", "prefix", "test_suffix"),
    ),
}
"""Where each family stands."""

COLUMNS: Mapping[Facet, str] = {
    Facet.LIBRARY: "library",
    Facet.GRANULARITY: "granularity",
    Facet.SOURCE: "source",
    Facet.TAG: "libevolutioneval_tag",
    Facet.LIFECYCLE: "versicode_tag",
    Facet.ACCESS: "access",
    Facet.YEAR: "release_time",
    Facet.DIRECTION: "direction",
    Facet.PATTERN: "pattern",
    Facet.BASIS: "basis",
    Facet.CATEGORY: "category",
    Facet.DISCRIMINATING: "discriminating",
    Facet.LANGUAGE: "language",
    Facet.SCENE: "scene",
    Facet.BLOCK_TYPE: "block_type",
    Facet.TYPE: "type",
}
"""The column that a facet is read from."""

_OF_TARGET = {Facet.YEAR: "target_release_time"}
"""The same for migrations, where it differs: their reference is right for the target."""


@dataclass(frozen=True, slots=True)
class Task:
    """A row that can be answered, and the groups that it belongs to."""

    id: str
    family: Family
    row: Row
    groups: tuple[tuple[Facet, str], ...]

    @property
    def is_unnoticed(self) -> bool:
        """Whether its tests pass with an empty answer, so that a run says nothing about any other."""
        return self.family is Family.SCENE and is_unnoticed(self.row)


Tasks = Mapping[str, Mapping[Family, Task]]
"""The tasks of a snapshot by id; two families may share an id."""


def read_tasks(snapshot: Snapshot, facets: Iterable[Facet], running: bool = False) -> Tasks:
    """Read the tasks of a snapshot; families that it does not have are passed over.

    Errors: SnapshotError.
    """
    found: dict[str, dict[Family, Task]] = {}
    facets = tuple(facets)
    for family in SHELVES:
        for task in _tasks(snapshot, family, facets, running):
            found.setdefault(task.id, {})[family] = task
    if not found:
        raise SnapshotError(f"{snapshot.folder}: no task of any family in it, so there is nothing to score against")
    return found


def _tasks(snapshot: Snapshot, family: Family, facets: Collection[Facet], running: bool) -> Iterator[Task]:
    shelf = SHELVES[family]
    needed = (shelf.key, *shelf.scoring, *(shelf.running if running else ()))
    columns = _columns(family, facets)
    rows = rows_of(snapshot, shelf.file, needed, columns.values())
    if family is Family.CONTEXT:
        rows = _with_completions(snapshot, rows, facets)
    if family is Family.SCENE and Facet.YEAR in facets:
        rows = _with_projects(snapshot, rows)
    for row in rows:
        yield Task(row[shelf.key], family, row, tuple(_groups(row, family, columns)))


def _columns(family: Family, facets: Iterable[Facet]) -> Mapping[Facet, str]:
    own = {**COLUMNS, **_OF_TARGET} if family is Family.MIGRATION else COLUMNS
    return {facet: own[facet] for facet in facets}


def _with_projects(snapshot: Snapshot, scenes: list[Row]) -> list[Row]:
    """Add the time of the release that a scene is of."""
    projects = rows_of(snapshot, "projects", ("id",), [COLUMNS[Facet.YEAR]]) if scenes else []
    times = {row["id"]: row.get(COLUMNS[Facet.YEAR]) for row in projects}
    return [row | {COLUMNS[Facet.YEAR]: times.get(row["project_id"])} for row in scenes]


def _with_completions(snapshot: Snapshot, contexts: list[Row], facets: Iterable[Facet]) -> list[Row]:
    """Add the tags, source and version of the completion that a context belongs to."""
    columns = [COLUMNS[facet] for facet in facets if facet is not Facet.GRANULARITY]
    rows = rows_of(snapshot, "completions", ("id", "path", "version"), columns) if contexts else []
    by_id = {row["id"]: row for row in rows}
    return [by_id.get(row["completion_id"], {}) | row for row in contexts]


def rows_of(
    snapshot: Snapshot, config: str, needed: Collection[str], others: Iterable[str] = (), library: str | None = None
) -> list[Row]:
    """Read columns of a table: those needed, and of the others those that it has; [] where there is no such table.

    All rows, or those of one library.

    Errors: SnapshotError.
    """
    if not snapshot.has(config):
        return []
    there = snapshot.columns(config)
    columns = dict.fromkeys([*needed, *(name for name in others if name in there)])
    return snapshot.rows(config, columns, pc.field("library") == library if library else None)


def _groups(row: Row, family: Family, columns: Mapping[Facet, str]) -> Iterator[tuple[Facet, str]]:
    yield Facet.FAMILY, family
    for facet, column in columns.items():
        value = row.get(column)
        if isinstance(value, datetime):
            yield facet, f"{value:%Y}"
        elif isinstance(value, bool):
            yield facet, str(value).lower()
        elif value is not None:
            yield facet, str(value)
