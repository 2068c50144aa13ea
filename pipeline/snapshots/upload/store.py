"""A snapshot in a store: `s3://bucket/prefix` or any other address of fsspec, with the layout of the local snapshots.

Below the address are PROFILE/NAME with the files, and PROFILE/latest with the name of the newest.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from pipeline.lake.tables import replacing
from pipeline.snapshots.format.names import order
from pipeline.snapshots.upload.outgoing import File, NotUploaded, Outgoing, Uploaded

_TRIES = 5
"""Attempts to move `latest` while others move it too."""

_CHUNK = 1 << 20

_PASSWORD = re.compile(r"^([^/]*://[^/@]*:)[^/@]*@")
"""The password in an address, which messages must not contain."""

Files = Any
"""A file system of fsspec, which has no types."""


def upload_to_store(snapshot: Outgoing, to: str) -> Uploaded:
    """Send a snapshot to an address of fsspec; the store's own client finds its keys.

    An existing file with the same content is skipped, so that an interrupted upload resumes; other content is an error.
    The manifest is sent last, then `latest` moves, never to an older snapshot. The store's client retries temporary
    failures.

    Errors: NotUploaded.
    """
    address = _PASSWORD.sub(r"\1***@", to)
    with _report_errors(address):
        files, root = fsspec.url_to_fs(to.rstrip("/"))
        files.invalidate_cache()
        folder = f"{root}/{snapshot.profile}/{snapshot.name}"
        sent = {file.path: _put(files, file, f"{folder}/{file.path}", address) for file in snapshot.files}
        latest = _move_latest(files, f"{root}/{snapshot.profile}/latest", snapshot.name)
    return Uploaded(
        address=files.unstrip_protocol(folder),
        sent=tuple(path for path, new in sent.items() if new),
        existing=tuple(path for path, new in sent.items() if not new),
        latest=latest,
    )


def _put(files: Files, file: File, target: str, to: str) -> bool:
    """Upload a file atomically; return whether it is new."""
    if not files.exists(target):
        try:
            _create(files, file.local, target)
        except OSError as error:
            if not is_conflict(error):
                raise
        else:
            return True
    if not _is_same(files, file, target):
        raise NotUploaded(
            f"{to}: {files.unstrip_protocol(target)} exists with other content, and nothing was overwritten. If a"
            " broken upload left it, remove it; if it is another snapshot of that name, upload to another address",
            code="upload_file_taken",
        )
    return False


def _create(files: Files, local: Path, target: str) -> None:
    """Create a new file atomically. Errors: OSError, also where it exists (is_conflict)."""
    if not isinstance(files, LocalFileSystem):
        files.put_file(str(local), target, mode="create")
        return
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(local, temporary)
        os.link(temporary, path)  # a rename would overwrite an existing file
    finally:
        temporary.unlink(missing_ok=True)


def _is_same(files: Files, file: File, target: str) -> bool:
    files.invalidate_cache()
    if files.info(target)["size"] != file.bytes:
        return False
    digest = hashlib.sha256()
    with files.open(target, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == file.sha256


def _move_latest(files: Files, pointer: str, name: str) -> str:
    """Let `latest` name a snapshot, unless it names a newer one; return the name in it."""
    content = f"{name}\n".encode()
    for _ in range(_TRIES):
        now, condition = _latest(files, pointer)
        if now is not None and order(now) >= order(name):
            return now
        try:
            if isinstance(files, LocalFileSystem):
                with replacing(Path(pointer)) as temporary:
                    temporary.write_bytes(content)
            elif now is None:
                files.pipe_file(pointer, content, mode="create")
            else:
                files.pipe_file(pointer, content, **condition)
        except OSError as error:
            if not is_conflict(error):
                raise
        else:
            return name
    raise NotUploaded(
        f"{pointer} is being moved by others; the snapshot is stored: run the same command again",
        code="upload_latest_contended",
    )


def _latest(files: Files, pointer: str) -> tuple[str | None, dict[str, str]]:
    """Return the name in `latest`, and the store's condition that it is unchanged, if it has ETags."""
    files.invalidate_cache()
    try:
        info = files.info(pointer)
        named = files.cat_file(pointer).decode(errors="replace").strip()
    except FileNotFoundError:
        return None, {}
    return named, {"IfMatch": info["ETag"]} if "ETag" in info else {}


def is_conflict(error: OSError) -> bool:
    """Return whether a server refused because the key exists (HTTP 412), or another client writes it (409)."""
    if isinstance(error, FileExistsError):
        return True
    response = getattr(error.__cause__, "response", None) or {}
    return response.get("Error", {}).get("Code") in {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}


@contextmanager
def _report_errors(to: str) -> Iterator[None]:
    """Turn errors of a store into NotUploaded with advice."""
    try:
        yield
    except NotUploaded:
        raise
    except ImportError as error:
        raise NotUploaded(f"{to}: {error}", code="upload_client_missing") from error
    except PermissionError as error:
        raise NotUploaded(
            f"{to}: not allowed: {error}. The store's own client finds the keys (for s3:"
            " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's role). They must be"
            " allowed to list, read and write",
            code="upload_not_allowed",
        ) from error
    except FileNotFoundError as error:
        raise NotUploaded(
            f"{to}: not found: {error}. Create the bucket first, and check its spelling", code="upload_bucket_missing"
        ) from error
    except Exception as error:  # every store has errors of its own
        raise NotUploaded(
            f"{to}: {type(error).__name__}: {error}. Sent files are stored: run the same command again to resume",
            code="upload_broken_off",
        ) from error
