"""What a row says that it comes from makes it again; a column that was touched is named, and what cannot be made says why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.audit.rebuild.basis import otherwise_made
from pipeline.audit.rebuild.context import World, neighbourhood
from pipeline.audit.rebuild.outcome import Made, NotMade, NotRebuilt, held_against, reasons, tally
from pipeline.audit.rebuild.sample import DRAWN, MAKERS, Draw, rebuild_sample
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.execution.mutation.score import SCORED
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.index.release_selection import Period
from pipeline.lake.schema import Row
from pipeline.orchestration.resources.resources import House
from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.format.reader import Snapshot
from tests.corpus.usages.rows import release
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import edit_manifest, fill, publish_lake, tables


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return publish_lake(fill(folder / "lake", tables()), folder / "snapshots").path


@pytest.fixture
def world(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    house = House(settings(), Profile(name="verify", libraries=(LibraryRule(library=LIBRARY),)), Period())
    return World(Snapshot(snapshot), LIBRARY, house, artifacts=False)


def made_again(world: World, config: str, row: Row) -> Made:
    return MAKERS[config](world, row)


def test_everything_that_is_drawn_can_be_made_again() -> None:
    assert set(DRAWN) <= set(MAKERS)
    assert set(INSTANCE_TABLES) <= set(DRAWN)


def same(world: World, config: str) -> Row:
    """A row that comes out again, as far as it can be."""
    for row in world.rows(config):
        try:
            if held_against(config, row, made_again(world, config, row)).outcome is not Rebuilding.DIFFERS:
                return row
        except (NotMade, NotRebuilt):
            pass
    raise AssertionError(f"no row of {config} comes out again")


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ("completions", Rebuilding.SAME),
        ("controlled_completions", Rebuilding.SAME),
        ("contexts", Rebuilding.SAME),
        ("functions", Rebuilding.PART),
        ("problems", Rebuilding.PART),
        ("changes", Rebuilding.PART),
    ],
)
def test_what_the_stages_made_comes_out_again(world: World, config: str, outcome: Rebuilding) -> None:
    row = same(world, config)
    found = held_against(config, row, made_again(world, config, row))
    assert (found.outcome, found.columns) == (outcome, ())
    assert bool(found.why) == (outcome is Rebuilding.PART)


@pytest.mark.parametrize(
    ("config", "column", "value"),
    [
        ("completions", "answer", "fetch "),
        ("completions", "masked_code", "[token-mask]"),
        ("completions", "libevolutioneval_tag", "modified"),
        ("completions", "licence", "GPL-3.0-only"),
        ("completions", "lock_id", "another"),
        ("completions", "description", "Does something else."),
        ("controlled_completions", "reference_call", "lib.load()"),
        ("contexts", "right_context", "pass\n"),
        ("functions", "masked_code", "[token-mask]"),
        ("functions", "answer", "x"),
        ("problems", "attribution", "somebody else"),
        ("changes", "evidence", "static"),
    ],
)
def test_a_column_that_was_touched_is_named(world: World, config: str, column: str, value: str) -> None:
    row = same(world, config)
    assert row[column] != value
    found = held_against(config, row | {column: value}, made_again(world, config, row))
    assert (found.outcome, found.columns) == (Rebuilding.DIFFERS, (column,))
    assert found.line == f"{config} {found.row_id} ({LIBRARY}): {Rebuilding.DIFFERS.meaning}: {column}" + (
        f": {found.why}" if found.why else ""
    )


def test_the_score_of_a_migration_is_not_made_again(world: World) -> None:
    row = world.rows("migrations")[0]
    assert row["mutants"] == 8
    assert made_again(world, "migrations", row).left >= {*SCORED}
    # a snapshot of before there were scores
    without = made_again(world, "migrations", row | dict.fromkeys(SCORED))
    assert without.left.isdisjoint(SCORED)
    assert {without.row[column] for column in SCORED} == {None}


@pytest.mark.parametrize(
    ("config", "columns", "complaint"),
    [
        ("completions", {"review_status": "edited"}, "a person edited it"),
        ("scenes", {}, "artifacts were not to be read"),
        ("repository_tasks", {}, "artifacts were not to be read"),
        ("repository_tasks", {"requirement_basis": "model"}, "a model wrote the requirement"),
        ("migrations", {"basis": "model"}, "a model wrote one side"),
        ("snippets", {"source": "stack_overflow"}, "a post can be edited"),
        ("snippets", {"source": "documentation"}, "a page can be edited"),
        ("snippets", {"source": "github"}, "does not fetch repositories"),
        ("snippets", {"source": "downstream", "place": "pkg:pypi/other@1.0"}, "artifacts were not to be read"),
        ("documents", {}, "artifacts were not to be read"),
        ("api_documents", {"source": "site"}, "page of the documentation site"),
    ],
)
def test_what_cannot_be_made_again_says_why(world: World, config: str, columns: dict[str, Any], complaint: str) -> None:
    row = (same(world, config) if config == "completions" else world.rows(config)[0]) | columns
    with pytest.raises(NotRebuilt, match=complaint):
        made_again(world, config, row)


@pytest.mark.parametrize("config", ["scenes", "repository_tasks"])
def test_a_row_whose_project_is_gone_names_it(world: World, config: str) -> None:
    with pytest.raises(LookupError, match=f"projects of the snapshot has no row {'0' * 32}"):
        made_again(world, config, world.rows(config)[0] | {"project_id": "0" * 32})


def test_what_nothing_makes_is_not_made(world: World) -> None:
    with pytest.raises(NotMade, match="it was not made"):
        made_again(world, "completions", same(world, "completions") | {"id": "0" * 32})


def test_what_a_person_accepted_keeps_its_flags_and_its_status_is_theirs(world: World) -> None:
    row = same(world, "completions") | {"review_status": "accepted"}
    found = held_against("completions", row, made_again(world, "completions", row))
    assert (found.outcome, found.why) == (
        Rebuilding.PART,
        "a person accepted it; decisions stay in the review database",
    )


def test_a_sample_is_drawn_by_hash_and_says_nothing_against_what_other_rules_made(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    one, again, other = (rebuild_sample(snapshot, Draw(1, artifacts=False, seed=seed)) for seed in ("", "", "other"))
    assert one == again
    assert {
        config: sum(counts.values()) for config, counts in tally(one.results).items() if config in DRAWN
    } == dict.fromkeys(DRAWN, 1)
    assert {result.row_id for result in one.results} != {result.row_id for result in other.results}
    assert set(reasons(one.results)) >= {"problems", "functions", "scenes"}
    # the test's rules are not those of the project, so rows of a made-up world that come out otherwise are no problem
    assert one.otherwise_made == ("rules",)
    assert one.problems == []


def test_the_rules_of_today_are_held_against_those_of_the_snapshot(
    snapshot: Path, tmp_path: Path, world: World
) -> None:
    copy = Path(shutil.copytree(snapshot, tmp_path / "snapshot"))
    edit_manifest(copy, lambda manifest: manifest.update(rules={}))
    assert otherwise_made(read_manifest(copy), world.rules) == ["rules"]
    edit_manifest(copy, lambda manifest: manifest.update(rules={"masking": "0"}, driftline="0.1.0+g0"))
    assert otherwise_made(read_manifest(copy), world.rules) == ["masking"]
    edit_manifest(copy, lambda manifest: manifest["versions"].update(usage=0, gone=1))
    assert otherwise_made(read_manifest(copy), world.rules) == ["masking", "gone", "usage"]
    edit_manifest(copy, lambda manifest: manifest.pop("versions"))
    assert otherwise_made(read_manifest(copy), world.rules) == ["masking", "driftline"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("1", "1", ["1", "2"]),
        ("2", "3", ["1", "2", "3", "4"]),
        ("4", "4", ["3", "4"]),
        ("2", "9", ["1", "2", "3", "4"]),
    ],
)
def test_a_run_of_releases_has_its_neighbours(first: str, last: str, expected: list[str]) -> None:
    releases = [release(version, before) for version, before in (("1", None), ("2", "1"), ("3", "2"), ("4", "3"))]
    assert [row["version"] for row in neighbourhood(releases, first, last)] == expected
