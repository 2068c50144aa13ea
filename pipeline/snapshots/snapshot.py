"""Placing of snapshots: immutable folders of Parquet files with a manifest; the pointer `latest` moves last."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pipeline.core.errors import CodedError
from pipeline.lake.ids import sha256_file
from pipeline.lake.tables import replacing
from pipeline.snapshots.candidate import Candidate, clean
from pipeline.snapshots.format.names import last_before, latest, order


class NotPlaced(CodedError, ValueError):
    """A candidate cannot become a snapshot: it is gone, or another one was placed since it was made."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published snapshot: folder, sha256 of its manifest, whether it is new, number of rows by configuration."""

    path: Path
    manifest_sha256: str
    written: bool
    rows: Mapping[str, int]


def placing_lock(snapshots: Path, profile: str) -> FileLock:
    """Return the lock that `place` takes: who holds it reads a candidate that no other refresh moves to its place."""
    folder = snapshots / profile
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / ".lock")


def place(candidate: Candidate, snapshots: Path) -> Published:
    """Move a candidate to its name and `latest` to it, unless it is published already.

    Other content under the same name becomes a new revision; published folders never change. `latest` never moves to an
    earlier day. Other candidates of the same name are removed, since they were compared with another snapshot. The call
    can be repeated after an interruption.

    Errors: NotPlaced where the candidate would now follow another snapshot than its predecessor, or is gone.
    """
    folder = snapshots / candidate.profile
    with placing_lock(snapshots, candidate.profile):
        clean(folder)
        target = _find(candidate, folder)
        last = last_before(snapshots, candidate.profile, candidate.name)
        if not target.exists and (last.name if last else None) != candidate.last:
            raise NotPlaced(_superseded(candidate, last), code="candidate_superseded")
        if not target.exists and not (candidate.path / "manifest.json").is_file():
            raise NotPlaced(
                f"the candidate {candidate.path} is gone, and no snapshot has its content: publish again",
                code="candidate_gone",
            )
        if not target.exists:
            _move(candidate.path, target.path)
            _forget(candidate)
        now = latest(snapshots, candidate.profile)
        if now is None or order(now.name)[0] <= order(target.path.name)[0]:
            with replacing(folder / "latest") as temporary:
                temporary.write_text(target.path.name + "\n")
        shutil.rmtree(candidate.path, ignore_errors=True)
    return Published(target.path, candidate.manifest_sha256, not target.exists, candidate.rows)


def is_placed(candidate: Candidate, snapshots: Path) -> bool:
    """Say whether a snapshot has the content of a candidate already."""
    return _find(candidate, snapshots / candidate.profile).exists


@dataclass(frozen=True, slots=True)
class _Destination:
    path: Path
    exists: bool


def _find(candidate: Candidate, folder: Path) -> _Destination:
    """Return the snapshot with the content of a candidate, or else the next free revision of its name.

    The predecessor may have the same content under an earlier day.
    """
    if candidate.last and sha256_file(folder / candidate.last / "manifest.json") == candidate.manifest_sha256:
        return _Destination(folder / candidate.last, True)
    for revision in itertools.count(1):
        path = folder / (candidate.name if revision == 1 else f"{candidate.name}.r{revision}")
        if not path.exists():
            return _Destination(path, False)
        if sha256_file(path / "manifest.json") == candidate.manifest_sha256:
            return _Destination(path, True)
    raise AssertionError


def _move(candidate: Path, final: Path) -> None:
    """Move a candidate to its place atomically, also from another file system."""
    try:
        candidate.rename(final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
        shutil.copytree(candidate, temporary)
        temporary.rename(final)


def _forget(placed: Candidate) -> None:
    """Remove the candidates of the same name, which can no longer be placed."""
    for path in placed.path.parent.glob("*/manifest.json"):
        if path.parent.name.rpartition(".")[0] == placed.name:
            shutil.rmtree(path.parent, ignore_errors=True)


def _superseded(candidate: Candidate, last: Path | None) -> str:
    return (
        f"{candidate.name} was compared with {candidate.last or 'no snapshot'}, and now its predecessor is"
        f" {last.name if last else 'none'}: nothing was placed. Publish again:"
        f" driftline publish --profile {candidate.profile}"
    )
