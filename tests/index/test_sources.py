"""The store of sources: one copy of each file, kept right by many processes, and never trusted when damaged."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.manifest import Artifact, Manifest, sha256_of
from pipeline.index.sources import SourcesError, SourceStore
from tests.errors import raises


def manifest(name: str, contents: dict[str, bytes]) -> Manifest:
    artifact = Artifact(f"files/{name}", sha256_of(name.encode()), 1, ArtifactKind.WHEEL)
    return Manifest(artifact, {f"{name}/{key[:8]}.py": key for key in contents}, ("a.so",), "Name: a", "a\n")


def hashed(*contents: bytes) -> dict[str, bytes]:
    return {hashlib.sha256(content).hexdigest(): content for content in contents}


def execute(store: SourceStore, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store.path)) as database, database:
        return database.execute(statement, values).fetchall()


@settings(deadline=None, max_examples=20)
@given(st.lists(st.binary(max_size=2000), max_size=8))
def test_what_goes_in_comes_out(tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]) -> None:
    store = SourceStore(tmp_path_factory.mktemp("store") / "s.sqlite")
    wanted = hashed(*contents)
    made = manifest("a", wanted)
    store.add(made, wanted)
    assert store.contents(wanted) == wanted
    assert store.manifest(made.artifact.sha256) == made
    assert store.missing([*wanted, "0" * 64]) == {"0" * 64}


def test_a_file_is_kept_once_whatever_has_it(tmp_path: Path) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    for name in ("a", "b"):
        store.add(manifest(name, hashed(b"x", b"y")), hashed(b"x", b"y"))
    assert execute(store, "SELECT count(*) FROM contents") == [(2,)]
    assert len(list(store.manifests())) == 2


def test_nothing_is_known_of_what_was_never_added(tmp_path: Path) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    assert store.manifest("0" * 64) is None
    assert store.contents(["0" * 64]) == {}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE contents SET zstd = x'00' WHERE sha256 = ?",
        "UPDATE contents SET zstd = (SELECT zstd FROM contents WHERE sha256 <> ?1) WHERE sha256 = ?1",
        "UPDATE contents SET size = size + 1 WHERE sha256 = ?",
        "UPDATE contents SET size = -1 WHERE sha256 = ?",
        "DELETE FROM contents WHERE sha256 = ?",
    ],
)
def test_a_damaged_row_is_forgotten_and_can_be_added_again(tmp_path: Path, damage: str) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    contents = hashed(b"x = 1\n" * 50, b"y = 2\n")
    hurt, sound = contents
    store.add(manifest("a", contents), contents)
    execute(store, damage, hurt)
    assert store.contents(contents) == {sound: contents[sound]}
    assert store.missing(contents) == {hurt}
    store.add(manifest("a", contents), contents)
    assert store.contents(contents) == contents


@pytest.mark.parametrize("damage", ["manifest = x'7b7d'", "sha256 = ''"])
def test_a_damaged_manifest_is_not_known(tmp_path: Path, damage: str) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    made = manifest("a", {})
    store.add(made, {})
    execute(store, f"UPDATE trees SET {damage}")
    assert store.manifest(made.artifact.sha256) is None
    assert list(store.manifests()) == []


def test_a_file_that_is_no_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    store.path.write_bytes(b"not a database" * 100)
    with raises(SourcesError, "s.sqlite", code="sources_unusable"):
        store.missing(["0" * 64])


def test_a_store_that_was_removed_begins_empty_whatever_was_left_beside_it(tmp_path: Path) -> None:
    store = SourceStore(tmp_path / "s.sqlite")
    store.add(manifest("a", {}), {})
    with closing(sqlite3.connect(store.path)) as database:
        database.execute("INSERT INTO contents VALUES ('left', 1, x'00')")
        database.commit()
        left = Path(f"{store.path}-wal").read_bytes()
    assert left
    store.path.unlink()
    Path(f"{store.path}-wal").write_bytes(left)
    store.add(manifest("b", {}), {})
    assert execute(store, "SELECT sha256 FROM contents") == []
    assert [known.artifact.url for known in store.manifests()] == ["files/b"]


def fill(path: Path, worker: int) -> None:
    """Add 40 artifacts, of which each has a file that no other worker has and one that all have."""
    store = SourceStore(path)
    for number in range(40):
        contents = hashed(b"shared %d" % number, b"own %d of %d" % (number, worker))
        store.add(manifest(f"{worker}-{number}", contents), contents)
        assert store.contents(contents) == contents
    os._exit(0)


@pytest.mark.parametrize("made", [True, False])
def test_processes_that_fill_the_store_at_once_lose_nothing(tmp_path: Path, made: bool) -> None:
    path = tmp_path / "new" / "s.sqlite"
    if made:
        SourceStore(path).add(manifest("before", {}), {})
    workers = [get_context("fork").Process(target=fill, args=(path, worker)) for worker in range(3)]
    for process in workers:
        process.start()
    for process in workers:
        process.join(60)
    assert [process.exitcode for process in workers] == [0, 0, 0]
    store = SourceStore(path)
    assert execute(store, "SELECT count(*) FROM contents") == [(160,)]
    assert execute(store, "SELECT count(*) FROM trees") == [(120 + made,)]
    assert execute(store, "PRAGMA integrity_check") == [("ok",)]
