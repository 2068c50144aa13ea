"""The lake as a refresh left it, kept with the run: the next one may change the lake before this one is published."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pyarrow.compute as pc
from filelock import FileLock

from pipeline.lake.deferred import with_later
from pipeline.lake.tables import Lake

FROZEN = "lake"
"""Name of the folder, in that of a run, of what the run left in the lake."""


_MARK = "frozen"
"""A file that comes last and goes first, also where no library was kept: without it what lies there is no lake."""


def freeze(lake: Lake, libraries: Iterable[str], folder: Path, until: datetime | None) -> list[str]:
    """Keep tables and states of libraries in the folder of a run, as hard links, and return which libraries have any.

    Files of the lake are never changed in place, so that a link keeps what it led to. A library that holds releases of
    `until` or later is left out: the run did not cover it, and nothing later belongs into a snapshot of that time. So
    is one that is behind (`is_behind`).
    """
    frozen = folder / FROZEN
    thaw(folder)
    frozen.mkdir(parents=True, exist_ok=True)
    kept = [library for library in libraries if _is_as_of(lake, library, until) and not is_behind(lake, library, until)]
    for library in kept:
        (lake.root / "_locks").mkdir(parents=True, exist_ok=True)
        with FileLock(lake.root / "_locks" / f"{library}.lock"):
            tables, states = f"*/library={library}/*.parquet", f"_state/*/{library}.json"
            for file in (*lake.root.glob(tables), *lake.root.glob(states)):
                _link(file, frozen / file.relative_to(lake.root))
    (frozen / _MARK).touch()
    return kept


def is_frozen(folder: Path) -> bool:
    """Say whether a run kept what it left in the lake."""
    return (folder / FROZEN / _MARK).is_file()


def frozen_lake(folder: Path, lake: Lake) -> Lake:
    """Return the lake as a run left it, or the lake itself where the run kept nothing."""
    return Lake(folder / FROZEN) if is_frozen(folder) else lake


def thaw(folder: Path) -> None:
    """Forget what a run left in the lake: it was published, or never will be."""
    (folder / FROZEN / _MARK).unlink(missing_ok=True)
    shutil.rmtree(folder / FROZEN, ignore_errors=True)


def is_behind(lake: Lake, library: str, until: datetime | None) -> bool:
    """Say whether a library is in the lake as of a time before `until`, with releases of between put aside."""
    here = {row["version"] for row in lake.read("releases", library, columns=("version",))}
    refused = {row["key"] for row in lake.read("rejects", library, pc.field("stage") == "crawl", columns=("key",))}
    return any(
        row["version"] not in here | refused and (until is None or row["release_time"] < until)
        for row in with_later(lake, "releases", library)
    )


def _is_as_of(lake: Lake, library: str, until: datetime | None) -> bool:
    releases = lake.read("releases", library, columns=("release_time",))
    return bool(lake.parts("releases", library)) and all(
        until is None or row["release_time"] < until for row in releases
    )


def _link(part: Path, place: Path) -> None:
    """Link a file, or copy it where the run's folder is on another disk."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(part, place)
    except OSError:
        shutil.copyfile(part, place)
