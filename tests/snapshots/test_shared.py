"""Snapshots that several machines share: whoever can write to the store cannot write elsewhere on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.shared import fetch_snapshots
from tests.errors import raises

FOLDER = "/live/_snapshots/starter"


@pytest.fixture
def store(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[fsspec.AbstractFileSystem]:
    monkeypatch.setenv("DRIFTLINE_LAKE", "memory://live")
    files = fsspec.filesystem("memory")
    for name in ("starter-2021-01-01/manifest.json", "starter-2021-01-01/data/uses.parquet", "latest"):
        files.pipe_file(f"{FOLDER}/{name}", name.encode())
    yield files
    files.rm("/live", recursive=True)


def test_snapshots_are_fetched_once(data: Path, store: fsspec.AbstractFileSystem) -> None:
    fetch_snapshots("starter")
    path = data / "snapshots" / "starter" / "starter-2021-01-01" / "data" / "uses.parquet"
    assert path.read_bytes() == b"starter-2021-01-01/data/uses.parquet"
    path.write_bytes(b"as it is")
    fetch_snapshots("starter")
    assert path.read_bytes() == b"as it is"
    store.pipe_file(f"{FOLDER}/starter-2021-01-01/manifest.json", b"another")
    fetch_snapshots("starter")
    assert path.read_bytes() == b"starter-2021-01-01/data/uses.parquet"


def test_a_key_that_leads_out_of_the_folder_is_refused(data: Path, store: fsspec.AbstractFileSystem) -> None:
    key = f"{FOLDER}/starter-2021-01-01/../../../stray"
    store.store[key] = store.store[f"{FOLDER}/latest"]
    with raises(SnapshotError, code="shared_snapshot_unsafe"):
        fetch_snapshots("starter")
    assert not list(data.parent.rglob("stray"))
    del store.store[key]
