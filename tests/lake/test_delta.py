"""The lake as Delta tables, in a folder and in a real S3 store: who writes at once conflicts, and trouble has a code."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from deltalake import DeltaTable

from pipeline.core.places import is_local, place
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake import delta, schema
from pipeline.lake.damage import Damaged
from pipeline.lake.delta import LakeError, LakeProblem, lake_errors
from pipeline.lake.runner import reject_rows
from pipeline.lake.stage import Reject
from pipeline.lake.tables import Lake
from pipeline.orchestration.local_airflow.server import free_port
from tests.errors import raises
from tests.lake.test_deferred import release
from tests.object_store import READER, READER_SECRET, Store, environ, gateway, s3_server


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with s3_server(tmp_path_factory.mktemp("s3")) as found:
        found.files().mkdir("lakes")
        yield found


@pytest.fixture(params=["folder", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "folder":
        return tmp_path / "lake"
    server: Store = request.getfixturevalue("store")
    use(server, monkeypatch)
    return place(f"s3://lakes/{tmp_path.name}")


def use(server: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)


def rows(library: str, *versions: str) -> list[Any]:
    return [release(library, version) for version in versions]


def versions(root: Path, library: str) -> list[str]:
    return [row["version"] for row in Lake(root).read("releases", library)]


@pytest.mark.parametrize("known", ["no table", "no rows", "rows"])
def test_of_two_writers_of_one_library_the_second_has_a_conflict_and_nothing_is_mixed(root: Path, known: str) -> None:
    if known == "no rows":
        Lake(root).write("releases", "other", rows("other", "1.0"))
    if known == "rows":
        Lake(root).write("releases", "demo", rows("demo", "1.0"))
    slow, quick = Lake(root), Lake(root)
    assert slow.files("releases", "demo").keys() == quick.files("releases", "demo").keys()
    quick.write("releases", "demo", rows("demo", "1.0", "1.1"))
    with pytest.raises(LakeError) as conflict:
        slow.write("releases", "demo", rows("demo", "1.0", "2.0"))
    assert conflict.value.code == LakeProblem.CONFLICT
    assert versions(root, "demo") == ["1.0", "1.1"]
    slow.refresh()
    slow.write("releases", "demo", rows("demo", "1.0", "2.0"))
    assert versions(root, "demo") == ["1.0", "2.0"]


@pytest.mark.parametrize("known", ["no rows", "rows"])
def test_commits_at_the_same_moment_conflict_too(root: Path, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One commits when the other has looked and is about to commit: the log itself refuses the second."""
    Lake(root).write("releases", "demo" if known == "rows" else "other", rows("demo", "1.0"))
    slow, quick = Lake(root), Lake(root)
    table = slow.delta("releases")
    commit = table._commit

    def late(*arguments: object) -> None:
        quick.write("releases", "demo", rows("demo", "1.1"))
        commit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "_commit", late)
    with pytest.raises(LakeError) as conflict:
        slow.write("releases", "demo", rows("demo", "2.0"))
    assert conflict.value.code == LakeProblem.CONFLICT
    assert versions(root, "demo") == ["1.1"]


