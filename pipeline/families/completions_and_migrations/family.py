"""The families that are made from examples: completions, migrations, and blocks of other languages."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.families.family import (
    CODE_OF_OTHERS,
    DESCRIPTION,
    PLACE_OF_CODE,
    TAGS,
    DescribedBy,
    Example,
    Hidden,
    InstanceFamily,
    Pane,
    Probed,
    Proof,
    Proofs,
)
from pipeline.lake.rows import PublishedCompletionRow, PublishedMigrationRow

_MASKED = (
    Pane("code", "Code, what is hidden marked"),
    Pane("masked_code", "Code as it is shown, with masks"),
    Pane("answer", "Answer"),
)


def _completion(row: PublishedCompletionRow) -> Iterator[Proof]:
    if row["reference_outcome"] is None:
        # Part of a project: its proof was a probe of the API.
        yield Probed(row["lock_id"], row["path"])
    else:
        yield Example(row["snippet_id"], row["lock_id"])


def _migration(row: PublishedMigrationRow) -> Iterator[Proof]:
    yield Example(row["target_rewrite_id"] or row["target_snippet_id"], row["target_lock_id"])
    yield Example(row["source_rewrite_id"] or row["snippet_id"], row["lock_id"])


COMPLETIONS = InstanceFamily(
    name=Family.COMPLETION,
    stages=("instances", "other_answers", "acceptance"),
    needs=("usages",),
    advice=("no use could be masked", "see the limits in curation_rules/masking.yaml"),
    reference="answer",
    setting="versicode-completion",
    scoring=("granularity", "answer", "core_token", "masked_code"),
    running=("code", "snippet_id", "reference_outcome", "lock_id"),
    place=(*PLACE_OF_CODE, "granularity"),
    question=("library", "version", "description", "masked_code", "answer"),
    hidden=Hidden("core_token", ("masked_code", "description")),
    judged=("version", "path", "code", "masked_code", "answer", "core_token", *TAGS),
    edited=(DESCRIPTION, "masked_code", "answer", "version", *TAGS),
    panes=_MASKED,
    described_by=DescribedBy.DRAFT,
    tags_proved=True,
    proofs=Proofs(("path", "snippet_id", "reference_outcome", "lock_id"), _completion),
    apart=Facet.GRANULARITY,
)

MIGRATIONS = InstanceFamily(
    name=Family.MIGRATION,
    stages=("instances", "model_migrations", "mutation_scores", "acceptance"),
    needs=("usages", "changes"),
    advice=("no example uses an API that changed", CODE_OF_OTHERS),
    reference="target_code",
    setting="versicode-migration",
    scoring=("source_code", "target_code", "target_name", "target_path"),
    running=("target_snippet_id", "target_lock_id", "target_rewrite_id"),
    place=(*PLACE_OF_CODE, "target_path", "target_version"),
    question=("library", "version", "target_version", "description", "source_code", "target_code"),
    judged=("version", "target_version", "path", "target_path", "source_code", "target_code", *TAGS),
    edited=(DESCRIPTION, "source_code", "target_code", *TAGS),
    panes=(Pane("source_code", "Code to migrate"), Pane("target_code", "Code after migration")),
    compared=("source_code", "target_code"),
    described_by=DescribedBy.DRAFT,
    tags_proved=True,
    proofs=Proofs(
        ("snippet_id", "target_snippet_id", "lock_id", "target_lock_id", "source_rewrite_id", "target_rewrite_id"),
        _migration,
    ),
    version="target_version",
    release_time="target_release_time",
    # The code that is shown is older than what is asked for, and `created_time` is its time.
    dated_by=("target_release_time",),
)

BLOCK_COMPLETIONS = InstanceFamily(
    name=Family.BLOCK_COMPLETION,
    stages=("instances", "acceptance"),
    needs=(),
    advice=("no block of a post names it", "its imports and words in curation_rules/stack_overflow.yaml"),
    reference="answer",
    setting="versicode-block",
    metric=Metric.ISM,  # its EM asks for the core token alone
    scoring=("answer", "core_token"),
    place=("library", "source", "origin", "url", "version", "language"),
    cluster=("library", "origin", "url"),
    question=("library", "version", "description", "masked_code", "answer"),
    hidden=Hidden("core_token", ("masked_code", "description")),
    judged=("version", "code", "masked_code", "answer", "core_token"),
    edited=(DESCRIPTION, "masked_code", "answer"),
    panes=_MASKED,
    described_by=DescribedBy.TITLE,
    environments=None,
    dated_by=("created_time",),  # no index dates the versions of other languages
)
