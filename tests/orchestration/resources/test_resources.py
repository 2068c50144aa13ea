"""Stages that `Resources` runs on the lake: histories and decisions of annotators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.api.history.stage import lifecycle_stage
from pipeline.core.rules.profiles import load_profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.core.vocabularies.families import Family
from pipeline.index.release_selection import Period
from pipeline.lake.tables import Lake
from pipeline.orchestration.resources.reading import follow_lifecycles, read_decisions
from pipeline.orchestration.resources.resources import Resources
from pipeline.quality.annotation.store import StoreError
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import fill, tables


def test_lives_go_on_where_no_release_is_new(data: Path) -> None:
    """Columns that the lake gives a release later have the stage run again, and there is nothing to add."""
    lake = fill(settings().lake_root, tables())
    resources = Resources(settings(), load_profile("starter"), Period())
    releases, symbols = (lake.read(name, LIBRARY) for name in ("releases", "symbols"))
    first = lifecycle_stage(
        {"releases": releases, "symbols": symbols, "importable_names": []}, resources.rules.lifecycle
    )
    lake.write("lifecycles", LIBRARY, first.tables["lifecycles"])
    again = follow_lifecycles(resources, lake, LIBRARY, first.progress)
    assert (again.units_in, again.units_out) == (first.units_in, first.units_out)
    assert all(not update.added and not update.changed for update in again.updates.values())


def test_a_review_database_that_is_gone_makes_no_decision_void(data: Path) -> None:
    resources, lake = Resources(settings(), load_profile("starter"), Period()), Lake(settings().lake_root)
    assert read_decisions(resources, lake, LIBRARY, None).tables == {"reviews": []}
    decided: Any = {"instance_id": "a", "library": LIBRARY, "family": Family.COMPLETION, "content": "b", "flags": []}
    decided |= {"kind": DecisionKind.ACCEPT, "objection": None, "edits": [], "runs": [], "annotators": 1}
    lake.write("reviews", LIBRARY, [decided])
    with raises(StoreError, "reviews.sqlite", code="reviews_gone"):
        read_decisions(resources, lake, LIBRARY, None)
    assert not settings().reviews_file.exists()
