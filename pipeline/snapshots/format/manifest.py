"""The manifest of a snapshot: its files, and the rules, versions and libraries it was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from pipeline.core.build import build_version
from pipeline.core.errors import CodedError
from pipeline.lake.names import plain_name
from pipeline.lake.runner import write_json
from pipeline.lake.schema import table, table_names

FORMAT = 2
"""Version of the layout of a snapshot; raised when readers of the old one would misread it."""

READABLE = range(1, FORMAT + 1)
"""In format 1 some tables and columns have the names that `schemas/` declares as `formerly`."""


class SnapshotError(CodedError, ValueError):
    """A folder is no readable snapshot; the message has the reason, and what to do."""


class OtherVersion(SnapshotError):
    """A snapshot has other columns or terms than those declared today; the message names both versions."""

    code = "snapshot_of_other_version"


class _Part(BaseModel):
    """Strict types; keys that a later driftline adds to the same format are ignored."""

    model_config = ConfigDict(frozen=True, strict=True)


class Entry(_Part):
    """A file of a snapshot; `table` and `rows` belong to the files of a declared table."""

    path: str
    sha256: str
    bytes: int
    table: str | None = None
    rows: int | None = None

    @model_validator(mode="after")
    def _both_or_neither(self) -> Entry:
        if (self.table is None) != (self.rows is None):
            raise ValueError(f"{self.path}: table and rows belong together")
        return self


class Covered(_Part):
    """The covered period, as ISO 8601 in UTC."""

    since: str | None
    until: str | None


class Manifest(_Part):
    """Content of a snapshot; `libraries` counts releases, `tags` instances by LibEvolutionEval tag.

    `driftline` is the first build that wrote it, as in `build_version`. `rules` are the hashes of the rule files by
    name; older snapshots have one joint hash. `versions` are those of stages and caches; older snapshots have none.
    """

    format: int
    driftline: str
    profile: str
    period: Covered
    rules_sha256: str
    rules: dict[str, str] = {}
    versions: dict[str, int] = {}
    libraries: dict[str, int]
    tags: dict[str, dict[str, int]]
    files: tuple[Entry, ...]

    @field_validator("files")
    @classmethod
    def _in_order(cls, files: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(sorted(files, key=lambda entry: entry.path))

    @model_validator(mode="after")
    def _by_present_names(self) -> Manifest:
        """Give the tables of an earlier format their names of today."""
        if self.format != FORMAT:
            present = {former: name for name in table_names() if (former := table(name).formerly)}
            files = [
                entry.model_copy(update={"table": present.get(entry.table or "", entry.table)}) for entry in self.files
            ]
            object.__setattr__(self, "files", tuple(files))
        return self

    @field_validator("profile")
    @classmethod
    def _names_a_profile(cls, name: str) -> str:
        return plain_name(name, "a profile")

    @field_validator("libraries")
    @classmethod
    def _name_libraries(cls, libraries: dict[str, int]) -> dict[str, int]:
        for name in libraries:
            plain_name(name, "a library")
        return libraries

    def write(self, path: Path) -> None:
        """Write the manifest; equal manifests give equal bytes."""
        files = [entry.model_dump(exclude_none=True) for entry in self.files]
        write_json(path, self.model_dump() | {"files": files})


def read_manifest(snapshot: Path) -> Manifest:
    """Read a snapshot's manifest.

    Errors: SnapshotError naming the file where it is missing, not JSON, of another format, or incomplete.
    """
    path = snapshot / "manifest.json"
    if path.is_symlink() or not path.is_file():
        raise SnapshotError(
            f"{snapshot}: no manifest.json, so this is not a snapshot: name a folder that"
            " `driftline refresh` published",
            code="not_a_snapshot",
        )
    text = path.read_bytes()
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(
            f"{path}: not JSON: {error}; put a whole copy of the snapshot in its place", code="manifest_not_json"
        ) from None
    if not isinstance(raw, dict) or raw.get("format") not in READABLE:
        formats = " or ".join(map(str, READABLE))
        other = f" ({raw.get('format')!r}, by driftline {raw.get('driftline')!r})" if isinstance(raw, dict) else ""
        raise SnapshotError(
            f"{path}: not a manifest of format {formats}{other}, which driftline {build_version()} reads:"
            " publish it again with this driftline",
            code="manifest_of_other_format",
        )
    return _validated(path, text)


def _validated(path: Path, text: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        problems = [f"{_where(problem['loc'])}: {problem['msg']}" for problem in error.errors()]
        raise SnapshotError(f"{path}: {'; '.join(problems[:5])}", code="manifest_invalid") from None


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(map(str, location)) or "manifest"
