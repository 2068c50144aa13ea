"""Snapshots in a real S3-compatible server, in a folder and in memory: whole, once, and `latest` last."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pandas as pd
import pytest
from s3fs import S3FileSystem

from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.upload import store as store_module
from pipeline.snapshots.upload.outgoing import NotUploaded, Outgoing, outgoing
from pipeline.snapshots.upload.store import upload_to_store
from tests.errors import raises
from tests.object_store import READER, READER_SECRET, Store, environ, s3_server
from tests.snapshots.lakes import demo_snapshot, tables
from tests.snapshots.upload.faulty import Faults, faulty


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Outgoing:
    folder = tmp_path_factory.mktemp("published")
    return outgoing(demo_snapshot(folder))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with s3_server(tmp_path_factory.mktemp("s3")) as store:
        store.files().makedirs("published")
        yield store


@pytest.fixture
def bucket(store: Store, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place of the test's own in a bucket, and the keys to it in the environment."""
    use(store.endpoint, monkeypatch)
    return f"published/{request.node.name.partition('[')[0]}"


def use(endpoint: str, monkeypatch: pytest.MonkeyPatch, **keys: str) -> None:
    for name, value in environ(endpoint, **keys).items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()


def renamed(snapshot: Outgoing, folder: Path, name: str) -> Outgoing:
    """The same files as the snapshot of another day."""
    path = folder / name
    shutil.copytree(snapshot.manifest.local.parent, path)
    return outgoing(path)


@pytest.mark.slow
def test_a_snapshot_is_whole_in_a_bucket_and_read_from_there_in_one_line(
    snapshot: Outgoing, store: Store, bucket: str
) -> None:
    done = upload_to_store(snapshot, f"s3://{bucket}/data/")
    root = f"{bucket}/data/mine"
    assert done.address == f"s3://{root}/{snapshot.name}"
    assert (done.existing, done.latest) == ((), snapshot.name)
    assert {file.path for file in snapshot.files} == set(done.sent)
    files = store.files()
    assert files.cat_file(f"{root}/latest") == f"{snapshot.name}\n".encode()
    assert all(
        files.cat_file(f"{root}/{snapshot.name}/{file.path}") == file.local.read_bytes() for file in snapshot.files
    )
    rows = pd.read_parquet(f"s3://{root}/{snapshot.name}/data/completions.parquet")
    assert len(rows) == len(tables()["published_completions"])


@pytest.mark.slow
def test_what_is_there_is_not_sent_again(snapshot: Outgoing, store: Store, bucket: str) -> None:
    first = upload_to_store(snapshot, f"s3://{bucket}")
    before = store.files().info(f"{bucket}/mine/{snapshot.name}/manifest.json")["LastModified"]
    again = upload_to_store(snapshot, f"s3://{bucket}")
    assert (again.sent, set(again.existing)) == ((), set(first.sent))
    assert store.files().info(f"{bucket}/mine/{snapshot.name}/manifest.json")["LastModified"] == before


@pytest.mark.slow
def test_nothing_is_overwritten(snapshot: Outgoing, store: Store, bucket: str) -> None:
    other = f"{bucket}/mine/{snapshot.name}/data/completions.parquet"
    store.files().pipe_file(other, b"another")
    with raises(NotUploaded, code="upload_file_taken"):
        upload_to_store(snapshot, f"s3://{bucket}")
    assert store.files().cat_file(other) == b"another"
    assert not store.files().exists(f"{bucket}/mine/{snapshot.name}/manifest.json")
    assert not store.files().exists(f"{bucket}/mine/latest")


@pytest.mark.slow
def test_latest_moves_on_and_never_back(snapshot: Outgoing, store: Store, bucket: str, tmp_path: Path) -> None:
    newer, revised = (renamed(snapshot, tmp_path, name) for name in ("mine-2021-04-01", "mine-2021-04-01.r2"))
    latest = [upload_to_store(each, f"s3://{bucket}").latest for each in (snapshot, revised, newer, snapshot)]
    assert latest == [snapshot.name, revised.name, revised.name, revised.name]
    assert store.files().cat_file(f"{bucket}/mine/latest") == b"mine-2021-04-01.r2\n"
    assert len(store.files().ls(f"{bucket}/mine")) == 4


