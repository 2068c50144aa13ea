"""Parts of the lake in an object store: over a folder here, and over a real S3 server in the test of the cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pipeline.lake.leases import LeaseLost, leased
from pipeline.lake.objects import ObjectStore, StoreError
from pipeline.lake.remote import Part, checked_out, head_of, library_part, pull, pull_folder, shared_folder
from tests.object_store import Store, environ, s3_server

PATIENCE_S = 2.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        running.files().mkdir("driftline")
        yield running


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    if request.param == "file":
        return ObjectStore(f"file://{tmp_path}/store")
    for name, value in request.getfixturevalue("server").environ.items():
        monkeypatch.setenv(name, value)
    return ObjectStore(f"s3://driftline/{tmp_path.name}")


def copy_of(folder: Path, library: str = "demo") -> Part:
    return library_part(folder, library)


def put(folder: Path, text: str, table: str = "symbols", part: str = "part") -> Path:
    path = folder / table / "library=demo" / f"{part}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_one_worker_commits_another_has(store: ObjectStore, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    with checked_out(store, copy_of(one), PATIENCE_S):
        put(one, "first")
        put(one, "of another stage", "changes")
    put(other, "stale", part="1.5")
    with checked_out(store, copy_of(other), PATIENCE_S):
        assert put(other, "second", "changes").read_text() == "second"
        assert (other / "symbols/library=demo/part.parquet").read_text() == "first"
        assert not (other / "symbols/library=demo/1.5.parquet").exists()
    pull(store, copy_of(one))
    assert (one / "changes/library=demo/part.parquet").read_text() == "second"


def test_what_broke_off_is_committed_and_other_libraries_are_left_alone(store: ObjectStore, tmp_path: Path) -> None:
    put(tmp_path / "one", "half")
    theirs = tmp_path / "one" / "symbols" / "library=other" / "part.parquet"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    with pytest.raises(ZeroDivisionError), checked_out(store, copy_of(tmp_path / "one"), PATIENCE_S):
        raise ZeroDivisionError
    assert set(head_of(store, "lake/demo") or {}) == {"symbols/library=demo/part.parquet"}
    assert head_of(store, "lake/other") is None
    assert theirs.read_text() == "theirs"


def test_an_object_that_was_lost_is_told(store: ObjectStore, tmp_path: Path) -> None:
    with checked_out(store, copy_of(tmp_path / "one"), PATIENCE_S):
        put(tmp_path / "one", "first")
    (sha256,) = (head_of(store, "lake/demo") or {}).values()
    store.remove([f"objects/{sha256[:2]}/{sha256}"])
    with pytest.raises(StoreError, match="put it back from a backup"):
        pull(store, copy_of(tmp_path / "other"))


@pytest.mark.parametrize(
    "files",
    [{"../../beside": "0" * 64}, {"/etc/motd": "0" * 64}, {"a/b": "../../secret"}, {"a": 1}, ["a"], None],
    ids=str,
)
def test_a_head_that_no_worker_wrote_is_refused(store: ObjectStore, tmp_path: Path, files: object) -> None:
    store.create("lake/demo/00000001.000001.head", {"files": files})
    store.create("runs/r/00000001.plan.0.head", {"files": files})
    for pulled in (
        lambda: pull(store, copy_of(tmp_path / "one")),
        lambda: pull_folder(store, "runs/r", tmp_path / "r"),
    ):
        with pytest.raises(StoreError, match="see who may"):
            pulled()
    assert not (tmp_path / "one").exists()


def test_a_worker_that_was_thought_dead_overwrites_nothing(store: ObjectStore, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    late = ExitStack()
    checkout = late.enter_context(checked_out(store, copy_of(one), PATIENCE_S))
    put(one, "late")
    # what its successor does: the next number, as after a silence
    assert store.create(f"lake/demo/{checkout.lease.number + 1:08d}.lease", {"released": True})
    with checked_out(store, copy_of(other), PATIENCE_S):
        put(other, "of the successor")
    with pytest.raises(LeaseLost, match="took over"):
        late.close()
    pull(store, copy_of(one))
    assert (one / "symbols/library=demo/part.parquet").read_text() == "of the successor"


def _hold(url: str, folder: str, taken: multiprocessing.Queue[int]) -> None:
    with checked_out(ObjectStore(url), copy_of(Path(folder)), PATIENCE_S) as checkout:
        put(Path(folder), "done")
        checkout.commit()
        put(Path(folder), "half done")
        taken.put(checkout.lease.number)
        time.sleep(60)


@pytest.mark.slow
def test_a_killed_worker_is_followed_after_its_silence_and_not_before(store: ObjectStore, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    taken: multiprocessing.Queue[int] = context.Queue()
    worker = context.Process(target=_hold, args=(store.url, str(tmp_path / "one"), taken))
    worker.start()
    number = taken.get(timeout=300)
    assert worker.pid is not None
    waited, killed = 0.0, False

    def wait(seconds: float) -> None:
        nonlocal waited, killed
        waited += seconds
        if waited > 1.3 * PATIENCE_S and not killed:
            killed = True
            os.kill(worker.pid or 0, signal.SIGKILL)
        time.sleep(seconds)

    with leased(store, "lake/demo", PATIENCE_S, wait) as lease:
        assert killed
        assert lease.number == number + 1
    worker.join(60)
    pull(store, copy_of(tmp_path / "other"))
    assert (tmp_path / "other/symbols/library=demo/part.parquet").read_text() == "done"


def test_of_several_who_create_a_key_one_wins(store: ObjectStore) -> None:
    together = threading.Barrier(8)
    keys = 20 if store.url.startswith("file:") else 2  # a server is slow to refuse

    def create(key: str, number: int) -> bool:
        together.wait(60)
        return store.create(key, {"number": number})

    with ThreadPoolExecutor(8) as pool:
        for key in (f"lake/demo/{number:08d}.lease" for number in range(keys)):
            won = list(pool.map(create, [key] * 8, range(8)))
            assert won.count(True) == 1
            assert store.read(key) == {"number": won.index(True)}
    assert len(store.keys("lake/demo")) == keys


@pytest.mark.parametrize("address", ["nonesuch://bucket", "s3://bucket/prefix"])
def test_a_store_that_cannot_be_used_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (environ("http://127.0.0.1:1") | {"AWS_MAX_ATTEMPTS": "1"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    monkeypatch.setattr("s3fs.S3FileSystem.cachable", False)  # else the client of an earlier test, whose server answers
    with pytest.raises(StoreError, match=rf"the object store {address} cannot be used: .*See that it answers"):
        ObjectStore(address).keys("lake")


class NoAnswer(Exception):
    """What clients of stores raise that are no OSError, as botocore where nobody listens."""


class Silent(ObjectStore):
    """A store that does not answer for a while."""

    silent = False

    def write(self, key: str, value: Mapping[str, Any]) -> None:
        if self.silent:
            raise NoAnswer("could not connect")
        super().write(key, value)


def test_a_store_that_is_silent_for_a_while_does_not_end_the_signs_of_life(tmp_path: Path) -> None:
    silent = Silent(f"file://{tmp_path}/store")
    with leased(silent, "lake/demo", 0.2) as lease:
        key = f"lake/demo/{lease.number:08d}.lease"
        silent.silent = True
        time.sleep(0.2)
        silent.silent = False
        before = silent.read(key)
        deadline = time.monotonic() + 60
        while silent.read(key) in (before, None) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert silent.read(key) != before


def _take(url: str, shared: str, turns: int) -> None:
    for _ in range(turns):
        with leased(ObjectStore(url), "lake/demo", 30.0, lambda _: time.sleep(0.005)):
            path = Path(shared)
            number = int(path.read_text())
            time.sleep(0.002)
            path.write_text(str(number + 1))


@pytest.mark.slow
def test_workers_that_want_the_same_take_turns(store: ObjectStore, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_take, args=(store.url, str(counter), 5)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
    assert counter.read_text() == "15"


def test_a_folder_of_many_workers_has_what_each_left(store: ObjectStore, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    with shared_folder(store, "runs/r", one, "plan"):
        (one / "run.json").write_text("begun")
    with shared_folder(store, "runs/r", one, "crawl-a"), shared_folder(store, "runs/r", other, "crawl-b"):
        (one / "a.json").write_text("a")
        (other / "b.json").write_text("b")
        assert (other / "run.json").read_text() == "begun"
    with shared_folder(store, "runs/r", other, "refreshed"):
        assert sorted(path.name for path in other.iterdir()) == ["a.json", "b.json", "run.json"]
        (other / "run.json").write_text("ended")
        (other / "a.json").unlink()
    with shared_folder(store, "runs/r", one, "publish"):
        assert {path.name: path.read_text() for path in one.iterdir()} == {"b.json": "b", "run.json": "ended"}


def test_what_has_not_changed_is_not_committed_again(store: ObjectStore, tmp_path: Path) -> None:
    for text in ("one", "two", "three", "four", "five"):
        with checked_out(store, copy_of(tmp_path / "one"), PATIENCE_S):
            put(tmp_path / "one", text)
    before = store.keys("lake/demo")
    with checked_out(store, copy_of(tmp_path / "one"), PATIENCE_S):
        pass
    assert [key for key in store.keys("lake/demo") if key.endswith(".head")] == [
        key for key in before if key.endswith(".head")
    ]
    for _ in range(10):
        with checked_out(store, copy_of(tmp_path / "one"), PATIENCE_S):
            pass
    assert len(store.keys("lake/demo")) < 10
