"""One rule of compatibility: unknown columns are passed over, missing nullable ones are null, the rest is an error."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.core.build import build_version
from pipeline.execution.mutation.score import SCORED
from pipeline.lake.tables import read_parquet
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.verify import verify
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_snapshot, edit_manifest, seal, to_format_1

Change = Callable[[pa.Table], pa.Table]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return demo_snapshot(folder)


@pytest.fixture
def snapshot(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "snapshot"))


def path_of(snapshot: Path, config: str) -> Path:
    return snapshot / "data" / f"{config}.parquet"


def of_other(snapshot: Path, config: str, change: Change) -> None:
    """Make a table what another driftline published."""
    path = path_of(snapshot, config)
    pq.write_table(change(pq.read_table(path, partitioning=None)), path)
    edit_manifest(snapshot, lambda manifest: manifest.update(driftline="0.0.7"))
    seal(snapshot)


def retyped(table: pa.Table, name: str, field: Any, values: list[Any]) -> pa.Table:
    return table.set_column(table.column_names.index(name), field, pa.array(values, type=field.type))


def test_a_table_is_read_as_it_was_published(snapshot: Path) -> None:
    found = Snapshot(snapshot)
    whole = read_parquet(path_of(snapshot, "completions"))
    assert found.rows("completions") == whole
    assert found.count(["completions"]) == len(whole)
    some = found.rows("completions", ("version", "id"), pc.field("library") == LIBRARY)
    assert some == [{"version": row["version"], "id": row["id"]} for row in whole]
    assert found.rows("completions", ("id",), pc.field("library") == "other") == []


def test_a_column_that_is_not_declared_is_passed_over(snapshot: Path) -> None:
    whole = read_parquet(path_of(snapshot, "completions"))
    of_other(snapshot, "completions", lambda t: t.append_column("future", pa.array(["x"] * t.num_rows)))
    assert Snapshot(snapshot).rows("completions") == whole
    assert "future" not in Snapshot(snapshot).columns("completions")


def test_a_nullable_column_that_is_missing_is_null(snapshot: Path) -> None:
    whole = read_parquet(path_of(snapshot, "completions"))
    of_other(snapshot, "completions", lambda t: t.drop_columns(["neighbour_version"]))
    found = Snapshot(snapshot)
    expected: list[Any] = [row | {"neighbour_version": None} for row in whole]
    assert found.rows("completions") == expected
    assert found.rows("completions", where=pc.field("library") == LIBRARY) == expected
    narrow: list[Any] = found.rows("completions", ("neighbour_version",))
    assert narrow == [{"neighbour_version": None} for _ in whole]
    assert "neighbour_version" not in found.columns("completions")


def test_migrations_of_before_they_had_scores_are_read(snapshot: Path) -> None:
    of_other(snapshot, "migrations", lambda t: t.drop_columns([*SCORED]))
    rows = Snapshot(snapshot).rows("migrations")
    assert rows
    assert {row[column] for row in rows for column in SCORED} == {None}


def test_members_of_structs_follow_the_same_rule(snapshot: Path) -> None:
    rows = read_parquet(path_of(snapshot, "symbols"))
    with_parameters = next(row for row in rows if row["parameters"])

    def older(t: pa.Table) -> pa.Table:
        found = t.schema.field("parameters").type
        assert isinstance(found, pa.ListType)
        members = [member for member in found.value_type if member.name != "annotation"]
        field = pa.field("parameters", pa.list_(pa.struct([*members, pa.field("future", pa.int64())])), nullable=False)
        item = pa.field("item", field.type.value_type, nullable=False)
        values = [
            [{**one, "future": 1} for one in of_row] for of_row in t["parameters"].to_pylist() if of_row is not None
        ]
        return retyped(t, "parameters", field.with_type(pa.list_(item)), values)

    of_other(snapshot, "symbols", older)
    again = next(row for row in Snapshot(snapshot).rows("symbols") if row["path"] == with_parameters["path"])
    assert again["parameters"] == [one | {"annotation": None} for one in with_parameters["parameters"]]


OTHERWISE: dict[str, tuple[Change, str]] = {
    "a column with a value in every row is missing": (
        lambda t: t.drop_columns(["answer"]),
        "no answer",
    ),
    "another type": (
        lambda t: retyped(t, "answer", pa.field("answer", pa.int64(), nullable=False), [1] * t.num_rows),
        "answer is int64",
    ),
    "a column that may be without a value": (
        lambda t: retyped(t, "answer", pa.field("answer", pa.string()), [None] * t.num_rows),
        "answer may",
    ),
    "a value of another vocabulary": (
        lambda t: retyped(
            t, "granularity", pa.field("granularity", pa.string(), nullable=False), ["chapter"] * t.num_rows
        ),
        "chapter",
    ),
}


@pytest.mark.parametrize(("change", "problem"), OTHERWISE.values(), ids=OTHERWISE.keys())
def test_anything_else_is_an_error_that_names_both_versions(snapshot: Path, change: Change, problem: str) -> None:
    of_other(snapshot, "completions", change)
    with raises(SnapshotError, problem, "0.0.7", build_version(), code="snapshot_of_other_version"):
        Snapshot(snapshot).rows("completions")
    # what is not read is in nobody's way
    assert Snapshot(snapshot).rows("completions", ("id", "library"))


def test_a_table_that_was_not_published_is_an_error_that_names_both_versions(snapshot: Path) -> None:
    files = {"data/scenes.parquet"}
    edit_manifest(snapshot, lambda m: m.update(files=[one for one in m["files"] if one["path"] not in files]))
    found = Snapshot(snapshot)
    assert not found.has("scenes")
    with raises(SnapshotError, "data/scenes.parquet", build_version(), code="snapshot_of_other_version"):
        found.rows("scenes")


def test_no_file_is_read_that_is_not_the_published_one(snapshot: Path, tmp_path: Path) -> None:
    path = path_of(snapshot, "completions")
    path.write_bytes(path.read_bytes() + b"!")
    with raises(SnapshotError, "sha256", code="snapshot_file_differs"):
        Snapshot(snapshot).rows("completions")
    path.unlink()
    with raises(SnapshotError, "missing", code="snapshot_file_differs"):
        Snapshot(snapshot).rows("completions")
    with raises(SnapshotError, code="snapshot_file_unlisted"):
        Snapshot(snapshot).file("../../etc/passwd")


@pytest.mark.parametrize("name", ["../outside.parquet", "/etc/hostname", "data/../../outside.parquet"])
def test_no_name_in_the_manifest_leads_out_of_the_folder(snapshot: Path, name: str) -> None:
    (snapshot.parent / "outside.parquet").write_text("secret")

    def rename(manifest: dict[str, object]) -> None:
        files = manifest["files"]
        assert isinstance(files, list)
        files[0]["path"] = name

    edit_manifest(snapshot, rename)
    with raises(SnapshotError, "leads out", code="snapshot_file_differs"):
        Snapshot(snapshot).file(name)


def test_no_symbolic_link_is_followed(snapshot: Path, tmp_path: Path) -> None:
    (snapshot / "data").rename(tmp_path / "elsewhere")
    (snapshot / "data").symlink_to(tmp_path / "elsewhere")
    with raises(SnapshotError, "missing", code="snapshot_file_differs"):
        Snapshot(snapshot).rows("completions")


def test_a_snapshot_of_format_1_is_read_by_the_names_of_today(published: Path, snapshot: Path) -> None:
    to_format_1(snapshot)
    old, new = Snapshot(snapshot), Snapshot(published)
    by_library = pc.field("library") == LIBRARY
    for config in TABLES:
        assert old.rows(config) == new.rows(config), config
        assert old.columns(config) == new.columns(config)
        assert old.count([config]) == new.count([config])
    for config in ("completions", "functions"):
        assert old.rows(config, where=by_library) == new.rows(config, where=by_library) != []
        assert old.dataset(config).to_table().equals(new.dataset(config).to_table())
    assert old.rows("completions", ("version_statement",)) == new.rows("completions", ("version_statement",))
    assert verify(snapshot) == []


def test_a_file_with_both_names_of_a_column_has_the_one_of_today(snapshot: Path) -> None:
    whole = Snapshot(snapshot).rows("completions")
    of_other(snapshot, "completions", lambda t: t.append_column("stated", pa.array(["x"] * t.num_rows)))
    assert Snapshot(snapshot).rows("completions") == whole
