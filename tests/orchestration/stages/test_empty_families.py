"""Why families are empty: told by the first empty table, for a lake that has the tables of a library without examples."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.tables import Lake
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.empty_families import NEEDS, WHY, empty_families
from tests.snapshots.lakes import fill, tables

PYTHON = [family.table for family in Family if family is not Family.BLOCK_COMPLETION]


def test_every_family_and_table_has_a_cause_to_name(data: Path) -> None:
    stages = stages_of(Refresh("one").resources())
    written = {table for stage in stages.values() for table in stage.writes}
    assert {f"published_{family.table}" for family in Family} <= NEEDS.keys() <= written
    assert {needed for needs in NEEDS.values() for needed in needs} <= NEEDS.keys()
    advice = " ".join(advice for _, advice in WHY.values()).format(profile="starter")
    files = {word.rstrip(".,;") for word in advice.split() if word.startswith("curation_rules/")}
    assert len(files) > 5
    assert {file for file in files if not (PROJECT / file).is_file()} == set()


def test_the_first_empty_table_is_the_cause_with_what_was_refused_there(data: Path) -> None:
    stages = stages_of(Refresh("one").resources())
    lake = Lake(data / "lake")
    lake.write("releases", "mylib", tables()["releases"])
    detail = {"stage": "snippets", "library": "mylib", "reason": RejectReason.DUPLICATE, "detail": "x"}
    lake.write("rejects", "mylib", [detail | {"key": key} for key in "ab"], "snippets")
    found = {empty.table: empty for empty in empty_families(lake, ["mylib"], stages, "mine", ())}
    assert found["snippets"].rejects == {"duplicate": 2}
    assert set(found["snippets"].families) == {"completions", "migrations", "contexts", "problems", "functions"}
    assert found["changes"].families == ("migrations", "compatibilities")
    assert "curation_rules/profiles/mine.yaml" in found["changes"].advice
    assert "curation_rules/dependents.yaml" in str(found["snippets"])
    assert "(refused: duplicate 2)" in str(found["snippets"])
    assert {family for empty in found.values() for family in empty.families} == set(PYTHON)


def test_libraries_with_one_cause_stand_together_and_foreign_ones_have_blocks_only(data: Path) -> None:
    stages = stages_of(Refresh("one").resources())
    lake = Lake(data / "lake")
    together, foreign = empty_families(lake, ["a", "b", "guava"], stages, "mine", ("guava",))
    assert (together.table, together.libraries) == ("releases", ("a", "b"))
    assert (foreign.table, foreign.families) == ("block_completions", ("block_completions",))


def test_a_library_with_rows_has_no_empty_family(data: Path) -> None:
    stages = stages_of(Refresh("one").resources())
    made = tables()
    lake = fill(data / "lake", made)
    library = lake.libraries("releases")[0]
    told = {family for empty in empty_families(lake, [library], stages, "mine", ()) for family in empty.families}
    assert told.isdisjoint(family.table for family in Family if made.get(f"published_{family.table}"))
