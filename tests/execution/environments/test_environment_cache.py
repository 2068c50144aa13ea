"""Environments on disk: shared, rebuilt from their lock, never taken away under whoever uses them."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.execution.environments.file_locks import BUILDING, IN_USE, alone, last_held
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.store import EnvironmentStore
from tests.errors import raises
from tests.index_server import Index

Stores = Callable[..., EnvironmentStore]
Wants = Callable[..., EnvironmentRequest]

MAY = "2021-05-01T00:00:00Z"


@pytest.fixture
def store(index: Index, store_at: Stores, tmp_path: Path) -> EnvironmentStore:
    for library in ("lib", "other"):
        index.add_wheel(library, "1.0", {f"{library}.py": f"name = {library!r}\n" * 9999}, MAY)
    return store_at(tmp_path / "store")


def built(store: EnvironmentStore, wanted: EnvironmentRequest) -> Any:
    row = store.build(wanted)
    assert row["outcome"] == Outcome.BUILT, row["detail"]
    return row


def says(environment_python: Path, program: str) -> str:
    return subprocess.run(
        [environment_python, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_one_lock_is_one_environment_for_all_who_want_it(store: EnvironmentStore, request_for: Wants) -> None:
    alone = built(store, request_for())
    same = built(store, request_for(pins=("lib==1.0",)))
    more = built(store, request_for(pins=("other==1.0",)))
    assert alone["lock_id"] == same["lock_id"] != more["lock_id"]
    assert store.open(alone) == store.open(same)


def test_what_was_built_is_known_without_the_index(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": ""}, MAY)
    row = store_at(tmp_path).build(request_for())
    index.projects.clear()
    assert store_at(tmp_path).build(request_for()) == row
    assert store_at(tmp_path).build(request_for(pins=("x",)))["outcome"] == Outcome.NO_FILES
    assert store_at(tmp_path, slack_days=31).build(request_for())["outcome"] == Outcome.NO_FILES


def test_the_one_used_longest_ago_goes_with_what_only_it_is_linked_to(
    store: EnvironmentStore, request_for: Wants
) -> None:
    both, alone = built(store, request_for(pins=("other==1.0",))), built(store, request_for())
    gc.collect()
    for row, when in ((both, 1_000), (alone, 2_000)):
        os.utime(store.root / f"{row['lock_id']}{IN_USE}", (when, when))
    assert store.collection.environments() == [both["lock_id"], alone["lock_id"]]
    before = store.collection.bytes()
    done = store.collection.shrink(before - 1)
    assert (done.removed, done.in_use, done.before_bytes) == ((both["lock_id"],), (), before)
    assert done.after_bytes < before - 40_000  # `other` and its bytecode
    left = {path.name for path in (store.root / "uv" / "archive-v0").glob("*/*.py")}
    assert left == {"lib.py"}
    assert store.collection.shrink(before).removed == ()
    assert says(store.open(both).python, "import lib, other; print(lib.name, other.name)") == "lib other"


def test_an_environment_in_use_is_never_taken(store: EnvironmentStore, request_for: Wants) -> None:
    row = built(store, request_for())
    environment = store.open(row)
    done = store.collection.shrink(0)
    assert (done.removed, done.in_use) == ((), (row["lock_id"],))
    assert says(environment.python, "import lib; print(lib.name)") == "lib"
    del environment
    assert store.collection.shrink(0).removed == (row["lock_id"],)
    assert not [path for path in store.root.iterdir() if row["lock_id"] in path.name]


def test_what_killed_processes_left_is_cleared(store: EnvironmentStore, request_for: Wants) -> None:
    made = {store.root / name / "lib": name for name in (".a.old", ".b.new", ".c.new")}
    for path in made:
        path.mkdir(parents=True)
    with alone((store.root / "c").with_suffix(BUILDING)):
        store.collection.shrink(1 << 40)
        assert [name for path, name in made.items() if path.exists()] == [".c.new"]
    store.collection.shrink(1 << 40)
    assert not [path for path in made if path.exists()]


def test_another_process_counts_as_a_user(store: EnvironmentStore, request_for: Wants) -> None:
    row = built(store, request_for())
    gc.collect()
    program = "import sys; from pathlib import Path; from pipeline.execution.environments.file_locks import hold\n"
    program += "hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    held = str(store.root / f"{row['lock_id']}{IN_USE}")
    with subprocess.Popen([sys.executable, "-c", program, held], stdin=-1, stdout=-1, text=True) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "held\n"
        assert store.collection.shrink(0).in_use == (row["lock_id"],)
        user.kill()
    assert store.collection.shrink(0).removed == (row["lock_id"],)


def test_building_keeps_the_store_under_its_size(
    store: EnvironmentStore, request_for: Wants, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = built(store, request_for())
    monkeypatch.setenv("DRIFTLINE_ENVIRONMENTS_GIB", "0.00001")
    second = built(store, request_for(pins=("other==1.0",)))
    assert store.collection.environments() == [second["lock_id"]]
    assert last_held(store.root / f"{first['lock_id']}{IN_USE}") == 0


def test_an_environment_whose_interpreter_went_is_made_again(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add_wheel("lib", "1.0", {"lib.py": "answer = 42"}, MAY)
    store = store_at(tmp_path / "store")
    row = built(store, request_for())
    link = store.root / row["lock_id"] / "bin" / "python"
    link.unlink()
    link.symlink_to(tmp_path / "went")
    assert says(store.open(row).python, "import lib; print(lib.answer)") == "42"
    store.interpreters = tuple(found for found in store.interpreters if found.python != row["python"])
    with raises(StepFailed, f"Python {row['python']}") as failed:
        store.open(row)
    assert failed.value.outcome == Outcome.NO_INTERPRETER


def test_someone_deletes_what_we_use(store: EnvironmentStore, request_for: Wants) -> None:
    row = built(store, request_for())
    environment = store.open(row)
    shutil.rmtree(store.root / row["lock_id"])
    assert store.open(row) == environment


def test_many_threads_and_a_collector_at_once(store: EnvironmentStore, request_for: Wants) -> None:
    """Whoever opens gets an environment that works for as long as it is held, whatever is taken away meanwhile."""
    rows = [built(store, request_for()), built(store, request_for(pins=("other==1.0",)))]
    wrong: list[object] = []
    over = threading.Event()

    def use(row: Any) -> None:
        for _ in range(12):
            environment = store.open(row)
            try:
                wrong.extend([] if says(environment.python, "import lib; print(lib.name)") == "lib" else [row])
            except (OSError, subprocess.SubprocessError) as error:
                wrong.append(error)
            del environment

    def collect() -> None:
        while not over.is_set():
            store.collection.shrink(0)

    users = [threading.Thread(target=use, args=(row,)) for row in rows * 2]
    collector = threading.Thread(target=collect)
    for thread in (*users, collector):
        thread.start()
    for thread in users:
        thread.join()
    over.set()
    collector.join()
    assert wrong == []
