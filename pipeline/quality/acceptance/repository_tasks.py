"""The acceptance of repository tasks: rows with the proof, licence and source of their project."""

from __future__ import annotations

from pipeline.core.errors import present
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.lake.rows import ProjectRow, PublishedRepositoryTaskRow, RepositoryTaskRow, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, accepted


def repository_acceptance_stage(tables: Tables, rules: QualityRules, mutation: MutationRules) -> Output:
    """Make the table `published_repository_tasks` of a library; the unit is a task.

    Refused are those of a project whose licence does not allow to pass its code on (LICENCE), those whose tests notice
    fewer mutants of the body than `mutation` wants (WEAK_TESTS), and those that a person rejected (REVIEWED_OUT) or a
    flag holds back (FLAGGED); that the tests tell the body from none was seen when the task was made.
    """
    of_project = {row["id"]: row for row in tables["projects"]}
    reviews = LibraryReviews.of(tables, rules)
    return accepted(
        "published_repository_tasks",
        tables["repository_tasks"],
        lambda task: [_published(task, of_project[task["project_id"]], reviews, mutation)],
    )


def _published(
    task: RepositoryTaskRow, project: ProjectRow, reviews: LibraryReviews, mutation: MutationRules
) -> PublishedRepositoryTaskRow | Reject:
    if unlicensed := reviews.unlicensed(task["id"], project["licence"]):
        return unlicensed
    if weak := too_weak(task, Family.REPOSITORY_TASK, mutation):
        return weak
    reviewed = reviews.reviewed(Family.REPOSITORY_TASK, task)
    if refusal := reviewed.refusal():
        return refusal
    of_project = f"of the project {project['project']} ({project['id']})"
    return {
        **reviewed.row,
        "sdist": present(project["sdist"], f"the sdist {of_project}"),
        "sha256": present(project["sha256"], f"the sha256 {of_project}"),
        "purl": project["purl"],
        "licence": present(project["licence"], f"the licence {of_project}"),
        "attribution": project["attribution"],
        "evidence": Evidence.EXECUTED,
        "origin": f"pypi:{project['project']}",
        "url": project["project_url"],
        "created_time": project["release_time"],
        **reviewed.columns(),
    }
