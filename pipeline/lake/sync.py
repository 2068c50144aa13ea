"""How workers on several machines share the lake, the runs and the snapshots: through the store of DRIFTLINE_STORE.

The data folder of a worker is a working copy; what the store has is the truth. Without a store one machine has it all,
and everything here does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from pipeline.core.settings import settings
from pipeline.lake.objects import ObjectStore
from pipeline.lake.pinned_versions import FROZEN
from pipeline.lake.remote import Part, checked_out, folder_part, library_part, pull, pull_folder, shared_folder, sweep
from pipeline.lake.run_records import RECORD

PLAN, REPORT = "plan", "report"
"""Tasks of a run that write its record: when it begins, and when it has ended."""


def _store() -> ObjectStore | None:
    address = settings().store
    return ObjectStore(address) if address else None


def _lock(name: str) -> FileLock:
    """Return the lock of a part of this working copy, which the tasks of this machine share."""
    folder = settings().lake / "_locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{name.replace('/', '.')}.checkout.lock")


@contextmanager
def _having(part: Part) -> Iterator[Callable[[], None]]:
    store = _store()
    if store is None:
        yield lambda: None
        return
    with _lock(part.name), checked_out(store, part, settings().lease_s) as checkout:
        yield checkout.commit


@contextmanager
def working_on(library: str) -> Iterator[Callable[[], None]]:
    """Have a library of the lake to oneself among all workers, as the last one left it; yields what commits so far.

    Errors: LeaseLost, StoreError.
    """
    with _having(library_part(settings().lake, library)) as commit:
        yield commit


@contextmanager
def working_on_profile(profile: str) -> Iterator[None]:
    """Have the snapshots and drafts of a profile to oneself among all workers.

    Errors: LeaseLost, StoreError.
    """
    with _having(_snapshots(profile)), _having(_drafts(profile)):
        yield


@contextmanager
def working_on_run(folder: Path, task: str, *, alone: bool = False) -> Iterator[None]:
    """Have the folder of a run with what other workers left in it, if not `alone`: then with what this task left.

    Many tasks do so at a time, each with files of its own.

    Errors: StoreError.
    """
    store = _store()
    if store is None:
        yield
        return
    with shared_folder(store, _run(folder), folder, task, alone=alone):
        yield


def read_run(folder: Path) -> None:
    """Bring what a run left up to date, but for the lake that is kept with it.

    Errors: StoreError.
    """
    if (store := _store()) is not None:
        pull_folder(store, _run(folder), folder, lambda path: not path.startswith(f"{FROZEN}/"))


def read_records() -> None:
    """Bring up to date which runs there were, on whatever worker: their records, and nothing else of them.

    Errors: StoreError.
    """
    if (store := _store()) is not None:
        for run in store.keys("runs"):
            folder = settings().runs / run
            for task in (PLAN, REPORT) if run not in (".", "..") else ():
                pull_folder(store, _run(folder), folder, lambda path: path == RECORD, task)


def forget_run(folder: Path) -> None:
    """Forget in the store what a run left there."""
    if (store := _store()) is not None:
        store.remove(f"{_run(folder)}/{key}" for key in store.keys(_run(folder)))


def sweep_store() -> int:
    """Remove what nothing in the store names any more, and return how many objects that were."""
    store = _store()
    return sweep(store) if store else 0


def read_lake() -> None:
    """Bring the working copy of all libraries up to date; those that this machine works on are waited for.

    Errors: StoreError.
    """
    if (store := _store()) is not None:
        for library in store.keys("lake"):
            part = library_part(settings().lake, library)
            with _lock(part.name):
                pull(store, part)


def read_profile(profile: str) -> None:
    """Bring the snapshots and drafts of a profile up to date.

    Errors: StoreError.
    """
    if (store := _store()) is not None:
        for part in (_snapshots(profile), _drafts(profile)):
            with _lock(part.name):
                pull(store, part)


def _snapshots(profile: str) -> Part:
    return folder_part(f"snapshots/{profile}", settings().snapshots / profile)


def _drafts(profile: str) -> Part:
    return folder_part(f"drafts/{profile}", settings().drafts / profile)


def _run(folder: Path) -> str:
    return f"runs/{folder.name}"
