"""The family that asks in which releases of a library a program runs."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.families.family import Example, InstanceFamily, Pane, Proof, Proofs
from pipeline.lake.rows import PublishedCompatibilityRow


def _compatibility(row: PublishedCompatibilityRow) -> Iterator[Proof]:
    yield Example(row["snippet_id"], row["lock_id"])


COMPATIBILITIES = InstanceFamily(
    name=Family.COMPATIBILITY,
    stages=("compatibilities", "compatibilities_acceptance"),
    needs=("changes",),
    advice=("no program shows a change of it", "see the limits in curation_rules/own_tests.yaml"),
    reference="compatible",
    setting="driftline-compatibility",
    metric=Metric.RELEASES,
    scoring=("releases", "compatible"),
    place=("library", "path", "version", "code"),
    question=("library", "code", "output", "releases", "compatible"),
    judged=("version", "path", "code", "output", "releases", "compatible"),
    panes=(
        Pane("code", "Program"),
        Pane("output", "It prints", language="text"),
        Pane("releases", "Releases", language="text"),
        Pane("compatible", "Releases in which it runs", language="text"),
    ),
    proofs=Proofs(("snippet_id", "lock_id"), _compatibility),
    # The answer, a list of releases, stands in no source: before the release of the change nobody knew it.
    dated_by=("release_time",),
)
