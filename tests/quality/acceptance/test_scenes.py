"""Acceptance of editor scenes: what is shown is cut from the file, and licences decide."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.scenes import BlockType
from pipeline.lake.schema import table
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.scenes import scenes_acceptance_stage
from tests.families.problems.examples import MUTATION
from tests.families.scenes import rows as made

QUALITY = load(RULES / "quality.yaml", QualityRules)


def test_rows_have_the_file_and_the_visible_text_of_the_scene() -> None:
    output = scenes_acceptance_stage(
        {
            "scenes": made.scenes(),
            "projects": [made.project()],
            "project_files": made.files(),
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        MUTATION,
    )
    rows = output.tables["published_scenes"]
    assert rows
    # Of the parameters of a function that has one, and no default, there is no other way to write them.
    assert {reject.reason for reject in output.rejects} == {RejectReason.WEAK_TESTS}
    assert {reject.detail for reject in output.rejects} == {"no changed reference could be run"}
    unmutated = {row["id"] for row in made.scenes() if not row["mutants"]}
    assert {reject.key for reject in output.rejects} == unmutated
    assert {row["block_type"] for row in made.scenes() if row["id"] in unmutated} == {BlockType.PARAMETERS}
    for row in rows:
        table("published_scenes").check(row)
        assert row["prefix"] + row["middle"] + row["test_suffix"] == made.FILES[row["path"]]
        assert row["test_suffix"].endswith(row["suffix"])
        assert row["evidence"] == Evidence.EXECUTED
        assert (row["origin"], row["licence"], row["canary"]) == ("pypi:shop", "MIT", QUALITY.canary)


@pytest.mark.parametrize(
    ("licence", "said"),
    [(None, "no licence that can be read"), ("GPL-3.0-only", "GPL-3.0-only"), ("no SPDX", "no SPDX")],
)
def test_code_that_may_not_be_passed_on_is_refused(licence: str | None, said: str) -> None:
    made_scenes = made.scenes()
    output = scenes_acceptance_stage(
        {
            "scenes": made_scenes,
            "projects": [made.project(licence=licence)],
            "project_files": made.files(),
            "flags": [],
            "reviews": [],
        },
        QUALITY,
        MUTATION,
    )
    assert output.tables["published_scenes"] == []
    assert {(reject.reason, reject.detail) for reject in output.rejects} == {(RejectReason.LICENCE, said)}
    assert len(output.rejects) == len(made_scenes)
