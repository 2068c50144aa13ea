"""Which run of a profile leaves a newer lake than one that waits for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.lake.run_records import RunRecord, record_beginning
from pipeline.lake.runner import write_json
from pipeline.orchestration.publishing.finish_refresh import FINISHED
from pipeline.orchestration.publishing.superseding import newer_than
from pipeline.orchestration.refresh import Refresh
from tests.families.completions_and_migrations.rows import LIBRARY


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


@pytest.mark.parametrize(("second", "found"), [(-1, None), (0, None), (1, "other")])
def test_a_run_that_began_at_the_same_time_is_no_later_one(data: Path, second: int, found: str | None) -> None:
    waiting, other = Refresh("waiting", libraries=(LIBRARY,)), Refresh("other", libraries=(LIBRARY,))
    for run, at in ((waiting, 30), (other, 30 + second)):
        began = f"2026-11-20T03:00:{at}+00:00"
        record_beginning(run.folder, RunRecord(run.run, run.profile, run.libraries, (), None, None, began))
        write_json(run.folder / FINISHED, {})
    assert newer_than(waiting) == found
