"""A refresh of some families or sources does what these need, and harms nothing of the others."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

import pytest

from pipeline.core.rules.profiles import load_profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.index.release_selection import Period
from pipeline.lake.pinned_versions import pinned_lake
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing.finish_refresh import NotWhole, finish
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, begin, counts_of, run_group
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.orchestration.stages.selecting import stages_for
from pipeline.snapshots.verify import verify
from tests.demo_library import RELEASES
from tests.errors import raises
from tests.index_server import Index
from tests.weeks import PROFILE, bounds, publish_weeks, write_rules


def test_each_family_needs_its_acceptance_and_what_that_is_made_of(data: Path) -> None:
    stages = stages_of(Resources(settings(), load_profile("starter"), Period()))
    of_all = [stages_for([family.table], stages) for family in Family]
    assert frozenset().union(*of_all) == set(stages)
    assert stages_for([], stages) == set(stages)
    assert stages_for(["problems"], stages) >= {
        "crawl",
        "validation",
        "problems",
        "problems_acceptance",
        "acceptance",
        "flags",
    }
    assert not stages_for(["problems"], stages) & {
        "functions",
        "projects",
        "scenes",
        "controlled_acceptance",
        "contexts",
    }
    assert stages_for(["scenes"], stages) >= {"projects", "scenes", "scenes_acceptance"}
    assert not stages_for(["scenes"], stages) & {"surface", "validation", "problems", "repository_tasks"}


def run(name: str, families: tuple[str, ...] = (), sources: tuple[str, ...] = ()) -> Refresh:
    """Run all groups of a refresh of the demo library."""
    refresh = Refresh(name, libraries=("demo",), families=families, sources=sources)
    begin(refresh)
    for group in GROUPS:
        run_group(refresh, group, "demo")
    return refresh


def hashes(lake: Path, *tables: str) -> dict[str, str]:
    files = [path for table in tables for path in (lake / table).rglob("*.parquet")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow(minutes=1)
def test_other_families_stay_and_nothing_of_two_times_is_published(
    index: Index, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    for version in ("1.0", "1.1"):
        uploaded, files = RELEASES[version]
        index.add_wheel("demo", version, files, uploaded, requires_python=">=3.6")
    first = publish_refresh(run("whole"))
    others = ("functions", "published_functions", "published_controlled_completions", "published_scenes")
    before = hashes(settings().lake_root, *others)
    again = run("quiet", families=("problems",))
    assert publish_refresh(again).manifest_sha256 == first.manifest_sha256
    assert "functions" not in {count.stage for count in counts_of(again)}
    uploaded, files = RELEASES["1.2"]
    index.add_wheel("demo", "1.2", files, uploaded, requires_python=">=3.6")
    restricted = run("restricted", families=("problems",), sources=("downstream",))
    assert hashes(settings().lake_root, *others) == before
    with raises(NotWhole, "demo", "functions", code="publishing_families_outdated"):
        publish_refresh(restricted)
    assert publish_refresh(run("whole again")).rows["releases"] == 3


def run_libraries(name: str, ended: dict[str, int]) -> Refresh:
    """Run a refresh that ends, for each library, after so many groups."""
    refresh = Refresh(name, PROFILE, libraries=tuple(ended))
    begin(refresh)
    for library, groups in ended.items():
        for group in list(GROUPS)[:groups]:
            run_group(refresh, group, library)
    return refresh


@pytest.mark.slow(minutes=1)
def test_a_library_of_which_the_refresh_ended_midway_is_in_no_snapshot(
    index: Index, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_RULES", str(write_rules(tmp_path / "rules")))
    every = len(GROUPS)
    publish_weeks(index, datetime.fromisoformat(bounds(0)[1]))
    before = publish_refresh(run_libraries("whole", {"demo": every, "other": every}))
    publish_weeks(index, datetime.fromisoformat(bounds(1)[1]))
    run_libraries("killed", {"demo": every - 2})
    with raises(NotWhole, "demo", code="publishing_refresh_unfinished"):
        publish_refresh(run_libraries("of the other", {"other": every}))
    failed = run_libraries("failed", {"demo": every - 1, "other": every})
    finish(failed)
    assert pinned_lake(failed.folder, Lake(settings().lake_root)).libraries("releases") == ["other"]
    after = publish_refresh(run_libraries("again", {"demo": every}))
    assert (before.rows["releases"], after.rows["releases"]) == (3, 4)
    assert verify(after.path) == []
