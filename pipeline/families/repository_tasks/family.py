"""The family of repository tasks: a function of a real project without its body."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.families.family import InstanceFamily, Pane, ProjectTests, Proof, Proofs
from pipeline.lake.rows import PublishedRepositoryTaskRow


def _repository_task(row: PublishedRepositoryTaskRow) -> Iterator[Proof]:
    yield ProjectTests(row["project_id"], row["path"], tuple(row["tests"]))


REPOSITORY_TASKS = InstanceFamily(
    name=Family.REPOSITORY_TASK,
    stages=("repository_tasks", "repository_acceptance"),
    needs=("traced_functions",),
    advice=("no function that tests reach could be taken", "see curation_rules/repository.yaml"),
    reference="reference",
    setting="evocodebench-local-infilling",
    scoring=("intra_class", "intra_file", "cross_file", "reference"),
    running=("project_id", "path", "lock_id", "tests", "body_first_line", "body_last_line"),
    place=("library", "project", "version", "path", "namespace"),
    cluster=("library", "project", "path", "namespace"),
    question=("project_id", "input_code", "reference"),
    judged=("version", "namespace", "functionality", "arguments", "reference", "tests"),
    edited=("functionality", "arguments"),
    panes=(
        Pane("functionality", "What it is to do", "text"),
        Pane("arguments", "Arguments and result", "text"),
        Pane("input_code", "Signature with the requirement"),
        Pane("reference", "Reference"),
        Pane("contexts_above", "File above"),
        Pane("contexts_below", "File below"),
    ),
    environments=None,
    proofs=Proofs(("project_id", "path", "tests"), _repository_task),
)
