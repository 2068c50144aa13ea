"""The acceptance of editor scenes: rows with the text before and after, and the proof and source of their project."""

from __future__ import annotations

from pipeline.core.errors import present
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.families.scenes.views import cut
from pipeline.lake.rows import ProjectRow, PublishedSceneRow, SceneRow, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, accepted


def scenes_acceptance_stage(tables: Tables, rules: QualityRules, mutation: MutationRules) -> Output:
    """Make the table `published_scenes` of a library; the unit is a scene.

    Refused are those of a project whose licence does not allow to pass its code on (LICENCE), those whose tests notice
    fewer mutants of the block than `mutation` wants, or of which there are none (WEAK_TESTS), and those that a person
    rejected (REVIEWED_OUT) or a flag holds back (FLAGGED); the reference of every scene passed the tests when it was
    made.
    """
    of_project = {row["id"]: row for row in tables["projects"]}
    texts = {(row["project_id"], row["path"]): row["text"] for row in tables["project_files"]}
    reviews = LibraryReviews.of(tables, rules)

    def publish(scene: SceneRow) -> list[PublishedSceneRow | Reject]:
        project, text = of_project[scene["project_id"]], texts[scene["project_id"], scene["path"]]
        return [_published(scene, project, text, reviews, mutation)]

    return accepted("published_scenes", tables["scenes"], publish)


def _published(
    scene: SceneRow, project: ProjectRow, text: str, reviews: LibraryReviews, mutation: MutationRules
) -> PublishedSceneRow | Reject:
    if unlicensed := reviews.unlicensed(scene["id"], project["licence"]):
        return unlicensed
    if weak := too_weak(scene, Family.SCENE, mutation):
        return weak
    reviewed = reviews.reviewed(Family.SCENE, scene)
    if refusal := reviewed.refusal():
        return refusal
    prefix, suffix, test_suffix = cut(scene, text)
    of_project = f"of the project {project['project']} ({project['id']})"
    return {
        **scene,
        "python": present(project["python"], f"the python {of_project}"),
        "lock_id": present(project["lock_id"], f"the lock_id {of_project}"),
        "sdist": present(project["sdist"], f"the sdist {of_project}"),
        "sha256": present(project["sha256"], f"the sha256 {of_project}"),
        "purl": project["purl"],
        "licence": present(project["licence"], f"the licence {of_project}"),
        "attribution": project["attribution"],
        "prefix": prefix,
        "suffix": suffix,
        "test_suffix": test_suffix,
        "evidence": Evidence.EXECUTED,
        "origin": f"pypi:{project['project']}",
        "url": project["project_url"],
        "created_time": project["release_time"],
        **reviewed.columns(),
    }
