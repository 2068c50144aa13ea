"""Rebuild tasks and scenes of projects from their source distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pipeline.audit.rebuild.context import RebuildContext
from pipeline.audit.rebuild.outcome import NotRebuilt, NotReproduced, RebuiltRow, of_id
from pipeline.core.vocabularies.projects import RequirementBasis, TestOutcome
from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.execution.mutation.score import SCORED, MutationScore
from pipeline.families.repository_tasks.tasks import Candidate, candidate, task_row
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import (
    AnyRow,
    ProjectFileRow,
    ProjectRow,
    PublishedRepositoryTaskRow,
    PublishedSceneRow,
    R,
    SceneRow,
)
from pipeline.lake.schema import table
from pipeline.quality.acceptance.repository_tasks import repository_acceptance_stage
from pipeline.quality.acceptance.scenes import scenes_acceptance_stage

_Published = PublishedRepositoryTaskRow | PublishedSceneRow


def repository_task(context: RebuildContext, row: PublishedRepositoryTaskRow) -> RebuiltRow:
    """Cut a task out of its file again, with its recorded tests and their coverage."""
    if row["requirement_basis"] == RequirementBasis.MODEL:
        raise NotRebuilt("a model wrote the requirement", code="rebuild_by_model")
    project, text = _file(context, row)
    function = _row(context.tables["traced_functions"], "traced_functions", row["function_id"])
    task_candidate = candidate(function, text.split("\n"), _reached(context, row), context.rules.repository)
    if not isinstance(task_candidate, Candidate):
        raise NotReproduced(f"{task_candidate.reason}: {task_candidate.detail}")
    score = MutationScore(row["mutants"], row["mutants_killed"], row["mutants_equivalent"])
    task = task_row(project, task_candidate, tuple(row["tests"]), TestOutcome(row["emptied_outcome"]), score)
    rules = context.rules.quality.model_copy(update={"hold_back": frozenset()})
    accepted = repository_acceptance_stage(
        {"repository_tasks": [task], "projects": [project], "flags": context.flags, "reviews": []},
        rules,
        context.rules.mutation,
    )
    published = of_id(accepted.tables["published_repository_tasks"], row["id"], accepted.rejects)
    excluded = {"tests", "emptied_outcome", "reference_outcome", *SCORED, *_judged(row)}
    return RebuiltRow(published, frozenset(excluded), "the choice of its tests comes from runs")


def scene(context: RebuildContext, row: PublishedSceneRow) -> RebuiltRow:
    """Cut a scene out of its file again, at its recorded characters."""
    project, text = _file(context, row)
    columns: AnyRow = row
    own = {column.name: columns[column.name] for column in table("scenes").columns}
    original = cast("SceneRow", own | {"middle": text[row["middle_start"] : row["middle_end"]]})
    file: ProjectFileRow = {
        "project_id": row["project_id"],
        "library": row["library"],
        "path": row["path"],
        "sha256": sha256_text(text),
        "text": text,
    }
    rules = context.rules.quality.model_copy(update={"hold_back": frozenset()})
    accepted = scenes_acceptance_stage(
        {"scenes": [original], "projects": [project], "project_files": [file], "flags": context.flags, "reviews": []},
        rules,
        context.rules.mutation,
    )
    published = of_id(accepted.tables["published_scenes"], row["id"], accepted.rejects)
    excluded = {"tests_reaching", "noticed_by", "wrong_answer", "related", "unit_test_ids", *SCORED}
    excluded |= _judged(row)
    return RebuiltRow(published, frozenset(excluded), "the results of tests come from runs")


def _judged(row: _Published) -> set[str]:
    """Return the columns that a person decided."""
    if row["review_status"] == ReviewStatus.EDITED:
        raise NotRebuilt("a person edited it; edits are in the review database", code="rebuild_by_person")
    return {"review_status"} if row["review_status"] == ReviewStatus.ACCEPTED else set()


def _row(rows: Sequence[R], config: str, row_id: str) -> R:
    for row in rows:
        if row["id"] == row_id:
            return row
    raise LookupError(f"{config} of the snapshot has no row {row_id}")


def _file(context: RebuildContext, row: _Published) -> tuple[ProjectRow, str]:
    """Return the project of a row, and the text of the row's file in the project's source distribution."""
    project = _row(context.tables["projects"], "projects", row["project_id"])
    tree = context.tree(project["project"], project["version"], row["sha256"])
    text = tree.text(row["path"]) if row["path"] in tree.files else None
    if text is None:
        raise NotReproduced(f"the source distribution has no {row['path']}, or not as text")
    return project, text


def _reached(context: RebuildContext, row: PublishedRepositoryTaskRow) -> Mapping[str, frozenset[int]]:
    line_coverage = (reach for reach in context.tables["line_coverage"] if reach["function_id"] == row["function_id"])
    return {reach["test"]: frozenset(reach["lines"]) for reach in line_coverage}
