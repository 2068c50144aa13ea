"""The gate of editor scenes: rows with the text that is shown, the proof, licence and source of their project."""

from __future__ import annotations

from pipeline.core.errors import present
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.families.scenes.views import cut
from pipeline.index.licences import is_allowed
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import ProjectRow, PublishedSceneRow, SceneRow, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import Desk
from pipeline.quality.flags.flags import kinds_by_instance
from pipeline.quality.flags.reviews import Reviews


def scenes_gate_stage(
    tables: Tables,
    rules: QualityRules,
    mutation: MutationRules,
) -> Output:
    """Make the table `published_scenes` of a library; the unit is a scene.

    Refused are those of a project whose licence does not allow to pass its code on (LICENCE), those whose tests notice
    fewer mutants of the block than `mutation` wants (WEAK_TESTS; a block without any, such as a comment, is none of
    them), and those that a person rejected (REVIEWED_OUT) or a flag holds back (FLAGGED); the reference of every scene
    passed the tests when it was made.
    """
    of_project = {row["id"]: row for row in tables["projects"]}
    texts = {(row["project_id"], row["path"]): row["text"] for row in tables["project_files"]}
    desk = Desk(Reviews(tables["reviews"]), kinds_by_instance(tables["flags"]), {}, rules)
    rows, rejects = parted(
        guarded(
            tables["scenes"],
            lambda scene: str(scene["id"]),
            lambda scene: [
                _published(
                    scene, of_project[scene["project_id"]], texts[scene["project_id"], scene["path"]], desk, mutation
                )
            ],
        )
    )
    return Output({"published_scenes": rows}, len(tables["scenes"]), len(rows), rejects)


def _published(
    scene: SceneRow, project: ProjectRow, text: str, desk: Desk, mutation: MutationRules
) -> PublishedSceneRow | Reject:
    if project["licence"] is None or not is_allowed(project["licence"], desk.rules.licences):
        return Reject(scene["id"], RejectReason.LICENCE, project["licence"] or "no licence that can be read")
    if scene["mutants"] and (weak := too_weak(scene, Family.SCENE, mutation)):
        return weak
    reviewed = desk.of(Family.SCENE, scene)
    if refusal := reviewed.refusal():
        return refusal
    prefix, suffix, test_suffix = cut(scene, text)
    run_empty = scene["scene"] != Scene.COMPLETE_BLOCK and scene["block_type"] != BlockType.COMMENT
    return {
        **scene,
        "python": present(project["python"]),
        "lock_id": present(project["lock_id"]),
        "sdist": present(project["sdist"]),
        "sha256": present(project["sha256"]),
        "purl": project["purl"],
        "licence": project["licence"],
        "attribution": project["attribution"],
        "prefix": prefix,
        "suffix": suffix,
        "test_suffix": test_suffix,
        "evidence": Evidence.EXECUTED if run_empty else Evidence.STATIC,
        "origin": f"pypi:{project['project']}",
        "url": project["project_url"],
        "created_time": project["release_time"],
        **reviewed.columns(),
    }
