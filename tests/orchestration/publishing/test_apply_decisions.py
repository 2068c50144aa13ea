"""What people decide after a refresh counts when its snapshot is made, and only acceptance and what reads it run again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.lake.pinned_versions import PINS, pin, pinned_lake
from pipeline.lake.runner import run_stage
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing.apply_decisions import NotJudged, judge_again, stages_after
from pipeline.orchestration.publishing.finish_refresh import covered_libraries
from pipeline.orchestration.refresh import Refresh, begin
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.quality.annotation.collect import fill_from
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.store import open_store
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.quality.flags.world import world
from tests.snapshots.lakes import fill, tables

REJECT = NewDecision(DecisionKind.REJECT, Objection.NOT_VERSION_SENSITIVE)


@pytest.fixture
def refresh(data: Path, monkeypatch: pytest.MonkeyPatch) -> Refresh:
    """A refresh whose acceptance has run, that has filled the queue and pinned its lake."""
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", "http://127.0.0.1:1/simple")
    known = world()
    lake = fill(data / "lake", tables(known))
    for table in ("completions", "migrations", "block_completions", "drafts"):
        lake.write(table, LIBRARY, getattr(known, table))
    made = Refresh("one", libraries=(LIBRARY,))
    begin(made)
    resources = made.resources()
    stages = stages_of(resources)
    for name in ("decisions", *stages_after("reviews", stages)):
        run_stage(stages[name], LIBRARY, resources.lake, made.folder / "counts")
    fill_from(
        open_store(resources.settings.reviews_url, resources.rules.annotation),
        resources.lake,
        [LIBRARY],
        resources.rules.drafting,
    )
    pin(resources.lake, covered_libraries(made, resources), made.folder, None)
    return made


def pinned(refresh: Refresh) -> Lake:
    return pinned_lake(refresh.folder, refresh.resources().lake)


def again(refresh: Refresh) -> list[str]:
    return judge_again(refresh.resources(), pinned(refresh), [LIBRARY], refresh.folder)


def published(lake: Lake) -> set[str]:
    return {row["id"] for row in lake.read("published_completions", LIBRARY)}


def rejected(refresh: Refresh) -> str:
    """Reject a published completion that is flagged, and return its id."""
    resources, lake = refresh.resources(), pinned(refresh)
    flagged = {row["instance_id"] for row in lake.read("flags", LIBRARY)}
    found = sorted(published(lake) & flagged)[0]
    decide(open_store(resources.settings.reviews_url, resources.rules.annotation), found, "ann", REJECT)
    return found


def test_what_was_decided_since_counts(refresh: Refresh) -> None:
    lake = pinned(refresh)
    before = published(lake)
    versions = Lake(lake.root).versions()
    assert again(refresh) == []
    assert Lake(lake.root).versions() == versions
    assert published(lake) == before
    out = rejected(refresh)
    assert again(refresh) == []
    lake = pinned(refresh)
    assert published(lake) == before - {out}
    assert Lake(lake.root).versions() == versions
    assert {row["completion_id"] for row in lake.read("published_contexts", LIBRARY)} <= published(lake)
    # The lake is as the refresh left it: the next one takes the reviews in by itself.
    assert published(refresh.resources().lake) == before


def test_who_was_broken_off_goes_on(refresh: Refresh, monkeypatch: pytest.MonkeyPatch) -> None:
    out = rejected(refresh)
    import pipeline.orchestration.publishing.apply_decisions as module

    def broken(stage: object, *rest: object) -> object:
        if getattr(stage, "name", "") == "acceptance":
            raise OSError(28, "No space left on device")
        return run_stage(stage, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(module, "run_stage", broken)
        with raises(NotJudged, LIBRARY, "stage acceptance", code="decisions_not_applied"):
            again(refresh)
    assert out in published(pinned(refresh))
    assert again(refresh) == []
    assert out not in published(pinned(refresh))


def test_a_library_with_more_to_do_than_that_waits_for_its_refresh(refresh: Refresh) -> None:
    """A stage before acceptance ended, and then one of them failed: what it would judge now is half of another time."""
    out = rejected(refresh)
    lake = pinned(refresh)
    lake.write("problems", LIBRARY, [])
    assert again(refresh) == [LIBRARY]
    assert out in published(lake)


def test_a_library_that_was_not_covered_has_nothing_to_judge(refresh: Refresh) -> None:
    """It is not in the snapshot: to refresh it for what was decided of it would be no help."""
    rejected(refresh)
    path = refresh.folder / PINS
    path.write_text(json.dumps(json.loads(path.read_text()) | {"libraries": []}))
    assert again(refresh) == []


def test_reviews_that_are_gone_are_told(refresh: Refresh, data: Path) -> None:
    rejected(refresh)
    assert again(refresh) == []
    for path in data.glob("reviews.sqlite*"):
        path.unlink()
    with raises(NotJudged, "stage decisions", "StoreError", code="decisions_not_applied"):
        again(refresh)


def test_the_stages_that_reviews_make_a_difference_to(refresh: Refresh) -> None:
    found = stages_after("reviews", stages_of(refresh.resources()))
    assert {"acceptance", "contexts", "scenes_acceptance", "repository_acceptance"} <= {*found}
    assert {"flags", "crawl", "validation", "problems", "scenes"}.isdisjoint(found)
    assert found.index("acceptance") < found.index("contexts")
    shutil.rmtree(refresh.folder)