@pytest.mark.parametrize("replacing", [(), ("1.0",), ("0.9", "1.0")])
def test_writers_of_two_libraries_and_of_two_stages_do_not_conflict(
    root: Path, replacing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the other one adds rows, replaces some, or does it again at the next try."""
    one, other = Lake(root), Lake(root)
    one.write("releases", "demo", rows("demo", "1.0"))
    if replacing:
        other.write("releases", "other", rows("other", "0.1"))
    commit = one.delta("releases")._commit
    commits = [rows("other", version) for version in replacing or ("1.0",)]

    def late(*arguments: object) -> None:
        if commits:
            other.write("releases", "other", commits.pop(0))
        commit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(one.delta("releases"), "_commit", late)
    one.write("releases", "demo", rows("demo", "1.0", "1.1"))
    assert (versions(root, "demo"), versions(root, "other")) == (["1.0", "1.1"], ["1.0"])
    assert one.libraries("releases") == ["demo", "other"]
    assert one.files("releases", "other") == Lake(root).files("releases", "other")
    refused = Reject("1.0", RejectReason.YANKED, "")
    for stage in ("crawl", "acceptance"):
        one.write("rejects", "demo", reject_rows(stage, "demo", [refused]), part=stage)
    assert [row["stage"] for row in Lake(root).read("rejects", "demo")] == ["acceptance", "crawl"]


def test_equal_rows_are_no_commit(root: Path) -> None:
    lake = Lake(root)
    lake.write("releases", "demo", rows("demo", "1.0"))
    version = lake.versions()
    lake.write("releases", "demo", rows("demo", "1.0"))
    Lake(root).write("releases", "demo", rows("demo", "1.0"))
    assert Lake(root).versions() == version


def test_rows_that_come_back_are_there(root: Path) -> None:
    for version in ("1.0", "2.0", "1.0"):
        Lake(root).write("releases", "demo", rows("demo", version))
    assert versions(root, "demo") == ["1.0"]


def test_no_rows_and_never_made_are_different(root: Path) -> None:
    lake = Lake(root)
    for library in ("demo", "other"):  # two empty files of one table have the same bytes
        lake.write("releases", library, [])
    assert [bool(Lake(root).files("releases", name)) for name in ("demo", "other", "third")] == [True, True, False]
    lake.drop("releases", "demo")
    assert Lake(root).libraries("releases") == ["other"]


def test_other_readers_see_the_same_rows(root: Path) -> None:
    """In a file both the partition and the column of the library are there."""
    lake = Lake(root)
    for library in ("demo", "other"):
        lake.write("releases", library, rows(library, "1.0", "1.1"))
    table = DeltaTable(str(root / "releases"), storage_options=None if is_local(root) else {"allow_http": "true"})
    releases = table.to_pyarrow_dataset()
    query = "SELECT library, version FROM releases WHERE library = 'demo' ORDER BY version"
    with duckdb.connect() as connection:
        connection.register("releases", releases)
        assert connection.execute(query).fetchall() == [("demo", "1.0"), ("demo", "1.1")]
    seen = polars.scan_delta(table).filter(polars.col("library") == "other").select("version").sort("version")
    assert seen.collect()["version"].to_list() == ["1.0", "1.1"]


def test_a_table_that_is_written_often_is_read_from_few_files(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for number in range(45):
        lake.write("releases", "demo", rows("demo", f"1.{number}"))
    checkpoints = sorted((tmp_path / "releases" / "_delta_log").glob("*.checkpoint.parquet"))
    version = Lake(tmp_path).versions()["releases"]
    assert version - int(checkpoints[-1].name.partition(".")[0]) < 20


def newer(folder: Path) -> None:
    (folder / "_delta_log" / f"{1:020d}.json").write_text(
        json.dumps({"protocol": {"minReaderVersion": 9, "minWriterVersion": 9}}) + "\n"
    )


def damaged(folder: Path) -> None:
    (folder / "_delta_log" / f"{1:020d}.json").write_text('{"add": {"path"')


@pytest.mark.parametrize(("change", "code"), [(newer, LakeProblem.NEWER_FORMAT), (damaged, LakeProblem.DAMAGED_LOG)])
def test_a_table_that_cannot_be_read_is_named(root: Path, change: Callable[[Path], None], code: LakeProblem) -> None:
    Lake(root).write("releases", "demo", rows("demo", "1.0"))
    change(root / "releases")
    with raises(LakeError, "releases", code=code):
        Lake(root).read("releases", "demo")
    with pytest.raises(LakeError) as error:
        Lake(root).write("releases", "demo", [])
    assert error.value.code == code


def test_a_trace_and_colours_of_delta_rs_are_left_out() -> None:
    error = LakeError(
        LakeProblem.DAMAGED_LOG, "releases", "\x1b[31mJson\x1b[0m error\n   0: <unknown>\n   1: start_thread"
    )
    assert str(error).startswith("releases: damaged_log (Json error). What to do: ")


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_damaged_hint_at_the_last_checkpoint_is_ignored(is_folder: bool, tmp_path: Path) -> None:
    for number in range(20):
        Lake(tmp_path).write("releases", "demo", rows("demo", f"1.{number}"))
    hint = tmp_path / "releases" / "_delta_log" / "_last_checkpoint"
    hint.write_bytes(b"")
    if is_folder:
        hint.unlink()
        hint.mkdir()
    for number in range(20):  # to the next checkpoint
        Lake(tmp_path).write("releases", "demo", rows("demo", f"2.{number}"))
    assert versions(tmp_path, "demo") == ["2.19"]
    assert hint.is_file()


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    for number in range(20):
        Lake(tmp_path).write("releases", "demo", rows("demo", f"1.{number}"))
    (checkpoint,) = (tmp_path / "releases" / "_delta_log").glob("*.checkpoint.parquet")
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    with pytest.raises(LakeError) as error:
        versions(tmp_path, "demo")
    assert error.value.code == LakeProblem.DAMAGED_LOG


def test_a_file_that_is_missing_is_damage_that_heals(root: Path) -> None:
    lake = Lake(root)
    lake.write("releases", "demo", rows("demo", "1.0"))
    lake.path("releases", "demo").unlink()
    assert not lake.is_whole("releases", "demo", "part")
    with raises(Damaged, "driftline refresh --libraries demo", code="lake_file_missing"):
        Lake(root).read("releases", "demo")
    Lake(root).write("releases", "demo", rows("demo", "1.0"))
    assert versions(root, "demo") == ["1.0"]


def test_a_schema_that_grew_keeps_what_is_there(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("demo", "other"):
        Lake(root).write("releases", library, rows(library, "1.0"))
    schemas = shutil.copytree(schema.SCHEMAS, tmp_path / "schemas")
    text = (schemas / "releases.yaml").read_text()
    column = '  - {name: added, type: string, nullable: true, meaning: "for a test"}'
    (schemas / "releases.yaml").write_text(text.replace("columns:", f"columns:\n{column}", 1))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "SCHEMAS", schemas)
        schema.table.cache_clear()
        assert versions(root, "other") == ["1.0"]
        Lake(root).write("releases", "demo", [release("demo", "1.0") | {"added": "a"}])
        assert Lake(root).read("releases", "demo")[0]["added"] == "a"
        assert versions(root, "other") == ["1.0"]
    schema.table.cache_clear()
    assert versions(root, "demo") == versions(root, "other") == ["1.0"]


def test_who_has_no_right_to_write_or_no_bucket_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    use(store, monkeypatch)
    root = place("s3://lakes/rights")
    Lake(root).write("releases", "demo", rows("demo", "1.0"))
    for name, value in environ(store.endpoint, READER, READER_SECRET).items():
        monkeypatch.setenv(name, value)
    reader = Lake(root)
    assert reader.read("releases", "demo")
    with pytest.raises(LakeError) as refused:
        reader.write("releases", "demo", [])
    assert refused.value.code == LakeProblem.NOT_ALLOWED
    with pytest.raises(LakeError) as nowhere:
        Lake(place("s3://no-such-bucket/live")).read("releases", "demo")
    assert nowhere.value.code == LakeProblem.NO_BUCKET


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_who_has_no_right_to_write_to_a_folder_is_named(number: int, tmp_path: Path) -> None:
    with raises(LakeError, code="not_allowed") as refused, lake_errors(tmp_path):
        raise OSError(number, os.strerror(number), str(tmp_path / "_locks"))
    assert refused.value.code == LakeProblem.NOT_ALLOWED
    with raises(OSError, "No space left"), lake_errors(tmp_path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_store_that_does_not_answer_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    use(store, monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(delta, "_STORE", {"max_retries": "1", "retry_timeout": "1s"})
    with pytest.raises(LakeError) as away:
        Lake(place("s3://lakes/live")).read("releases", "demo")
    assert away.value.code == LakeProblem.UNREACHABLE


@pytest.mark.slow(minutes=1)
@pytest.mark.parametrize("client", ["log", "files"])
def test_a_store_that_is_away_for_a_while_is_waited_for(
    store: Store, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs are read by deltalake, files by fsspec; each has retries of its own."""
    with gateway(store) as port:
        for name, value in environ(port.endpoint).items():
            monkeypatch.setenv(name, value)
        lake = Lake(place(f"s3://lakes/{tmp_path.name}"))
        lake.write("releases", "demo", rows("demo", "1.0"))
        port.close()
        away = threading.Timer(20, port.open)
        away.start()
        if client == "log":
            lake.write("releases", "demo", rows("demo", "1.1"))
        else:
            lake.refresh("releases")
        assert away.finished.is_set()
        assert versions(lake.root, "demo") == (["1.1"] if client == "log" else ["1.0"])


def test_a_lake_of_the_old_layout_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "_state" / "crawl").mkdir(parents=True)
    with raises(LakeError, "driftline migrate", code="old_layout") as old:
        Lake(tmp_path)
    assert old.value.code == LakeProblem.OLD_LAYOUT
