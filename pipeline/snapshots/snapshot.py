"""Snapshots: immutable folders of Parquet files with a manifest, found through a `latest` pointer that moves last."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pipeline.index.release_selection import Period
from pipeline.lake.ids import sha256_file
from pipeline.lake.tables import Lake, replacing
from pipeline.snapshots.candidate import Draft, clean, make_draft
from pipeline.snapshots.format.names import last_before, latest, order


class NotPlaced(ValueError):
    """A draft cannot become a snapshot any more: it is gone, or another one was placed since it was made."""


@dataclass(frozen=True, slots=True)
class Published:
    """What publishing came to: the snapshot's folder, the sha256 of its manifest, whether anything was written."""

    path: Path
    manifest_sha256: str
    written: bool
    rows: Mapping[str, int]


def publish(
    lake: Lake,
    drafts: Path,
    snapshots: Path,
    profile: str,
    libraries: Sequence[str],
    period: Period,
    rules: Mapping[str, str],
) -> Published:
    """Draft a snapshot of a profile and place it, whatever the gates would say.

    Errors: as `make_draft` and `place` say.
    """
    return place(make_draft(lake, drafts, snapshots, profile, libraries, period, rules), snapshots)


def place(draft: Draft, snapshots: Path) -> Published:
    """Move a draft to its name and `latest` to it, or find that it is there already.

    Other content under the same name becomes a new revision; what was published is never touched. `latest` never moves
    to an earlier day. Other drafts of the same name are taken away: nobody weighed them against this one. Broken off
    at any moment, it can be called again.

    Errors: NotPlaced where the draft would now follow another snapshot than the one it was weighed against, or is gone.
    """
    folder = snapshots / draft.profile
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        clean(folder)
        found = _find(draft, folder)
        last = last_before(snapshots, draft.profile, draft.name)
        if not found.there and (last.name if last else None) != draft.last:
            raise NotPlaced(_superseded(draft, last))
        if not found.there and not (draft.path / "manifest.json").is_file():
            raise NotPlaced(f"the draft {draft.path} is gone, and no snapshot has its content: publish again")
        if not found.there:
            _move(draft.path, found.path)
            _forget(draft)
        now = latest(snapshots, draft.profile)
        if now is None or order(now.name)[0] <= order(found.path.name)[0]:
            with replacing(folder / "latest") as temporary:
                temporary.write_text(found.path.name + "\n")
        shutil.rmtree(draft.path, ignore_errors=True)
    return Published(found.path, draft.manifest_sha256, not found.there, draft.rows)


def is_placed(draft: Draft, snapshots: Path) -> bool:
    """Say whether a snapshot has the content of a draft already."""
    return _find(draft, snapshots / draft.profile).there


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    there: bool


def _find(draft: Draft, folder: Path) -> _Found:
    """Return where a draft is already, or else the next revision of its name, which is free.

    The snapshot that it follows may have its content under an earlier day: nothing has changed since.
    """
    if draft.last and sha256_file(folder / draft.last / "manifest.json") == draft.manifest_sha256:
        return _Found(folder / draft.last, True)
    for path in _revisions(folder, draft.name):
        if not path.exists():
            return _Found(path, False)
        if sha256_file(path / "manifest.json") == draft.manifest_sha256:
            return _Found(path, True)
    raise AssertionError


def _revisions(folder: Path, name: str) -> Iterator[Path]:
    yield folder / name
    revision = 2
    while True:
        yield folder / f"{name}.r{revision}"
        revision += 1


def _move(draft: Path, final: Path) -> None:
    """Move a draft to its place, which may be on another file system: it appears whole."""
    try:
        draft.rename(final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
        shutil.copytree(draft, temporary)
        temporary.rename(final)


def _forget(placed: Draft) -> None:
    """Take away the drafts of the same name that can no longer be placed."""
    for path in placed.path.parent.glob("*/manifest.json"):
        if path.parent.name.rpartition(".")[0] == placed.name:
            shutil.rmtree(path.parent, ignore_errors=True)


def _superseded(draft: Draft, last: Path | None) -> str:
    return (
        f"{draft.name} was drafted and weighed against {draft.last or 'no snapshot'}, and meanwhile it would follow"
        f" {last.name if last else 'none'}: nothing was placed. Publish again:"
        f" driftline publish --profile {draft.profile}"
    )
