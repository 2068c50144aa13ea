"""The families that ask for an expression: at a cursor in code, and from the documentation of one version."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.families.family import (
    DESCRIPTION,
    TAGS,
    DescribedBy,
    Hidden,
    InstanceFamily,
    Pane,
    Probed,
    Proof,
    Proofs,
)
from pipeline.lake.rows import PublishedControlledCompletionRow


def _controlled(row: PublishedControlledCompletionRow) -> Iterator[Proof]:
    yield Probed(row["lock_id"], row["path"])


CONTEXTS = InstanceFamily(
    name=Family.CONTEXT,
    stages=("contexts",),
    needs=("published_completions",),
    advice=("the retrievers found no context", "see curation_rules/contexts.yaml"),
    reference="reference_call",
    hint="hint",
    setting="libevolutioneval-version-aware-instruction",
    metric=Metric.API_F1,
    scoring=("hint", "reference_call", "right_context_few_lines"),
    view_of=Family.COMPLETION,
    key="completion_id",
    hidden=Hidden("core_token", ("imports", "left_context", "hint", "right_context", "query")),
    retrieves=True,
)

CONTROLLED_COMPLETIONS = InstanceFamily(
    name=Family.CONTROLLED,
    stages=("controlled", "controlled_acceptance"),
    needs=("api_documents",),
    advice=("no documented API could be asked for", "see curation_rules/contexts.yaml"),
    reference="reference_call",
    hint="hint",
    setting="libevolutioneval-controlled-version-aware",
    metric=Metric.API_F1,
    scoring=("hint", "reference_call", "document_id"),
    place=("library", "path", "version"),
    question=("library", "version", "description", "left_context", "hint", "reference_call"),
    hidden=Hidden("core_token", ("left_context", "hint", "description")),
    judged=("version", "path", "left_context", "hint", "reference_call", *TAGS),
    edited=(DESCRIPTION, "left_context", *TAGS),
    panes=(Pane("left_context", "Prompt"), Pane("hint", "Hint"), Pane("reference_call", "Answer")),
    described_by=DescribedBy.ROW,
    dated_by=("release_time",),  # a template writes the prompt, which stands nowhere else
    proofs=Proofs(("path", "lock_id"), _controlled),
    retrieves=True,
)
