"""Edits that come too late for the lake are told, and not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.settings import settings
from pipeline.lake.tables import Lake
from pipeline.quality.annotation.validators import LakeValidator
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.quality.annotation.rows import filled, sample, store_in
from tests.quality.flags.world import world


@pytest.mark.parametrize(
    ("there", "problem"),
    [
        (True, f"the lake no longer has {LIBRARY} 2.0: run a refresh, and look again"),
        (False, "the lake no longer has this instance: run a refresh, and look at it again"),
    ],
    ids=["release", "instance"],
)
def test_a_sample_missing_from_the_lake_is_an_error(data: Path, tmp_path: Path, there: bool, problem: str) -> None:
    made, lake = world(), Lake(settings().lake_root)
    completion = made.one("completions", "1.0") | {"id": "id0"}
    lake.write("completions", LIBRARY, [completion] if there else [])
    lake.write("releases", LIBRARY, [row for row in made.releases if row["version"] != "2.0"])
    store, _ = store_in(tmp_path)
    filled(store, [sample(0, library=LIBRARY)])
    validation = LakeValidator(store, settings()).check("id0", {"description": "Text 0.", "version": "2.0"})
    assert (validation.passed, validation.problem) == (False, problem)
