"""Parts of a working copy that several machines share: a part is what its newest head in the object store says.

A head names the files of a part by path and sha256; it is written when all of them are there, and never again. So a
worker that is killed at any moment leaves the part as it was, or as it is to be.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.lake.ids import sha256_file
from pipeline.lake.leases import Lease, forget_leases, leased
from pipeline.lake.objects import ObjectStore, StoreError

_HEAD = ".head"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEPT = 3
"""So many leases and heads of a part stay: a reader may still be on its way to the last but one."""


@dataclass(frozen=True)
class Part:
    """A part of a working copy: its name in the store, the folder, and the files of it that are there now."""

    name: str
    root: Path
    files: Callable[[], Iterable[Path]]

    def hashes(self) -> dict[str, str]:
        """Return the sha256 of each file by its path below the root."""
        found = {path.relative_to(self.root).as_posix(): sha256_file(path) for path in self.files()}
        # one that vanished meanwhile is not there
        return {path: sha256 for path, sha256 in found.items() if sha256}


def library_part(lake: Path, library: str) -> Part:
    """Return the part with a library's tables and the records of its stages."""
    patterns = (f"*/library={library}/*", f"later/*/library={library}/*", f"_state/*/{library}.json")
    return Part(f"lake/{library}", lake, lambda: (path for one in patterns for path in lake.glob(one) if _kept(path)))


def folder_part(name: str, folder: Path) -> Part:
    """Return the part with all files of a folder."""
    return Part(name, folder, lambda: (path for path in folder.rglob("*") if _kept(path)))


def _kept(path: Path) -> bool:
    """Tell files from folders, locks, and what is only on its way."""
    return path.is_file() and not path.name.startswith(".") and path.suffix not in (".lock", ".tmp")


def head_of(store: ObjectStore, name: str) -> dict[str, str] | None:
    """Return the files of a part by its newest head, None where it has none."""
    for key in reversed(store.keys(name)):
        if key.endswith(_HEAD) and (head := store.read(f"{name}/{key}")) is not None:
            return {path: sha256 for path, sha256 in _files(head, f"{name}/{key}").items() if sha256}
    return None


def _files(head: Mapping[str, Any] | None, key: str) -> dict[str, str | None]:
    """Return the files that a head names, None for one that went; none for a head that is gone.

    Errors: StoreError for a head that names a place outside the working copy, or no sha256: no worker wrote that.
    """
    files = (head or {}).get("files", {})
    for path, sha256 in files.items() if isinstance(files, dict) else [("", files)]:
        inside = path and not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts
        if not inside or not (sha256 is None or (isinstance(sha256, str) and _SHA256.fullmatch(sha256))):
            raise StoreError(
                f"{key} names {path or files!r}, which is no file of a working copy with its sha256: somebody else"
                " writes to the store; see who may, and remove that key"
            )
    return dict(files)


def pull(store: ObjectStore, part: Part) -> dict[str, str]:
    """Make a part what its head says, and return that; a part without a head stays what it is here."""
    head = head_of(store, part.name)
    if head is None:
        return {}
    here = part.hashes()
    wanted = {path: sha256 for path, sha256 in head.items() if here.get(path) != sha256}
    # what lies on top may point to what lies deeper, as `latest` does
    for on_top in (False, True):
        store.get({part.root / path: sha256 for path, sha256 in wanted.items() if ("/" not in path) == on_top})
    for path in here.keys() - head.keys():
        (part.root / path).unlink(missing_ok=True)
    return head


@dataclass
class Checkout:
    """A part that this worker alone may change, and what of it the store has."""

    part: Part
    lease: Lease
    committed: dict[str, str]
    _commits: int = field(default=0, init=False)

    def commit(self) -> None:
        """Send what has changed, and then say so.

        Errors: LeaseLost.
        """
        here = self.part.hashes()
        if here == self.committed:
            return
        known = set(self.committed.values())
        store = self.lease.store
        store.put({sha256: self.part.root / path for path, sha256 in here.items() if sha256 not in known})
        self.lease.check()
        self._commits += 1
        store.create(f"{self.part.name}/{self.lease.number:08d}.{self._commits:06d}{_HEAD}", {"files": here})
        self.committed = here

    def forget(self) -> None:
        """Remove heads and leases that nobody reads any more; the objects stay until they are swept."""
        store, name = self.lease.store, self.part.name
        heads = [key for key in store.keys(name) if key.endswith(_HEAD)]
        store.remove(f"{name}/{key}" for key in heads[:-_KEPT])
        forget_leases(store, name, self.lease.number - _KEPT)


