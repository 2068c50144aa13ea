"""Snapshots of several machines: each has them in a folder of its own, and all of them at the address of the lake."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.places import place, remove_folder
from pipeline.core.settings import settings
from pipeline.lake.delta import lake_errors
from pipeline.lake.ids import sha256_bytes, sha256_file
from pipeline.lake.names import UnsafeName, inner_path, plain_name
from pipeline.lake.tables import replacing
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.upload.outgoing import outgoing
from pipeline.snapshots.upload.store import upload_to_store


def fetch_snapshots(profile: str) -> None:
    """Bring the snapshots of a profile that other machines placed; one that is here with the same manifest is whole.

    Errors: LakeError where the store does not answer; SnapshotError for a key that leads out of the folder.
    """
    if (address := settings().shared_snapshots) is None:
        return
    here, there = settings().snapshots / profile, place(address) / profile
    try:
        with lake_errors(there):
            _fetch_all(there, here)
    except UnsafeName as error:
        raise SnapshotError(
            f"{there}: {error}. Only workers may have the right to write there", code="shared_snapshot_unsafe"
        ) from None


def _fetch_all(there: Path, here: Path) -> None:
    if not there.exists():
        return
    for folder in sorted(there.iterdir()):
        if (manifest := folder / "manifest.json").is_file():
            _fetch(folder, here / plain_name(folder.name, "a snapshot"), manifest.read_bytes())
    if (latest := there / "latest").is_file():
        with replacing(here / "latest") as temporary:
            temporary.write_bytes(latest.read_bytes())


def _fetch(there: Path, here: Path, manifest: bytes) -> None:
    """Fetch the files of a snapshot, the manifest last."""
    if sha256_file(here / "manifest.json") == sha256_bytes(manifest):
        return
    remove_folder(here)
    for file in sorted(there.rglob("*"), key=lambda file: file.name == "manifest.json"):
        if file.is_file():
            with replacing(here / inner_path(file.relative_to(there).as_posix(), "a snapshot")) as temporary:
                temporary.write_bytes(file.read_bytes())


def share_snapshot(folder: Path) -> None:
    """Bring a placed snapshot to the other machines, if there are any; what is there already is not sent again.

    Errors: NotUploaded where the store does not answer, or has another snapshot of that name.
    """
    if (address := settings().shared_snapshots) is not None:
        upload_to_store(outgoing(folder), address)


def remove_shared(folder: Path) -> None:
    """Remove a snapshot of this machine also where the others would fetch it from."""
    if (address := settings().shared_snapshots) is not None:
        remove_folder(place(address) / folder.parent.name / folder.name)
