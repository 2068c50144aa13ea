"""Rows of compatibilities."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.running import Outcome
from pipeline.lake.ids import content_id
from pipeline.lake.rows import CompatibilityRow
from pipeline.lake.schema import table
from tests.families.completions_and_migrations.rows import LIBRARY, START


def compatibility(snippet_id: str, **columns: Any) -> CompatibilityRow:
    """A program that runs in 1.1, not in 1.0."""
    row: CompatibilityRow = {
        "id": content_id("compatibility", snippet_id),
        "library": LIBRARY,
        "version": "1.1",
        "release_time": START,
        "path": "lib.fetch",
        "change_id": None,
        "snippet_id": snippet_id,
        "code": "import lib\n\nprint(lib.fetch(1))  # 1\n",
        "output": "1\n",
        "releases": ["1.0", "1.1"],
        "compatible": ["1.1"],
        "outcomes": [Outcome.API_MISSING, Outcome.PASSED],
        "python": "3.11",
        "lock_id": "lock",
    }
    made: Any = {**row, **columns}
    table("compatibilities").check(made)
    checked: CompatibilityRow = made
    return checked