@contextmanager
def checked_out(store: ObjectStore, part: Part, patience_s: float) -> Iterator[Checkout]:
    """Have a part to oneself, as the store has it; what was done is committed at the end, also after an error.

    A stage that breaks off leaves the part in a state from which it can go on, here as anywhere.
    """
    with leased(store, part.name, patience_s) as lease:
        checkout = Checkout(part, lease, pull(store, part))
        try:
            yield checkout
        finally:
            checkout.commit()
            checkout.forget()


@contextmanager
def shared_folder(store: ObjectStore, name: str, folder: Path, who: str, *, alone: bool = False) -> Iterator[None]:
    """Have a folder that many workers fill at once, each with files of its own, and leave there what came, or went.

    Whoever begins after another one has ended sees all that it left, or, if it wants to be `alone`, what those of its
    own name left. Of a file that two wrote, the later one counts.
    """
    part = folder_part(name, folder)
    number = pull_folder(store, name, folder, who=who if alone else None) + 1
    before = _marks(part)
    try:
        yield
    finally:
        after = _marks(part)
        new = {path: sha256_file(folder / path) for path, mark in after.items() if before.get(path) != mark}
        changes = {path: sha256 for path, sha256 in new.items() if sha256} | dict.fromkeys(before.keys() - after)
        store.put({sha256: folder / path for path, sha256 in changes.items() if sha256})
        if changes:
            store.create(f"{name}/{number:08d}.{who}.{uuid.uuid4().hex[:8]}{_HEAD}", {"files": changes})


def pull_folder(
    store: ObjectStore,
    name: str,
    folder: Path,
    wanted: Callable[[str], bool] = lambda path: True,
    who: str | None = None,
) -> int:
    """Do in a folder what others, or only `who`, did in theirs to files that are wanted; return the last number."""
    heads = [key for key in store.keys(name) if key.endswith(_HEAD)]
    read = [key for key in heads if who is None or key.split(".")[1] == who]
    files: dict[str, str | None] = {}
    for key, change in zip(read, store.read_all(f"{name}/{key}" for key in read), strict=True):
        files |= {path: sha256 for path, sha256 in _files(change, f"{name}/{key}").items() if wanted(path)}
    here = {path: sha256_file(folder / path) for path in files}
    store.get({folder / path: sha256 for path, sha256 in files.items() if sha256 and here[path] != sha256})
    for path in [path for path, sha256 in files.items() if sha256 is None and here[path]]:
        (folder / path).unlink(missing_ok=True)
    return max((int(key.partition(".")[0]) for key in heads), default=0)


def sweep(store: ObjectStore) -> int:
    """Remove the objects that no head of any part has named for a week, and return how many they were."""
    named: set[str] = set()
    for kind in ("lake", "snapshots", "drafts", "runs"):
        for name in store.keys(kind):
            named |= _named(store, f"{kind}/{name}")
    return store.sweep(named)


def _named(store: ObjectStore, name: str) -> set[str]:
    """Return the sha256 that the heads of a part name, read again where heads came and went meanwhile."""
    seen: list[str] = []
    named: set[str] = set()
    while (heads := [f"{name}/{key}" for key in store.keys(name) if key.endswith(_HEAD)]) != seen:
        seen = heads
        for key, head in zip(heads, store.read_all(heads), strict=True):
            named |= {sha256 for sha256 in _files(head, key).values() if sha256}
    return named


def _marks(part: Part) -> dict[str, tuple[int, int, int]]:
    """Return what tells a file from a later one under its name, without reading it."""
    marks = {}
    for path in part.files():
        seen = path.stat()
        marks[path.relative_to(part.root).as_posix()] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
    return marks
