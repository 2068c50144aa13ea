"""Which run of a profile leaves a newer lake than one that waits for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.finishing import FINISHED
from pipeline.lake import write_json
from pipeline.refresh import Refresh
from pipeline.runs import RunRecord, record_beginning
from pipeline.superseding import newer_than
from tests.instances.rows import LIBRARY


@pytest.mark.parametrize(
    ("until", "finished", "profile", "found"),
    [
        ("2026-11-23", True, "starter", True),
        ("2026-11-16", True, "starter", True),
        ("2026-11-09", True, "starter", False),
        ("2026-11-23", False, "starter", False),
        ("2026-11-23", True, "popular", False),
        (None, True, "starter", True),
    ],
)
def test_what_leaves_a_newer_lake(data: Path, until: str | None, finished: bool, profile: str, found: bool) -> None:
    """A later week of the same profile, or the same week again; not a week of before, nor one that left nothing."""
    waiting = Refresh("waiting", libraries=(LIBRARY,), until="2026-11-16")
    for one in (waiting, Refresh("later", profile, (LIBRARY,), until=until)):
        began = f"2026-11-2{one is not waiting:d}T03:00:00+00:00"
        record_beginning(one.folder, RunRecord(one.run, one.profile, one.libraries, (), None, one.until, began))
        if finished:
            write_json(one.folder / FINISHED, {})
    assert newer_than(waiting) == ("later" if found else None)
