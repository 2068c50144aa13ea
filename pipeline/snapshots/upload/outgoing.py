"""A verified snapshot to upload: its files with their hashes, and the result of an upload."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import FatalError
from pipeline.snapshots.format.names import order
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.verify import verify

_PROFILE = re.compile(r"[\w.-]+")


class NotUploaded(FatalError):
    """An upload failed or is incomplete; the message has the reason, and what to do.

    No existing file has been overwritten, and `latest` is unchanged.
    """


@dataclass(frozen=True, slots=True)
class File:
    """A file of a snapshot: path in the snapshot, local path, hash, size."""

    path: str
    local: Path
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A snapshot that passed verification; its manifest is the last of the files."""

    profile: str
    name: str
    files: tuple[File, ...]

    @property
    def manifest(self) -> File:
        """The manifest, with which an upload is complete."""
        return self.files[-1]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Result of an upload: address, sent and existing files, and the snapshot that `latest` names."""

    address: str
    sent: tuple[str, ...]
    existing: tuple[str, ...]
    latest: str


def outgoing(snapshot: Path) -> Outgoing:
    """Verify a snapshot and return its files.

    Errors: NotUploaded where the folder is no snapshot, has another name, or fails `driftline verify`.
    """
    folder = snapshot.resolve()
    try:
        problems = verify(folder)
        reader = Snapshot(folder)
    except ValueError as error:
        raise NotUploaded(str(error), code="upload_no_snapshot") from None
    if problems:
        raise NotUploaded(
            f"{folder}: {len(problems)} checks of the snapshot fail, so it was not sent: {'; '.join(problems[:3])}."
            " See `driftline verify`, and publish it again",
            code="upload_checks_fail",
        )
    name, manifest = folder.name, reader.manifest
    if not _PROFILE.fullmatch(manifest.profile) or not name.startswith(f"{manifest.profile}-") or not order(name)[0]:
        raise NotUploaded(
            f"{folder}: a snapshot of profile {manifest.profile!r} has a name like {manifest.profile}-2026-11-22 or"
            f" {manifest.profile}-2026-11-22.r2, which defines its order: rename its folder back",
            code="upload_misnamed",
        )
    files = [File(entry.path, reader.files[entry.path], entry.sha256, entry.bytes) for entry in manifest.files]
    path = folder / "manifest.json"
    last = File("manifest.json", path, reader.sha256, path.stat().st_size)
    return Outgoing(manifest.profile, name, (*files, last))
