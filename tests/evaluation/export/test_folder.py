"""What every export promises: whole, the same twice, nothing lost, nothing written over."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.core.vocabularies.exports import ExportFormat, Unsupported
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scenes import Scene
from pipeline.evaluation.export.folder import export, write_export
from pipeline.evaluation.export.format import Attached, ExportError, Further, Result, Unpack
from pipeline.evaluation.export.formats import FORMATS
from pipeline.lake.ids import sha256_text
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from tests.errors import raises
from tests.evaluation.export.columns import TIME
from tests.evaluation.export.demo import DEMO, project, scene, task
from tests.evaluation.export.demo import FILES as FILES_OF_DEMO
from tests.evaluation.export.restore import records, restored
from tests.evaluation.export.rows import completion, lake_tables, problem, snapshot_of
from tests.index_server import Index, sdist
from tests.snapshots.lakes import contents, edit_manifest, seal

FILES = {
    ExportFormat.VERSICODE: {
        "token_completion.json": 1,
        "line_completion.json": 1,
        "block_completion.json": 1,
        "block_completion_java.json": 1,
        "executable_block_completion.json": 1,
        "executable_line_completion.json": 1,
        "compatibility.json": 1,
        "executable_token_completion.json": 1,
        "migration_new_to_old.json": 1,
        "migration_old_to_new.json": 1,
    },
    ExportFormat.LIBEVOLUTIONEVAL: {
        "data/eval_examples/lib_controlled/v_1_1.jsonl": 1,
        "data/eval_examples/lib_realistic/v_1_1.jsonl": 1,
        "data/package_apis/lib/v_1_1.jsonl": 1,
    },
    ExportFormat.GITCHAMELEON: {"ids.jsonl": 1, "problems.jsonl": 1},
    ExportFormat.EVOCODEBENCH: {"data.jsonl": 1, "projects.jsonl": 1, "prompt/prompt_elements.jsonl": 1},
    ExportFormat.CODEVBENCH: {
        f"metadatas/demo-1.0-{sha256_text('demo/counting.py')[:12]}/test_metadata_funcname_passed_called.jsonl": 1,
        "projects.jsonl": 1,
        "prompts/complete_block_of_other_files.jsonl": 1,
        "prompts/complete_block_of_similar_code.jsonl": 1,
        "prompts/complete_current_header_empty_completion.jsonl": 1,
        "prompts/complete_current_header_inner_block_completion.jsonl": 1,
        "prompts/prefix_full_suffix_empty_complete_current_block_no_evidence.jsonl": 1,
        "prompts/prefix_full_suffix_func_empty_complete_current_block_no_evidence.jsonl": 1,
        "prompts/prefix_suffix_full_complete_current_block_no_evidence.jsonl": 1,
    },
}


@pytest.mark.parametrize("wanted", FILES)
def test_records_and_the_side_file_together_are_the_rows(
    wanted: ExportFormat, snapshot: Path, sources: Unpack, tmp_path: Path
) -> None:
    written = export(snapshot, wanted, tmp_path / "out", sources)
    assert dict(written.records) == FILES[wanted]
    found, published = restored(tmp_path / "out"), Snapshot(snapshot)
    documents = found.pop("api_documents", [])
    assert found == {family: published.rows(family) for family in FORMATS[wanted].layout.families}
    # lib.load has no document in 1.1, the only version with examples
    assert documents == [row for row in published.rows("api_documents") if row["path"] == "lib.fetch"][: len(documents)]
    assert bool(documents) == (wanted is ExportFormat.LIBEVOLUTIONEVAL)


@pytest.mark.parametrize("wanted", FILES)
def test_an_export_made_again_is_the_same(
    wanted: ExportFormat, snapshot: Path, sources: Unpack, tmp_path: Path
) -> None:
    for name in "ab":
        export(snapshot, wanted, tmp_path / name, sources)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert len(contents(tmp_path / "a")) >= len(FILES[wanted]) + 2


def test_the_summary_counts_what_is_not_held(snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)
    summary = json.loads((tmp_path / "out" / "unsupported_columns.json").read_text())
    assert summary["files"] == FILES[ExportFormat.VERSICODE]
    assert summary["manifest_sha256"] == Snapshot(snapshot).sha256
    columns = {(one["table"], one["column"]): one for one in summary["unsupported_columns"]}
    assert columns["completions", "licence"]["rows"] == 3
    assert columns["completions", "licence"]["meaning"] == "SPDX expression of the source"
    assert ("completions", "code") not in columns
    assert summary["unsupported_tables"]["problems"] == 1
    assert "completions" not in summary["unsupported_tables"]
    assert (tmp_path / "out" / "ATTRIBUTION.md").read_bytes() == (snapshot / "ATTRIBUTION.md").read_bytes()


@pytest.mark.parametrize("there", ["file", "folder"])
def test_nothing_is_written_over(there: str, snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if there == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "mine").touch()
    before = contents(tmp_path)
    with raises(ExportError, code="export_folder_taken"):
        export(snapshot, ExportFormat.VERSICODE, out, sources)
    assert contents(tmp_path) == before


def test_a_snapshot_is_not_written_into(snapshot: Path, sources: Unpack) -> None:
    before = contents(snapshot)
    with raises(ExportError, code="export_in_snapshot"):
        export(snapshot, ExportFormat.VERSICODE, snapshot / "data" / "out", sources)
    assert contents(snapshot) == before


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x0c", "\x1e", "é"])
def test_any_reader_parts_lines_alike(sign: str, sources: Unpack, tmp_path: Path) -> None:
    changed = lake_tables() | {"published_problems": [problem() | {"problem": f"a{sign}b"}]}
    export(snapshot_of(changed, tmp_path), ExportFormat.GITCHAMELEON, tmp_path / "out", sources)
    (line,) = (tmp_path / "out" / "problems.jsonl").read_text().splitlines()
    assert json.loads(line)["problem"] == f"a{sign}b"


def test_code_that_holds_the_mask_is_left_out_and_told(sources: Unpack, tmp_path: Path) -> None:
    masked = completion(Granularity.TOKEN, id="masked", code="'<mask>'")
    content = lake_tables()
    content["published_completions"].append(masked)
    written = export(snapshot_of(content, tmp_path), ExportFormat.VERSICODE, tmp_path / "out", sources)
    assert written.refused == {("completions", Unsupported.MASK_IN_CODE): 1}
    told = [json.loads(line) for line in (tmp_path / "out" / "unsupported_columns.jsonl").read_text().splitlines()]
    assert [one["id"] for one in told if "reason" in one] == ["masked"]
    assert written.records["token_completion.json"] == 1


def test_of_a_namespace_the_newest_release_is_taken(demo: str, index: Index, sources: Unpack, tmp_path: Path) -> None:
    index.add(DEMO, "2.0", sdist(DEMO, "2.0", FILES_OF_DEMO), "2022-06-01T12:30:00Z")
    newer, later = hashlib.sha256(sdist(DEMO, "2.0", FILES_OF_DEMO)[1]).hexdigest(), TIME + timedelta(days=365)
    content = lake_tables(demo)
    content["projects"].append(project(newer, "2.0"))
    content["published_repository_tasks"].append(task("2.0", release_time=later))
    written = export(snapshot_of(content, tmp_path), ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    (record,) = records(tmp_path / "out", "data.jsonl")
    (folder,) = (path.name for path in (tmp_path / "out" / "Source_Code").iterdir())
    assert record["completion_path"] == f"{folder}/demo/counting.py"
    assert folder.startswith("demo-2.0-")
    assert written.refused == {("repository_tasks", Unsupported.SAME_NAME): 1}


def test_a_project_whose_sources_are_gone(demo: str, sources: Unpack, tmp_path: Path) -> None:
    content = lake_tables(demo)
    content["projects"].append(project("0" * 64, "3.0"))
    content["published_scenes"].append(scene(Scene.WHOLE_BLOCK, "3.0"))
    written = export(snapshot_of(content, tmp_path), ExportFormat.CODEVBENCH, tmp_path / "out", sources)
    assert written.refused == {("scenes", Unsupported.SOURCES_MISSING): 1}
    assert "no source distribution of demo 3.0" in written.first_refusal
    assert sum(written.records.values()) == 9


def test_an_empty_folder_is_taken(snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)
    assert (tmp_path / "out" / "token_completion.json").is_file()


def test_an_export_that_breaks_off_leaves_nothing(snapshot: Path, tmp_path: Path) -> None:
    def broken() -> Iterator[Result]:
        yield Attached("a/b", b"x")
        yield Further("a.jsonl", {"x": 1})
        raise KeyboardInterrupt

    known, layout = Snapshot(snapshot), FORMATS[ExportFormat.VERSICODE].layout
    with pytest.raises(KeyboardInterrupt):
        write_export(tmp_path / "new" / "out", ExportFormat.VERSICODE, layout, known, broken())
    assert list((tmp_path / "new").iterdir()) == []


def test_a_snapshot_without_such_rows(sources: Unpack, tmp_path: Path) -> None:
    without = lake_tables() | {"published_problems": []}
    with raises(ExportError, "gitchameleon", code="export_no_rows"):
        export(snapshot_of(without, tmp_path), ExportFormat.GITCHAMELEON, tmp_path / "out", sources)
    assert not (tmp_path / "out").exists()


def test_no_snapshot(sources: Unpack, tmp_path: Path) -> None:
    with raises(SnapshotError, "manifest.json", code="not_a_snapshot"):
        export(tmp_path, ExportFormat.VERSICODE, tmp_path / "out", sources)


def test_a_snapshot_of_another_format(snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    edit_manifest(snapshot, lambda manifest: manifest.update(format=99))
    with raises(SnapshotError, code="manifest_of_other_format"):
        export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)


def test_a_snapshot_from_before_there_was_a_table(snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    def drop(manifest: dict[str, list[dict[str, str]]]) -> None:
        manifest["files"] = [entry for entry in manifest["files"] if entry.get("table") != "published_migrations"]

    edit_manifest(snapshot, drop)
    with raises(SnapshotError, "data/migrations.parquet", code="snapshot_of_other_version"):
        export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)


def test_a_table_with_other_columns(snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    data = snapshot / "data"
    other = pq.read_table(data / "completions.parquet", partitioning=None)
    rows = pq.read_metadata(data / "migrations.parquet").num_rows
    pq.write_table(other.slice(0, rows), data / "migrations.parquet")
    seal(snapshot)
    with raises(SnapshotError, "migrations.parquet", "target_version", code="snapshot_of_other_version"):
        export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_damaged_table(sealed: bool, snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    (snapshot / "data" / "completions.parquet").write_bytes(b"PAR1, or not")
    if sealed:
        seal(snapshot)
    with raises(SnapshotError, code="snapshot_file_unreadable" if sealed else "snapshot_file_differs"):
        export(snapshot, ExportFormat.VERSICODE, tmp_path / "out", sources)
