"""Snapshots that somebody made to do harm: nothing in them becomes a path, or more memory than there is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.folder import write_export
from pipeline.evaluation.export.format import Attached, ExportError, Further, Layout
from pipeline.evaluation.scores.tasks import read_tasks, rows_of
from pipeline.execution.environments.resolution.pinned import lock_id_of
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.names import UnsafeName
from pipeline.lake.tables import Lake
from pipeline.orchestration.report.figures import SnapshotTables
from pipeline.snapshots.format import untrusted
from pipeline.snapshots.format.manifest import SnapshotError, read_manifest
from pipeline.snapshots.format.reader import Snapshot
from tests.errors import raises
from tests.snapshots.lakes import demo_snapshot, edit_manifest, seal

OUT = ["../../out", "/etc/out", "a/../../b", "a\\..\\b", "a\x00b", "a\nb", "x" * 300, "..", ".hidden"]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return demo_snapshot(folder)


@pytest.fixture
def snapshot(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "snapshot"))


def put(snapshot: Path, config: str, column: str, value: Any) -> None:
    """Write a value into every row of a table, with hashes that fit."""
    path = snapshot / "data" / f"{config}.parquet"
    table = pq.read_table(path, partitioning=None)
    number = table.column_names.index(column)
    values = pa.array([value] * table.num_rows, table.schema.field(number).type)
    pq.write_table(table.set_column(number, table.schema.field(number), values), path)
    seal(snapshot)


@pytest.mark.parametrize("value", OUT)
@pytest.mark.parametrize(
    ("config", "column"),
    [
        ("environments", "lock_id"),
        ("completions", "id"),
        ("problems", "module"),
        ("scenes", "path"),
        ("projects", "sha256"),
    ],
)
def test_a_value_that_no_file_could_be_named_by_is_an_error(
    snapshot: Path, config: str, column: str, value: str
) -> None:
    if column == "path" and value == ".hidden":
        return
    put(snapshot, config, column, value)
    with raises(SnapshotError, f"{config}.parquet", column, code="snapshot_value_unsafe"):
        Snapshot(snapshot).rows(config)


@pytest.mark.parametrize("value", OUT[:-1])
@pytest.mark.parametrize("where", ["profile", "libraries"])
def test_names_in_a_manifest_are_no_paths(snapshot: Path, where: str, value: str) -> None:
    edit_manifest(snapshot, lambda manifest: manifest.update({where: value if where == "profile" else {value: 1}}))
    with raises(SnapshotError, where, code="manifest_invalid"):
        read_manifest(snapshot)


@pytest.mark.parametrize("value", OUT[:-1])
def test_a_library_leads_out_of_no_lake(tmp_path: Path, value: str) -> None:
    with pytest.raises(UnsafeName):
        Lake(tmp_path).write("survivals", value, [])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("value", OUT[:-1])
@pytest.mark.parametrize("make", [lambda name: Attached(name, b"evil"), lambda name: Further(name, {"evil": 1})])
def test_an_export_writes_nothing_outside_of_its_folder(
    snapshot: Path, tmp_path: Path, value: str, make: Callable[[str], Any]
) -> None:
    layout = Layout(families=("completions",), configs=("completions",), usage="", evaluate="")
    name = f"sub/{value}" if value != "/etc/out" else value
    with raises(ExportError, code="export_path_unsafe"):
        write_export(tmp_path / "out", ExportFormat.VERSICODE, layout, Snapshot(snapshot), [make(name)])
    assert {path.name for path in tmp_path.iterdir()} == {"snapshot"}


def damaged(snapshot: Path) -> None:
    path = snapshot / "data" / "completions.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def missing(snapshot: Path) -> None:
    (snapshot / "data" / "completions.parquet").unlink()


def linked(snapshot: Path) -> None:
    path = snapshot / "data" / "completions.parquet"
    shutil.move(path, snapshot.parent / "elsewhere.parquet")
    path.symlink_to(snapshot.parent / "elsewhere.parquet")


@pytest.mark.parametrize("harm", [damaged, missing, linked])
def test_every_reader_holds_files_against_the_manifest(snapshot: Path, harm: Callable[[Path], None]) -> None:
    assert read_tasks(Snapshot(snapshot), ())
    harm(snapshot)
    with raises(SnapshotError, "driftline verify", "completions.parquet", code="snapshot_file_differs"):
        read_tasks(Snapshot(snapshot), ())
    with raises(SnapshotError, "driftline verify", "completions.parquet", code="snapshot_file_differs"):
        SnapshotTables(Snapshot(snapshot)).columns("completions")
    with raises(SnapshotError, "driftline verify", "completions.parquet", code="snapshot_file_differs"):
        Snapshot(snapshot).file("data/completions.parquet")


def test_a_file_that_is_not_listed_is_not_read(snapshot: Path) -> None:
    def unlist(manifest: dict[str, Any]) -> None:
        manifest["files"] = [one for one in manifest["files"] if one["path"] != "data/completions.parquet"]

    edit_manifest(snapshot, unlist)
    assert rows_of(Snapshot(snapshot), "completions", ("id",)) == []


def test_a_file_that_unpacks_to_more_than_the_memory_is_an_error(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted, "_SHARE", 0.01)
    path = snapshot / "data" / "completions.parquet"
    table = pq.read_table(path, partitioning=None)
    table = pa.concat_tables([table] * 2000)
    number = table.column_names.index("code")
    codes = pa.DictionaryArray.from_arrays(pa.array([0] * table.num_rows, pa.int32()), pa.array(["x" * 5_000_000]))
    table = table.set_column(number, pa.field("code", codes.type, nullable=False), codes)
    pq.write_table(table, path, store_schema=False, compression="zstd")

    def count(manifest: dict[str, Any]) -> None:
        next(one for one in manifest["files"] if one["path"].endswith("data/completions.parquet"))["rows"] = len(table)

    edit_manifest(snapshot, count)
    seal(snapshot)
    assert path.stat().st_size < 5_000_000
    with raises(SnapshotError, code="snapshot_file_unreadable"):
        Snapshot(snapshot).rows("completions", ("id", "code"))


LOCK = "demo==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"


@pytest.mark.parametrize(
    ("lock_id", "lock"),
    [
        ("../../victim", LOCK),
        (lock_id_of("{python}", LOCK), LOCK),
        (None, "--index-url http://127.0.0.1:1/\n" + LOCK),
        (None, "demo @ file:///etc/passwd\n"),
        (None, "-r /etc/passwd\n"),
    ],
)
def test_an_environment_is_known_by_the_hash_of_its_lock_and_a_lock_names_pins_alone(
    tmp_path: Path, environment_store: EnvironmentStore, lock_id: str | None, lock: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("mine")
    python = environment_store.interpreters[0].python
    row: Any = {"library": "demo", "version": "1.0", "outcome": "built", "python": python, "lock": lock}
    row |= {"lock_id": lock_id or lock_id_of(python, lock), "import_names": ["demo"]}
    with raises(ValueError, code="lock_differs" if lock_id else "lock_line_invalid"):
        environment_store.open(row)
    assert (victim / "precious").read_text() == "mine"
    assert not [path for path in environment_store.root.iterdir() if len(path.name) == 32]


@pytest.fixture
def environment_store(tmp_path: Path) -> EnvironmentStore:
    root = tmp_path / "data" / "cache"
    return EnvironmentStore(root, index_url="http://127.0.0.1:1/simple", rules=environment_rules())
