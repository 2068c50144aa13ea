"""The tasks of a snapshot: rows that predictions can answer, and their groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, overload

import pyarrow.compute as pc

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet
from pipeline.evaluation.views import TaskView, no_row_after
from pipeline.families.all_families import BY_NAME
from pipeline.families.family import DISCRIMINATING, EnvironmentTable, InstanceFamily
from pipeline.lake.rows import (
    AnyRow,
    ApiDocumentRow,
    EnvironmentRow,
    ErratumRow,
    ProjectRow,
    RewriteRow,
    SnippetRow,
)
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot

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
    Facet.DISCRIMINATING: DISCRIMINATING,
    Facet.LANGUAGE: "language",
    Facet.SCENE: "scene",
    Facet.BLOCK_TYPE: "block_type",
    Facet.TYPE: "type",
}
"""The column that a facet is read from."""


Errata = Mapping[str, str]
"""What an erratum says of a row, by the id of the row."""


@dataclass(frozen=True, slots=True)
class Task:
    """A row that a prediction can answer, its groups, and what it is about: tasks of a cluster are not independent."""

    id: str
    family: Family
    row: AnyRow
    groups: tuple[tuple[Facet, str], ...]
    cluster: str = ""

    @property
    def right_answer(self) -> str:
        """The reference, without the hint that the prompt shows."""
        declared = BY_NAME[self.family]
        value = self.row[declared.reference]
        reference = value if isinstance(value, str) else ", ".join(value)
        return reference.removeprefix(self.row[declared.hint]) if declared.hint else reference


Tasks = Mapping[str, Mapping[Family, Task]]
"""The tasks of a snapshot by id; two families may share an id."""


def read_tasks(snapshot: Snapshot, facets: Iterable[Facet], running: bool = False) -> Tasks:
    """Read the tasks of all families of a snapshot.

    Errors: SnapshotError.
    """
    tasks: dict[str, dict[Family, Task]] = {}
    facets = tuple(facets)
    for family in Family:
        for task in _tasks(snapshot, family, facets, running):
            tasks.setdefault(task.id, {})[family] = task
    if not tasks:
        raise SnapshotError(
            f"{snapshot.folder}: no task of any family in it, so there is nothing to score against",
            code="snapshot_no_tasks",
        )
    return tasks


def tasks_in(tasks: Tasks, view: TaskView) -> Tasks:
    """Return the tasks that belong to a view.

    Errors: InputError where there are none.
    """
    inside: dict[str, dict[Family, Task]] = {}
    for of, by_family in tasks.items():
        for family, task in by_family.items():
            if view.has(BY_NAME[family], task.row):
                inside.setdefault(of, {})[family] = task
    if inside:
        return inside
    if view.cutoff:
        each = (BY_NAME[family].day_of(task.row) for by in tasks.values() for family, task in by.items())
        raise no_row_after(view, "any family", (day for day in each if day))
    raise InputError(f"no family has a row in the view {view}; choose another view", code="view_no_rows")


def _tasks(snapshot: Snapshot, family: Family, facets: Collection[Facet], running: bool) -> Iterator[Task]:
    declared = BY_NAME[family]
    needed = (declared.key, *declared.scoring, *(declared.running if running else ()))
    columns = {facet: declared.release_time if facet is Facet.YEAR else COLUMNS[facet] for facet in facets}
    others = (
        *columns.values(),
        DISCRIMINATING,
        *declared.dated_by,
        *declared.cluster,
        *([declared.reference] if running else []),
    )
    rows = rows_of(snapshot, declared.table, needed, others)
    if declared.view_of is not None:
        rows = _with_viewed(snapshot, declared, rows, facets)
    for row in rows:
        about = [str(row[column]) for column in declared.cluster if row.get(column)]
        yield Task(row[declared.key], family, row, tuple(_groups(row, family, columns)), " ".join(about))


def _with_viewed(
    snapshot: Snapshot, view: InstanceFamily, rows: Sequence[AnyRow], facets: Iterable[Facet]
) -> list[AnyRow]:
    """Add the tags, source, version and dates of the row behind each row of a view."""
    assert view.view_of is not None
    columns = [COLUMNS[facet] for facet in facets if facet is not Facet.GRANULARITY]
    columns += [DISCRIMINATING, *view.dated_by]
    viewed = rows_of(snapshot, BY_NAME[view.view_of].table, ("id", "path", "version"), columns) if rows else []
    by_id = {row["id"]: row for row in viewed}
    return [{**by_id.get(row[view.key], {}), **row} for row in rows]


def read_errata(snapshot: Snapshot) -> Errata:
    """Read the errata of rows that did not come back, the last one of each row.

    Errors: SnapshotError.
    """
    columns = ("row_id", "last_snapshot", "reason", "detail", "successor_id", "restored")
    rows = rows_of(snapshot, "errata", columns)
    return {
        row["row_id"]: f"{row['reason']} after {row['last_snapshot']}: {row['detail']}"
        + (f"; its successor is {row['successor_id']}" if row["successor_id"] else "")
        for row in sorted(rows, key=lambda row: row["last_snapshot"])
        if not row["restored"]
    }


@overload
def rows_of(
    snapshot: Snapshot,
    config: Literal["snippets", "rewrites"],
    needed: Collection[str],
    others: Iterable[str] = (),
    library: str | None = None,
) -> Sequence[SnippetRow | RewriteRow]: ...
@overload
def rows_of(
    snapshot: Snapshot,
    config: EnvironmentTable,
    needed: Collection[str],
    others: Iterable[str] = (),
    library: str | None = None,
) -> Sequence[EnvironmentRow]: ...
@overload
def rows_of(
    snapshot: Snapshot,
    config: Literal["projects"],
    needed: Collection[str],
    others: Iterable[str] = (),
    library: str | None = None,
) -> Sequence[ProjectRow]: ...
@overload
def rows_of(
    snapshot: Snapshot,
    config: Literal["api_documents"],
    needed: Collection[str],
    others: Iterable[str] = (),
    library: str | None = None,
) -> Sequence[ApiDocumentRow]: ...
@overload
def rows_of(
    snapshot: Snapshot,
    config: Literal["errata"],
    needed: Collection[str],
    others: Iterable[str] = (),
    library: str | None = None,
) -> Sequence[ErratumRow]: ...
@overload
def rows_of(
    snapshot: Snapshot, config: str, needed: Collection[str], others: Iterable[str] = (), library: str | None = None
) -> Sequence[AnyRow]: ...
def rows_of(
    snapshot: Snapshot, config: str, needed: Collection[str], others: Iterable[str] = (), library: str | None = None
) -> Sequence[Any]:
    """Read the needed columns of a table, and the others as far as it has them; [] where the snapshot lacks the table.

    `library` restricts the rows to one library.

    Errors: SnapshotError.
    """
    if not snapshot.has(config):
        return []
    there = snapshot.columns(config)
    columns = dict.fromkeys([*needed, *(name for name in others if name in there)])
    return snapshot.rows(config, columns, pc.field("library") == library if library else None)


def _groups(row: AnyRow, family: Family, columns: Mapping[Facet, str]) -> Iterator[tuple[Facet, str]]:
    yield Facet.FAMILY, family
    for facet, column in columns.items():
        value = row.get(column)
        if isinstance(value, datetime):
            yield facet, f"{value:%Y}"
        elif isinstance(value, bool):
            yield facet, str(value).lower()
        elif value is not None:
            yield facet, str(value)
