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


def place(draft: Candidate, snapshots: Path) -> Published:
    """Move a candidate to its name and `latest` to it, unless it is published already.

    Other content under the same name becomes a new revision; published folders never change. `latest` never moves to an
    earlier day. Other candidates of the same name are removed, since they were compared with another snapshot. The call
    can be repeated after an interruption.

    Errors: NotPlaced where the candidate would now follow another snapshot than its predecessor, or is gone.
    """
    folder = snapshots / draft.profile
    with placing_lock(snapshots, draft.profile):
        clean(folder)
        target = _find(draft, folder)
        last = last_before(snapshots, draft.profile, draft.name)
        if not target.exists and (last.name if last else None) != draft.last:
            raise NotPlaced(_superseded(draft, last), code="candidate_superseded")
        if not target.exists and not (draft.path / "manifest.json").is_file():
            raise NotPlaced(
                f"the draft {draft.path} is gone, and no snapshot has its content: publish again", code="candidate_gone"
            )
        if not target.exists:
            _move(draft.path, target.path)
            _forget(draft)
        now = latest(snapshots, draft.profile)
        if now is None or order(now.name)[0] <= order(target.path.name)[0]:
            with replacing(folder / "latest") as temporary:
                temporary.write_text(target.path.name + "\n")
        shutil.rmtree(draft.path, ignore_errors=True)
    return Published(target.path, draft.manifest_sha256, not target.exists, draft.rows)


def is_placed(draft: Candidate, snapshots: Path) -> bool:
    """Say whether a snapshot has the content of a candidate already."""
    return _find(draft, snapshots / draft.profile).exists


@dataclass(frozen=True, slots=True)
class _Destination:
    path: Path
    exists: bool


def _find(draft: Candidate, folder: Path) -> _Destination:
    """Return the snapshot with the content of a candidate, or else the next free revision of its name.

    The predecessor may have the same content under an earlier day.
    """
    if draft.last and sha256_file(folder / draft.last / "manifest.json") == draft.manifest_sha256:
        return _Destination(folder / draft.last, True)
    for revision in itertools.count(1):
        path = folder / (draft.name if revision == 1 else f"{draft.name}.r{revision}")
        if not path.exists():
            return _Destination(path, False)
        if sha256_file(path / "manifest.json") == draft.manifest_sha256:
            return _Destination(path, True)
    raise AssertionError


def _move(draft: Path, final: Path) -> None:
    """Move a candidate to its place atomically, also from another file system."""
    try:
        draft.rename(final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
        shutil.copytree(draft, temporary)
        temporary.rename(final)


def _forget(placed: Candidate) -> None:
    """Remove the candidates of the same name, which can no longer be placed."""
    for path in placed.path.parent.glob("*/manifest.json"):
        if path.parent.name.rpartition(".")[0] == placed.name:
            shutil.rmtree(path.parent, ignore_errors=True)


def _superseded(draft: Candidate, last: Path | None) -> str:
    return (
        f"{draft.name} was compared with {draft.last or 'no snapshot'}, and now its predecessor is"
        f" {last.name if last else 'none'}: nothing was placed. Publish again:"
        f" driftline publish --profile {draft.profile}"
    )
