"""The family of scenes: a block of a function of a real project, at a cursor."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet
from pipeline.families.family import InstanceFamily, Pane, ProjectTests, Proof, Proofs
from pipeline.lake.rows import PublishedSceneRow


def _scene(row: PublishedSceneRow) -> Iterator[Proof]:
    yield ProjectTests(row["project_id"], row["path"], tuple(row["unit_test_ids"]))


SCENES = InstanceFamily(
    name=Family.SCENE,
    stages=("scenes", "scenes_acceptance"),
    needs=("traced_functions",),
    advice=("no function that tests reach could be taken", "see curation_rules/scenes.yaml"),
    reference="middle",
    setting="codevbench-instruction",
    scoring=("project_id",),
    running=("path", "lock_id", "unit_test_ids", "prefix", "suffix", "test_suffix", "block_type"),
    place=("library", "project", "version", "path", "namespace", "block_type", "scene"),
    cluster=("library", "project", "path", "namespace"),
    question=("project_id", "prefix", "middle", "suffix"),
    judged=("version", "scene", "block_key", "middle", "unit_test_ids"),
    edited=(),
    panes=(
        Pane("contexts_above", "File above the cursor"),
        Pane("middle", "What is to be written"),
        Pane("contexts_below", "File below the cursor"),
    ),
    environments=None,
    release_time="created_time",  # the upload of the project's release
    dated_by=("created_time",),
    proofs=Proofs(("project_id", "path", "unit_test_ids"), _scene),
    verbatim=True,
    apart=Facet.SCENE,
)
