"""Environments that nobody uses, taken away by last use until what is left is below a size."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.environments.file_locks import BUILDING, IN_USE, alone_now, last_held
from pipeline.lake.damage import read_state

_LINKED_FROM = ("uv/archive-v0/*", "bytecode/*/*")
"""Where the files lie that environments are links to: unpacked wheels, and bytecode."""

PASSES = 25
"""How often at most all files are looked at: of many environments some are taken away together between two looks."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was done: bytes on disk before and after (a file counts once), and the locks taken away and left as used."""

    before_bytes: int
    after_bytes: int
    removed: tuple[str, ...]
    in_use: tuple[str, ...]


class Collection:
    """What lies below the root of a store, kept under a size; sizes of what never changes are remembered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sizes_file = root / "sizes.json"
        self._sizes: dict[str, int] | None = None

    def environments(self) -> list[str]:
        """Return the ids of the locks whose environments are on disk, the one used longest ago first."""
        ids = [path.parent.name for path in self.root.glob("*/lock.txt")]
        return sorted(ids, key=lambda lock_id: (self.last_used(lock_id), lock_id))

    def last_used(self, lock_id: str) -> float:
        """Return when an environment was last taken, in seconds of the epoch."""
        return last_held(self._holding(lock_id))

    def bytes(self) -> int:
        """Return the bytes on disk of environments and of what they are made from, each file counted once."""
        measured = self._recorded_sizes()
        own = [self.root / lock_id for lock_id in self.environments()]
        sizes = {str(path.relative_to(self.root)): path for path in (*own, *self._linked_from())}
        self._sizes = {
            name: measured[name] if name in measured else self._measured(path) for name, path in sizes.items()
        }
        if self._sizes.keys() - measured.keys():
            self._keep_sizes()
        return sum(self._sizes.values()) + self._measured(self.root / "wheels")

    def shrink(self, limit_bytes: int) -> Collected:
        """Take away environments, the one used longest ago first, with what no other is linked to, until all fits.

        What no environment is linked to goes first. Of N environments up to N / PASSES more than needed may go. An
        environment that a process uses stays, whatever the size.
        """
        self._clear_up()
        before = size = self.bytes()
        removed: list[str] = []
        in_use: list[str] = []
        if size > limit_bytes:
            size = self._drop_unused()
        going = self.environments()
        step = len(going) // PASSES + 1
        for start in range(0, len(going), step):
            if size <= limit_bytes:
                break
            for lock_id in going[start : start + step]:
                (removed if self.remove(lock_id) else in_use).append(lock_id)
            size = self._drop_unused()
        return Collected(before, size, tuple(removed), tuple(in_use))

    def remove(self, lock_id: str) -> bool:
        """Take one environment away, its caches stay; False if somebody uses it."""
        holding, folder = self._holding(lock_id), self.root / lock_id
        with alone_now(holding) as mine:
            if mine:
                going = folder.with_name(f".{lock_id}.old")
                shutil.rmtree(going, ignore_errors=True)
                folder.replace(going)
                shutil.rmtree(going, ignore_errors=True)
                for lock in (folder.with_suffix(BUILDING), holding):
                    lock.unlink(missing_ok=True)
            return mine

    def _clear_up(self) -> None:
        """Remove what processes left that were killed as they made an environment, or as they took one away."""
        for orphan in self.root.glob(".*.old"):
            shutil.rmtree(orphan, ignore_errors=True)
        for orphan in self.root.glob(".*.new"):
            with alone_now((self.root / orphan.name[1:]).with_suffix(BUILDING)) as mine:
                if mine:
                    shutil.rmtree(orphan, ignore_errors=True)

    def _drop_unused(self) -> int:
        """Remove what no environment is linked to, unless uv is at work in its cache; return the bytes left."""
        with alone_now(self.root / "uv" / ".lock") as mine:
            for folder in list(self._linked_from()) if mine else ():
                if not _is_linked(folder):
                    shutil.rmtree(folder, ignore_errors=True)
        return self.bytes()

    def _linked_from(self) -> Iterator[Path]:
        return (path for pattern in _LINKED_FROM for path in self.root.glob(pattern))

    def _holding(self, lock_id: str) -> Path:
        return (self.root / lock_id).with_suffix(IN_USE)

    def _recorded_sizes(self) -> dict[str, int]:
        """Return the sizes of folders that never change, as this process or an earlier one measured them."""
        if self._sizes is None:
            self._sizes = read_state(self._sizes_file) or {}
        return self._sizes

    def _keep_sizes(self) -> None:
        """Write down what was measured; where two do so at once, one of them measures some folders again."""
        with tempfile.TemporaryDirectory(prefix=".sizes-", dir=self.root) as folder:
            new = Path(folder, "sizes.json")
            new.write_text(json.dumps(self._sizes))
            new.replace(self._sizes_file)

    def _measured(self, folder: Path) -> int:
        """Return the bytes on disk of a folder; of an environment only those of files that are no links to a cache."""
        environment = folder.parent == self.root and (folder / "lock.txt").is_file()
        return sum(status.st_blocks * 512 for status in _stats(folder) if not environment or status.st_nlink == 1)


def _stats(folder: Path) -> Iterator[os.stat_result]:
    """Yield what is known of every file and folder in a tree; what vanishes meanwhile is passed over."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if entry.is_dir(follow_symlinks=False):
                    yield from _stats(Path(entry.path))
                yield entry.stat(follow_symlinks=False)


def _is_linked(folder: Path) -> bool:
    """Whether an environment has links to the files of a folder: to all of them or to none."""
    return any(status.st_nlink > 1 for status in _stats(folder) if not stat.S_ISDIR(status.st_mode))
