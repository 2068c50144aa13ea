"""The gate of repository tasks: rows with the proof, licence and source of their project."""

from __future__ import annotations

from pipeline.core.errors import present
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.index.licences import is_allowed
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import ProjectRow, PublishedRepositoryTaskRow, RepositoryTaskRow, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import Desk
from pipeline.quality.flags.flags import kinds_by_instance
from pipeline.quality.flags.reviews import Reviews


def repository_gate_stage(
    tables: Tables,
    rules: QualityRules,
    mutation: MutationRules,
) -> Output:
    """Make the table `published_repository_tasks` of a library; the unit is a task.

    Refused are those of a project whose licence does not allow to pass its code on (LICENCE), those whose tests notice
    fewer mutants of the body than `mutation` wants (WEAK_TESTS), and those that a person rejected (REVIEWED_OUT) or a
    flag holds back (FLAGGED); that the tests tell the body from none was seen when the task was made.
    """
    of_project = {row["id"]: row for row in tables["projects"]}
    desk = Desk(Reviews(tables["reviews"]), kinds_by_instance(tables["flags"]), {}, rules)
    rows, rejects = parted(
        guarded(
            tables["repository_tasks"],
            lambda task: str(task["id"]),
            lambda task: [_published(task, of_project[task["project_id"]], desk, mutation)],
        )
    )
    return Output({"published_repository_tasks": rows}, len(rows) + len(rejects), len(rows), rejects)


def _published(
    task: RepositoryTaskRow, project: ProjectRow, desk: Desk, mutation: MutationRules
) -> PublishedRepositoryTaskRow | Reject:
    licence = project["licence"]
    if licence is None or not is_allowed(licence, desk.rules.licences):
        return Reject(task["id"], RejectReason.LICENCE, licence or "no licence that can be read")
    if weak := too_weak(task, Family.REPOSITORY_TASK, mutation):
        return weak
    reviewed = desk.of(Family.REPOSITORY_TASK, task)
    if refusal := reviewed.refusal():
        return refusal
    return {
        **reviewed.row,
        "sdist": present(project["sdist"]),
        "sha256": present(project["sha256"]),
        "purl": project["purl"],
        "licence": licence,
        "attribution": project["attribution"],
        "evidence": Evidence.EXECUTED,
        "origin": f"pypi:{project['project']}",
        "url": project["project_url"],
        "created_time": project["release_time"],
        **reviewed.columns(),
    }
