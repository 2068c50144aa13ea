"""The versions of the tables after a refresh, stored with its run: the lake may move on before it is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from pipeline.core.places import remove_folder
from pipeline.lake.damage import read_state
from pipeline.lake.deferred import FOLDER, with_deferred
from pipeline.lake.delta import DataFile, DeltaPartitions, NewFile
from pipeline.lake.runner import write_json
from pipeline.lake.schema import table_names
from pipeline.lake.tables import Lake

PINS = "lake.json"
"""File in the folder of a run: the versions of the tables, and the libraries that the run covered."""
_DECIDED = "decided"
"""Folder, in that of a run, of the tables that later decisions of annotators changed."""


class PinnedLake(Lake):
    """Some libraries of a lake at the pinned versions of its tables; writes go into a lake of its own."""

    def __init__(self, root: Path, versions: Mapping[str, int], libraries: Sequence[str], own: Path) -> None:
        super().__init__(root, versions)
        self._libraries = frozenset(libraries)
        self._own = Lake(own)

    def holder(self, name: str, library: str) -> DeltaPartitions:
        """Return where the files of a library are: among those written since, or else at the pinned version."""
        own = self._own.delta(name)
        return own if own.files(library) else self.delta(name)

    def files(self, name: str, library: str) -> Mapping[str, DataFile]:
        """Return the files of a library in a table by part; none of a library that the run did not cover."""
        return super().files(name, library) if library in self._libraries else {}

    def refresh(self, *names: str) -> None:
        """See what was written since."""
        self._own.refresh(*names)

    def replace(self, name: str, library: str, files: Mapping[str, NewFile | None]) -> None:
        """Replace parts of a library beside the pinned ones."""
        if not self._own.files(name, library):
            files = {part: self.content(name, library, part) for part in self.files(name, library)} | dict(files)
        self._own.replace(name, library, files)

    def libraries(self, name: str) -> list[str]:
        """Return the libraries of the run that a table has a partition of, sorted."""
        return sorted(self._libraries.intersection({*super().libraries(name), *self._own.libraries(name)}))


def pin(lake: Lake, libraries: Iterable[str], folder: Path, until: datetime | None) -> list[str]:
    """Write the versions of all tables into the folder of a run, and return the libraries that it covers.

    A library with releases of `until` or later is left out: the run did not cover it, and nothing later belongs into a
    snapshot of that time. So is one that is behind (`is_behind`).
    """
    unpin(folder)
    lake.refresh()
    covered = [name for name in libraries if _is_as_of(lake, name, until) and not is_behind(lake, name, until)]
    write_json(folder / PINS, {"versions": lake.versions(), "libraries": covered})
    return covered


def is_pinned(folder: Path) -> bool:
    """Return whether a run has pinned versions."""
    return _pins(folder) is not None


def pinned_lake(folder: Path, lake: Lake) -> Lake:
    """Return the lake at the versions that a run pinned, or the lake itself if it pinned none.

    Errors: LakeError if the log no longer has such a version.
    """
    if (pins := _pins(folder)) is None:
        return lake
    return PinnedLake(lake.root, pins["versions"], pins["libraries"], folder / _DECIDED)


def pinned_versions(runs: Path) -> dict[str, list[int]]:
    """Return the versions of each table that any run needs."""
    versions: dict[str, set[int]] = {}
    for folder in runs.glob("*"):
        if (pins := _pins(folder)) is not None:
            for name, version in pins["versions"].items():
                versions.setdefault(name, set()).add(version)
    return {name: sorted(numbers) for name, numbers in versions.items()}


def vacuum_lake(lake: Lake, runs: Path, days: float) -> int:
    """Remove files that only versions older than some days need, and no run pinned; return their number.

    Errors: LakeError.
    """
    lakes = {lake: pinned_versions(runs), Lake(lake.root / FOLDER): dict[str, list[int]]()}
    return sum(
        each.delta(name).vacuum(days, versions.get(name, []))
        for each, versions in lakes.items()
        for name in table_names()
    )


def unpin(folder: Path) -> None:
    """Forget the pinned versions of a run: it was published, or never will be."""
    (folder / PINS).unlink(missing_ok=True)
    remove_folder(folder / _DECIDED)


def _pins(folder: Path) -> dict[str, Any] | None:
    return read_state(folder / PINS, frozenset({"versions", "libraries"}))


def is_behind(lake: Lake, library: str, until: datetime | None) -> bool:
    """Return whether a library is in the lake as of a time before `until`, with deferred releases in between."""
    here = {row["version"] for row in lake.read("releases", library, columns=("version",))}
    refused = {row["key"] for row in lake.read("rejects", library, pc.field("stage") == "crawl", columns=("key",))}
    return any(
        row["version"] not in here | refused and (until is None or row["release_time"] < until)
        for row in with_deferred(lake, "releases", library)
    )


def _is_as_of(lake: Lake, library: str, until: datetime | None) -> bool:
    releases = lake.read("releases", library, columns=("release_time",))
    return bool(lake.files("releases", library)) and all(
        until is None or row["release_time"] < until for row in releases
    )
