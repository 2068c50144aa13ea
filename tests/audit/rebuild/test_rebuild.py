"""What a row says that it comes from makes it again; a column that was touched is named, and what cannot be made says why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.audit.rebuild.basis import differing_basis
from pipeline.audit.rebuild.context import RebuildContext, neighbourhood
from pipeline.audit.rebuild.outcome import NotRebuilt, NotReproduced, RebuiltRow, compare_row, reasons, tally
from pipeline.audit.rebuild.sample import DRAWN, MAKERS, Draw, rebuild_sample
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.execution.mutation.score import SCORED
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.index.release_selection import Period
from pipeline.orchestration.resources.resources import Resources
from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.format.reader import Snapshot
from tests.corpus.usages.rows import release
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_snapshot, edit_manifest


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return demo_snapshot(folder)


@pytest.fixture
def context(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RebuildContext:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    resources = Resources(settings(), Profile(name="verify", libraries=(LibraryRule(library=LIBRARY),)), Period())
    return RebuildContext(Snapshot(snapshot), LIBRARY, resources, artifacts=False)


def made_again(context: RebuildContext, config: str, row: Any) -> RebuiltRow:
    return MAKERS[config](context, row)


def test_everything_that_is_drawn_can_be_made_again() -> None:
    assert set(DRAWN) <= set(MAKERS)
    assert set(INSTANCE_TABLES) <= set(DRAWN)


def same(context: RebuildContext, config: str) -> Any:
    """A row that comes out again, as far as it can be."""
    for row in context.tables[config]:
        try:
            if compare_row(config, row, made_again(context, config, row)).outcome is not Rebuilding.DIFFERS:
                return row
        except (NotReproduced, NotRebuilt):
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
def test_what_the_stages_made_comes_out_again(context: RebuildContext, config: str, outcome: Rebuilding) -> None:
    row = same(context, config)
    found = compare_row(config, row, made_again(context, config, row))
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
def test_a_column_that_was_touched_is_named(context: RebuildContext, config: str, column: str, value: str) -> None:
    row = same(context, config)
    assert row[column] != value
    found = compare_row(config, {**row, column: value}, made_again(context, config, row))
    assert (found.outcome, found.columns) == (Rebuilding.DIFFERS, (column,))
    assert found.line == f"{config} {found.row_id} ({LIBRARY}): {Rebuilding.DIFFERS.meaning}: {column}" + (
        f": {found.why}" if found.why else ""
    )


def test_the_score_of_a_migration_is_not_made_again(context: RebuildContext) -> None:
    row = context.tables["migrations"][0]
    assert row["mutants"] == 8
    assert made_again(context, "migrations", row).excluded >= {*SCORED}
    # a snapshot of before there were scores
    without = made_again(context, "migrations", {**row, **dict.fromkeys(SCORED)})
    assert without.excluded.isdisjoint(SCORED)
    assert {without.row[column] for column in SCORED} == {None}


@pytest.mark.parametrize(
    ("config", "columns", "code"),
    [
        ("completions", {"review_status": "edited"}, "rebuild_by_person"),
        ("scenes", {}, "rebuild_offline"),
        ("repository_tasks", {}, "rebuild_offline"),
        ("repository_tasks", {"requirement_basis": "model"}, "rebuild_by_model"),
        ("migrations", {"basis": "model"}, "rebuild_by_model"),
        ("snippets", {"source": "stack_overflow"}, "rebuild_source_not_read"),
        ("snippets", {"source": "documentation"}, "rebuild_source_not_read"),
        ("snippets", {"source": "github"}, "rebuild_source_not_read"),
        ("snippets", {"source": "downstream", "place": "pkg:pypi/other@1.0"}, "rebuild_offline"),
        ("snippets", {"source": "downstream", "example_of": []}, "rebuild_form"),
        ("documents", {}, "rebuild_offline"),
        ("api_documents", {"source": "site"}, "rebuild_source_can_change"),
    ],
)
def test_what_cannot_be_made_again_says_why(
    context: RebuildContext, config: str, columns: dict[str, Any], code: str
) -> None:
    row = {**(same(context, config) if config == "completions" else context.tables[config][0]), **columns}
    with raises(NotRebuilt, code=code):
        made_again(context, config, row)


@pytest.mark.parametrize("config", ["scenes", "repository_tasks"])
def test_a_row_whose_project_is_gone_names_it(context: RebuildContext, config: str) -> None:
    with raises(LookupError, "projects", "0" * 32):
        made_again(context, config, {**context.tables[config][0], "project_id": "0" * 32})


def test_what_nothing_makes_is_not_made(context: RebuildContext) -> None:
    with raises(NotReproduced, code="rebuild_differs"):
        made_again(context, "completions", same(context, "completions") | {"id": "0" * 32})


def test_what_a_person_accepted_keeps_its_flags_and_its_status_is_theirs(context: RebuildContext) -> None:
    row = same(context, "completions") | {"review_status": "accepted"}
    found = compare_row("completions", row, made_again(context, "completions", row))
    assert (found.outcome, found.why) == (
        Rebuilding.PART,
        "a person accepted it; decisions stay in the review database",
    )


def test_a_sample_is_drawn_by_hash_and_says_nothing_against_what_other_rules_made(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    one, again = (rebuild_sample(snapshot, Draw(1, artifacts=False)) for _ in range(2))
    assert one == again
    assert {
        config: sum(counts.values()) for config, counts in tally(one.results).items() if config in DRAWN
    } == dict.fromkeys(DRAWN, 1)
    assert set(reasons(one.results)) >= {"problems", "functions", "scenes"}
    # the test's rules are not those of the project, so rows of a made-up context that come out otherwise are no problem
    assert one.differing_basis == ("rules",)
    assert one.problems == []


def test_another_seed_draws_other_rows(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds can draw the same rows on some day, as ids change with the rules: ten do not."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    samples = [rebuild_sample(snapshot, Draw(1, artifacts=False, seed=str(seed))) for seed in range(10)]
    assert len({frozenset(result.row_id for result in sample.results) for sample in samples}) > 1


def test_the_rules_of_today_are_held_against_those_of_the_snapshot(
    snapshot: Path, tmp_path: Path, context: RebuildContext
) -> None:
    copy = Path(shutil.copytree(snapshot, tmp_path / "snapshot"))
    edit_manifest(copy, lambda manifest: manifest.update(rules={}))
    assert differing_basis(read_manifest(copy), context.rules) == ["rules"]
    edit_manifest(copy, lambda manifest: manifest.update(rules={"masking": "0"}, driftline="0.1.0+g0"))
    assert differing_basis(read_manifest(copy), context.rules) == ["masking"]
    edit_manifest(copy, lambda manifest: manifest["versions"].update(usage=0, gone=1))
    assert differing_basis(read_manifest(copy), context.rules) == ["masking", "gone", "usage"]
    edit_manifest(copy, lambda manifest: manifest.pop("versions"))
    assert differing_basis(read_manifest(copy), context.rules) == ["masking", "driftline"]


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
