"""The family of functions: a function with its tests, masked."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.vocabularies.families import Family
from pipeline.execution.validation.cases import Case
from pipeline.families.family import (
    CODE_OF_OTHERS,
    DESCRIPTION,
    PLACE_OF_CODE,
    TAGS,
    DescribedBy,
    Hidden,
    InstanceFamily,
    Pane,
    Program,
    Proof,
    Proofs,
)
from pipeline.lake.rows import PublishedFunctionRow


def _function(row: PublishedFunctionRow) -> Iterator[Proof]:
    yield Program(row["lock_id"], Case("", "", row["code"], test_file=row["tests"], module=row["module"]))


FUNCTIONS = InstanceFamily(
    name=Family.FUNCTION,
    stages=("functions", "functions_acceptance"),
    needs=("usages",),
    advice=("no example with a stated output makes a task", "see curation_rules/functions.yaml; or " + CODE_OF_OTHERS),
    reference="answer",
    setting="versicode-function",
    scoring=("granularity", "answer", "core_token", "masked_code"),
    running=("tests", "module", "lock_id"),
    place=(*PLACE_OF_CODE, "granularity"),
    question=("library", "version", "description", "masked_code", "answer"),
    hidden=Hidden("core_token", ("masked_code", "description")),
    judged=("version", "path", "code", "tests", *TAGS),
    edited=(DESCRIPTION, *TAGS),
    panes=(Pane("code", "Program"), Pane("tests", "Tests")),
    described_by=DescribedBy.ROW,
    own_runs=True,
    environments="function_environments",
    proofs=Proofs(("code", "tests", "module", "lock_id"), _function),
)
