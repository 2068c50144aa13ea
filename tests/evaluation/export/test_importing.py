"""Records in the lake: each once, with where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.vocabularies.exports import ExportFormat, RecordKind
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import ExportError, Unpack
from pipeline.evaluation.export.importing import IMPORTED, import_file
from pipeline.lake.ids import sha256_file
from pipeline.lake.schema import table
from pipeline.lake.tables import Lake
from tests.errors import raises
from tests.evaluation.export.test_folder import FILES
from tests.evaluation.export.test_records import MIGRATION, PROBLEM, TOKEN, write
from tests.snapshots.lakes import demo_lake, publish_lake

KINDS = {
    "token_completion.json": RecordKind.COMPLETION,
    "migration_old_to_new.json": RecordKind.MIGRATION,
    "data/eval_examples/lib_realistic/v_1_1.jsonl": RecordKind.API_COMPLETION,
    "problems.jsonl": RecordKind.PROBLEM,
    "data.jsonl": RecordKind.REPOSITORY_TASK,
    "prompts/complete_current_header_inner_block_completion.jsonl": RecordKind.SCENE,
}


@pytest.mark.parametrize("file", KINDS)
def test_what_was_exported_is_imported(file: str, snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    wanted = next(wanted for wanted, files in FILES.items() if file in files)
    export(snapshot, wanted, tmp_path / "out", sources)
    lake = Lake(tmp_path / "mine")
    imports = import_file(tmp_path / "out" / file, wanted, lake)
    library = "demo" if wanted in (ExportFormat.EVOCODEBENCH, ExportFormat.CODEVBENCH) else "lib"
    rows = lake.read(IMPORTED, library)
    assert imports.new == {library: len(rows)}
    assert {row["kind"] for row in rows} == {KINDS[file]}
    assert {row["file_sha256"] for row in rows} == {sha256_file(tmp_path / "out" / file)}
    assert all(row["version"] for row in rows)
    for row in rows:
        table(IMPORTED).check(row)


def test_a_file_imported_again_adds_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    path = write(tmp_path / "x.json", TOKEN, MIGRATION, whole=True)
    assert import_file(path, ExportFormat.VERSICODE, lake).new == {"lib": 3}
    before = lake.path(IMPORTED, "lib").read_bytes()
    again = import_file(path, ExportFormat.VERSICODE, lake)
    assert (again.new, again.existing) == ({}, 3)
    assert lake.path(IMPORTED, "lib").read_bytes() == before
    more = write(tmp_path / "y.jsonl", PROBLEM)
    assert import_file(more, ExportFormat.GITCHAMELEON, lake).new == {"lib": 1}
    assert sorted(row["name"] for row in lake.read(IMPORTED, "lib")) == ["1", "2/new", "2/old", "7"]


def test_names_are_normalised_and_bad_records_told(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    records = [TOKEN | {"dependency": "My_Lib"}, TOKEN | {"dependency": "../x"}, {}]
    imports = import_file(write(tmp_path / "x.json", *records, whole=True), ExportFormat.VERSICODE, lake)
    assert imports.new == {"my-lib": 1}
    assert [bad.number for bad in imports.bad] == [2, 3]
    assert "'../x' is not a name that a package index can have" in imports.bad[0].detail


def test_a_file_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    with raises(ExportError, "gitchameleon", "record 1", code="records_unreadable"):
        import_file(write(tmp_path / "x.jsonl", {}), ExportFormat.GITCHAMELEON, Lake(tmp_path / "lake"))
    assert not (tmp_path / "lake").exists()


def test_what_was_imported_is_never_published(tmp_path: Path) -> None:
    """Its licence is not known."""
    lake = demo_lake(tmp_path / "lake")
    before = publish_lake(lake, tmp_path / "snapshots")
    import_file(write(tmp_path / "x.json", TOKEN, whole=True), ExportFormat.VERSICODE, lake)
    after = publish_lake(lake, tmp_path / "snapshots")
    assert lake.read(IMPORTED, "lib")
    assert (after.path, after.written, after.manifest_sha256) == (before.path, False, before.manifest_sha256)
