"""A snapshot as its users have it: tables read from its files, each held against manifest and declaration first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.lake import Row, read_parquet, sha256_file, table
from pipeline.publish import TABLES, Entry, Manifest, read_manifest


class ExportError(ValueError):
    """What was asked for cannot be exported or imported; the message says why, and what to do."""


class NothingHeld(ExportError):
    """There are rows of what the format is about, and none of them could be exported."""


class Snapshot:
    """A snapshot's manifest and, as they are asked for, its tables by the names of their configurations.

    Errors of every call: ExportError where this driftline cannot read it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: Manifest = read_manifest(folder)
        except ValueError as error:
            raise ExportError(
                f"{error}. Name a folder that `driftline refresh` published, or publish it again with this driftline"
            ) from None
        self._entries: dict[str | None, Entry] = {entry.table: entry for entry in self.manifest.files if entry.table}

    @property
    def name(self) -> str:
        """The name of the snapshot's folder."""
        return self.folder.resolve().name

    @property
    def sha256(self) -> str:
        """The hash of the manifest, which tells the snapshot's content."""
        return sha256_file(self.folder / "manifest.json") or ""

    def rows(self, config: str) -> list[Row]:
        """Return the rows of a configuration in the order of their key."""
        path = self._checked(config)
        try:
            return read_parquet(path)
        except (pa.ArrowException, OSError) as error:
            raise ExportError(f"{path}: cannot be read ({error}); run `driftline verify {self.folder}`") from None

    def count(self, configs: Iterable[str]) -> int:
        """Return how many rows some configurations have together, as the manifest says."""
        found = (self._entries.get(TABLES.get(config)) for config in configs)
        return sum(entry.rows or 0 for entry in found if entry)

    def _checked(self, config: str) -> Path:
        """Return the file of a configuration, once it is the one that was published, with the declared columns."""
        entry = self._entries.get(TABLES.get(config))
        if entry is None:
            raise ExportError(
                f"{self.folder} has no table {config}: driftline {self.manifest.driftline} published it before there"
                " was one. Run the refresh again with this driftline, and export that snapshot"
            )
        # The name in the manifest is not trusted: it is looked for where snapshots keep their tables.
        path = self.folder / "data" / f"{config}.parquet"
        if path.is_symlink() or sha256_file(path) != entry.sha256:
            raise ExportError(
                f"{path}: missing, or not the file that was published. Run `driftline verify {self.folder}`, and take"
                " a whole copy of the snapshot"
            )
        self._compare(config, path)
        return path

    def _compare(self, config: str, path: Path) -> None:
        declared = table(TABLES[config])
        try:
            found = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise ExportError(f"{path}: no Parquet file ({error}); run `driftline verify {self.folder}`") from None
        if not found.equals(expected := declared.arrow(volatile=False)):
            differing = ", ".join(sorted({field.name for field in set(expected) ^ set(found)})) or "their order"
            raise ExportError(
                f"{path}: columns differ from schemas/{declared.name}.yaml ({differing}), so another version of"
                f" driftline made it ({self.manifest.driftline}). Export with that one, or run the refresh again"
            )

    def sizes(self, without: Iterable[str]) -> dict[str, int]:
        """Return the number of rows of every table that has some, but for some configurations."""
        left_out = {TABLES[config] for config in without if config in TABLES}
        return {
            Path(entry.path).stem: entry.rows
            for entry in sorted(self._entries.values(), key=lambda entry: entry.path)
            if entry.rows and entry.table not in left_out
        }
