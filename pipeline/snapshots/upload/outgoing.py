"""A snapshot as it is sent: verified, its files with their hashes, and where it stands among the others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.snapshots.format.names import order
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.verify import verify

_PROFILE = re.compile(r"[\w.-]+")


class NotUploaded(RuntimeError):
    """The snapshot is not (wholly) where it should go; the message says why, and what to do.

    Nothing that was there has been overwritten, and `latest` is where it was.
    """


@dataclass(frozen=True, slots=True)
class File:
    """A file of a snapshot: its path in it, where it lies here, and what it is."""

    path: str
    local: Path
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A snapshot that held every check; its manifest is the last of the files."""

    profile: str
    name: str
    files: tuple[File, ...]

    @property
    def manifest(self) -> File:
        """The file that says what the others are: a snapshot is complete where it is."""
        return self.files[-1]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What an upload came to: the address, what was sent and what was there already, and what `latest` names now."""

    address: str
    sent: tuple[str, ...]
    kept: tuple[str, ...]
    latest: str


def outgoing(snapshot: Path) -> Outgoing:
    """Return what is to be sent of a snapshot.

    Errors: NotUploaded where the folder is no snapshot or has not the name of one, or where `driftline verify` has
    something against it.
    """
    folder = snapshot.resolve()
    try:
        problems = verify(folder)
        known = Snapshot(folder)
    except ValueError as error:
        raise NotUploaded(str(error)) from None
    if problems:
        raise NotUploaded(
            f"{folder}: {len(problems)} checks of the snapshot fail, so it was not sent: {'; '.join(problems[:3])}."
            " See `driftline verify`, and publish it again"
        )
    name, manifest = folder.name, known.manifest
    if not _PROFILE.fullmatch(manifest.profile) or not name.startswith(f"{manifest.profile}-") or not order(name)[0]:
        raise NotUploaded(
            f"{folder}: a snapshot of profile {manifest.profile!r} has a name like {manifest.profile}-2026-11-22 or"
            f" {manifest.profile}-2026-11-22.r2, by which it is found among others: give its folder that name again"
        )
    files = [File(entry.path, known.files[entry.path], entry.sha256, entry.bytes) for entry in manifest.files]
    path = folder / "manifest.json"
    last = File("manifest.json", path, known.sha256, path.stat().st_size)
    return Outgoing(manifest.profile, name, (*files, last))
