"""The layout of a lake before Delta Lake, `TABLE/library=LIBRARY/PART.parquet`, migrated once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from pipeline.lake.damage import Damaged, read_state
from pipeline.lake.deferred import FOLDER
from pipeline.lake.delta import NewFile
from pipeline.lake.runner import StageStates
from pipeline.lake.schema import table, table_names
from pipeline.lake.tables import OLD_STATES, Lake, naming_damage

_OLD_DEFERRED = "later"


@dataclass(frozen=True, slots=True)
class Migrated:
    """The numbers of table files and of stage states that came into the lake."""

    files: int
    states: int


def migrate_lake(old: Path, root: Path) -> Migrated:
    """Move the tables and states of a folder of the old layout into the lake at `root`.

    The bytes of the files stay the same, so that no stage runs again. If it is interrupted, it can be called again. A
    damaged file is left out: its stage makes it again.

    Errors: LakeError.
    """
    aside = old / f"{OLD_STATES}.migrated"
    if (old / OLD_STATES).is_dir():
        # `Lake` refuses a folder that has it
        (old / OLD_STATES).rename(aside)
    lake = Lake(root)
    files = sum(_tables(old / folder, Lake(target)) for folder, target in ((_OLD_DEFERRED, root / FOLDER), ("", root)))
    counts = 0
    for library in sorted({path.stem for path in aside.glob("*/*.json")}):
        states = {path.parent.name: read_state(path) for path in sorted(aside.glob(f"*/{library}.json"))}
        StageStates(lake, library).write_all({stage: state for stage, state in states.items() if state is not None})
        counts += len(states)
    shutil.rmtree(aside, ignore_errors=True)
    shutil.rmtree(old / _OLD_DEFERRED, ignore_errors=True)
    return Migrated(files, counts)


def has_old_layout(old: Path) -> bool:
    """Return whether a folder has a lake of the old layout, or the rest of one that was migrated in part."""
    return any((old / name).is_dir() for name in (OLD_STATES, f"{OLD_STATES}.migrated"))


def _tables(old: Path, lake: Lake) -> int:
    number = 0
    for name in table_names():
        for folder in sorted((old / name).glob("library=*")):
            library = folder.name.removeprefix("library=")
            files = list(_old_files(folder))
            if not files:
                continue
            if len(table(name).partitions) == 1 and len(files) > 1:
                # of survivals each period and snapshot had a part of its own
                lake.write(name, library, [row for path in files for row in pq.read_table(path).to_pylist()])
            else:
                lake.replace(name, library, {path.stem: _content(path) for path in files})
            for path in files:
                path.unlink()
            number += len(files)
    return number


def _old_files(folder: Path) -> Iterator[Path]:
    """Yield the files that can be read; names of files in the lake begin with a hash."""
    for path in sorted(folder.glob("*.parquet")):
        if "-" in path.stem and len(path.stem.partition("-")[0]) == 64:
            continue
        try:
            _content(path)
        except Damaged:
            continue
        yield path


def _content(path: Path) -> NewFile:
    with naming_damage(path):
        return NewFile(path.read_bytes(), pq.read_metadata(path).num_rows)
