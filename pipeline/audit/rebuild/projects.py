"""Tasks and scenes of projects made again from the source distribution that they say they stand in."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.audit.rebuild.context import World
from pipeline.audit.rebuild.outcome import Made, NotMade, NotRebuilt, of_id
from pipeline.core.vocabularies.projects import RequirementBasis, TestOutcome
from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.execution.mutation.score import SCORED, MutationScore
from pipeline.families.repository_tasks.tasks import Candidate, candidate, task_row
from pipeline.lake.rows import AnyRow, PublishedRepositoryTaskRow, PublishedSceneRow
from pipeline.lake.schema import Row, table
from pipeline.quality.acceptance.repository_tasks import repository_gate_stage
from pipeline.quality.acceptance.scenes import scenes_gate_stage


def repository_task(world: World, row: PublishedRepositoryTaskRow) -> Made:
    """Cut a task out of its file again, with the tests that it says judge it, and what they reach."""
    if row["requirement_basis"] == RequirementBasis.MODEL:
        raise NotRebuilt("a model wrote the requirement")
    project, text = _file(world, row)
    function = _row(world, "traced_functions", row["function_id"])
    made = candidate(function, text.split("\n"), _reached(world, row), world.rules.repository)
    if not isinstance(made, Candidate):
        raise NotMade(f"{made.reason}: {made.detail}")
    score = MutationScore(row["mutants"], row["mutants_killed"], row["mutants_equivalent"])
    task = task_row(project, made, tuple(row["tests"]), TestOutcome(row["emptied_outcome"]), score)
    rules = world.rules.quality.model_copy(update={"hold_back": frozenset()})
    gated = repository_gate_stage(
        {"repository_tasks": [task], "projects": [project], "flags": world.flags, "reviews": []},
        rules,
        world.rules.mutation,
    )
    published = of_id(gated.tables["published_repository_tasks"], row["id"], gated.rejects)
    given = {"tests", "emptied_outcome", "reference_outcome", *SCORED, *_judged(row)}
    return Made(published, frozenset(given), "which tests judge it is what running them gave")


def scene(world: World, row: PublishedSceneRow) -> Made:
    """Cut a scene out of its file again, at the characters that it says."""
    project, text = _file(world, row)
    columns: AnyRow = row
    original: Row = {column.name: columns[column.name] for column in table("scenes").columns}
    original["middle"] = text[row["middle_start"] : row["middle_end"]]
    file: Row = {"project_id": row["project_id"], "path": row["path"], "text": text}
    rules = world.rules.quality.model_copy(update={"hold_back": frozenset()})
    gated = scenes_gate_stage(
        {"scenes": [original], "projects": [project], "project_files": [file], "flags": world.flags, "reviews": []},
        rules,
        world.rules.mutation,
    )
    published = of_id(gated.tables["published_scenes"], row["id"], gated.rejects)
    given = {"tests_reaching", "noticed_by", "discriminating", "emptied", "related", "unit_test_ids", *SCORED}
    given |= _judged(row)
    return Made(published, frozenset(given), "what tests noticed is what running them gave")


def _judged(row: Row) -> set[str]:
    """Return the columns that a person decided."""
    if row["review_status"] == ReviewStatus.EDITED:
        raise NotRebuilt("a person edited it; what they wrote is in the review database")
    return {"review_status"} if row["review_status"] == ReviewStatus.ACCEPTED else set()


def _row(world: World, config: str, row_id: str) -> Row:
    for row in world.rows(config):
        if row["id"] == row_id:
            return row
    raise LookupError(f"{config} of the snapshot has no row {row_id}")


def _file(world: World, row: Row) -> tuple[Row, str]:
    """Return the project of a row, and the text of the row's file in the project's source distribution."""
    project = _row(world, "projects", row["project_id"])
    tree = world.tree(project["project"], project["version"], row["sha256"])
    text = tree.text(row["path"]) if row["path"] in tree.files else None
    if text is None:
        raise NotMade(f"the source distribution has no {row['path']}, or not as text")
    return project, text


def _reached(world: World, row: Row) -> Mapping[str, frozenset[int]]:
    reaches = (one for one in world.rows("reaches") if one["function_id"] == row["function_id"])
    return {one["test"]: frozenset(one["lines"]) for one in reaches}