@pytest.mark.slow
def test_an_upload_that_broke_off_goes_on_where_it_was(
    snapshot: Outgoing, store: Store, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server refuses for a while is asked again; then the keys expire on the way."""
    with faulty(store.endpoint) as proxy:
        use(proxy.endpoint, monkeypatch)
        proxy.faults = Faults(slow_down=2, expired_after=10)
        with pytest.raises(NotUploaded, match="expired"):
            upload_to_store(snapshot, f"s3://{bucket}")
        there = store.files().find(f"{bucket}/mine")
        assert len(there) == 10
        assert not {path for path in there if path.endswith(("latest", "manifest.json"))}
        proxy.faults = Faults()
        proxy.put.clear()
        done = upload_to_store(snapshot, f"s3://{bucket}")
    assert len(done.existing) == len(there)
    assert len(proxy.put) == len(done.sent) + 1  # and `latest`
    assert proxy.put[-2:] == [f"/{bucket}/mine/{snapshot.name}/manifest.json", f"/{bucket}/mine/latest"]


@pytest.mark.slow
def test_a_killed_command_goes_on_where_it_was(snapshot: Outgoing, store: Store, bucket: str) -> None:
    command = [sys.executable, "-c", "from pipeline.cli.main import main; main()", "upload"]
    command += [str(snapshot.manifest.local.parent), f"s3://{bucket}", "--json"]
    with faulty(store.endpoint) as proxy:
        proxy.faults = Faults(silent_after=7)
        process = subprocess.Popen(command, env=os.environ | environ(proxy.endpoint), stdout=subprocess.PIPE)
        assert proxy.silent.wait(120)
        process.kill()
        process.communicate()
    there = store.files().find(f"{bucket}/mine")
    told = subprocess.run(command, env=os.environ | environ(store.endpoint), capture_output=True, text=True, check=True)
    done = json.loads(told.stdout)
    assert (len(there), len(done["existing"]), done["latest"]) == (7, 7, snapshot.name)
    assert len(done["sent"]) == len(snapshot.files) - 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"key": READER, "secret": READER_SECRET}, "AWS_ACCESS_KEY_ID"),
        ({"secret": "wrong"}, "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_keys_that_may_not_write_are_told(
    snapshot: Outgoing, store: Store, bucket: str, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str], told: str
) -> None:
    use(store.endpoint, monkeypatch, **keys)
    with raises(NotUploaded, told, code="upload_not_allowed"):
        upload_to_store(snapshot, f"s3://{bucket}")


@pytest.mark.slow
def test_a_bucket_that_is_not_there_is_told(snapshot: Outgoing, bucket: str) -> None:
    with raises(NotUploaded, code="upload_bucket_missing"):
        upload_to_store(snapshot, "s3://nowhere-at-all")


def test_a_folder_gets_the_same_layout(snapshot: Outgoing, tmp_path: Path) -> None:
    done = upload_to_store(snapshot, f"file://{tmp_path}/share")
    folder = tmp_path / "share" / "mine"
    assert (folder / "latest").read_text() == f"{snapshot.name}\n"
    assert read_manifest(folder / snapshot.name).profile == "mine"
    assert {
        path.relative_to(folder / snapshot.name).as_posix() for path in (folder / snapshot.name).rglob("*.*")
    } == set(done.sent)
    (folder / snapshot.name / "README.md").write_text("mine\n")
    with raises(NotUploaded, "README.md", code="upload_file_taken"):
        upload_to_store(snapshot, f"file://{tmp_path}/share")
    assert (folder / snapshot.name / "README.md").read_text() == "mine\n"


def test_any_store_of_fsspec_does(snapshot: Outgoing) -> None:
    done = upload_to_store(snapshot, "memory://somewhere")
    assert fsspec.filesystem("memory").cat_file("/somewhere/mine/latest").decode().strip() == done.latest


def test_who_makes_latest_meanwhile_is_looked_at_again(
    snapshot: Outgoing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of stores that cannot tell by an error number either, that somebody else was faster."""
    newer = renamed(snapshot, tmp_path, "mine-2021-04-01")
    upload_to_store(newer, "memory://race")
    seen: list[tuple[None, dict[str, str]]] = [(None, {})]
    looked = store_module._latest
    monkeypatch.setattr(store_module, "_latest", lambda *asked: seen.pop() if seen else looked(*asked))
    assert upload_to_store(snapshot, "memory://race").latest == newer.name


@pytest.mark.parametrize(("to", "told"), [("nowhere://x", "nowhere"), ("s4://bucket", "s4"), ("gs://bucket", "gcsfs")])
def test_an_address_that_nobody_knows_is_told(snapshot: Outgoing, to: str, told: str) -> None:
    with raises(NotUploaded, told):
        upload_to_store(snapshot, to)


def test_no_password_of_an_address_is_told(snapshot: Outgoing) -> None:
    with raises(NotUploaded, "nowhere://me:***@host/x", code="upload_broken_off") as told:
        upload_to_store(snapshot, "nowhere://me:s3cret@host/x")
    assert "s3cret" not in str(told.value)


def test_latest_of_a_folder_is_never_half_written(
    snapshot: Outgoing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_to_store(snapshot, f"file://{tmp_path}/share")
    newer = renamed(snapshot, tmp_path, "mine-2021-04-01")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with raises(NotUploaded, "No space left", code="upload_broken_off"):
        upload_to_store(newer, f"file://{tmp_path}/share")
    monkeypatch.undo()
    assert (tmp_path / "share" / "mine" / "latest").read_text() == f"{snapshot.name}\n"
    assert upload_to_store(newer, f"file://{tmp_path}/share").latest == newer.name
    assert {path.name for path in (tmp_path / "share" / "mine").iterdir()} == {snapshot.name, newer.name, "latest"}


def test_a_snapshot_that_fails_a_check_is_not_sent(snapshot: Outgoing, tmp_path: Path) -> None:
    broken = tmp_path / snapshot.name
    shutil.copytree(snapshot.manifest.local.parent, broken)
    (broken / "README.md").write_text("other\n")
    with raises(NotUploaded, "README.md", "sha256", code="upload_checks_fail"):
        outgoing(broken)


def test_a_folder_without_a_snapshots_name_is_not_sent(snapshot: Outgoing, tmp_path: Path) -> None:
    shutil.copytree(snapshot.manifest.local.parent, tmp_path / "copy")
    with raises(NotUploaded, "mine-2026-11-22", code="upload_misnamed"):
        outgoing(tmp_path / "copy")
    with raises(NotUploaded, code="upload_no_snapshot"):
        outgoing(tmp_path)
