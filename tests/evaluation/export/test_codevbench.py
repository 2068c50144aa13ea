"""Scenes as the benchmark's own scorer needs them: below the sources, with the types that it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.evaluation.export.codevbench import scene_record, scene_row
from pipeline.evaluation.export.programs import read_record
from tests.evaluation.export.demo import project, scene


@pytest.mark.parametrize(
    "path", ["demo/a.py#L1-L2", "Source_Code/demo/a.py#L1-L2", "/mnt/x/Source_Code/demo/a.py#L1-L2"]
)
def test_a_scene_belongs_to_the_project_below_the_sources(path: str) -> None:
    record = {"block_key": path, "test_prefix": "", "test_suffix": "", "test_middle": "", "unit_test_ids": []}
    (program,) = read_record(ExportFormat.CODEVBENCH, record, 1, Path("x.jsonl")).programs
    assert program.library == "demo"


@pytest.mark.parametrize("block", BlockType)
def test_every_type_of_block_is_one_that_the_scorer_counts(block: BlockType) -> None:
    row = scene(Scene.WHOLE_BLOCK) | {"block_type": block}
    record = scene_record(row, project("0" * 64))
    assert record["block_type"] in {"METHOD", "IF", "FOR", "WHILE", "TRY", "CATCH", "STATEMENT"}
    told = scene_row(record, Scene.WHOLE_BLOCK)["block_type"]
    assert scene_record(row | {"block_type": told}, project("0" * 64)) == record
