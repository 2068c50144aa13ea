"""A snapshot in a store: `s3://bucket/prefix` and whatever else fsspec knows, laid out as the snapshots are here.

Below the address stand PROFILE/NAME with the files, and PROFILE/latest, which names the newest of them.
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

from pipeline.lake.objects import is_taken
from pipeline.lake.tables import replacing
from pipeline.snapshots.format.names import order
from pipeline.snapshots.upload.outgoing import File, NotUploaded, Outgoing, Uploaded

_TRIES = 5
"""How often `latest` is looked at again when somebody else moves it meanwhile."""

_CHUNK = 1 << 20

_PASSWORD = re.compile(r"^([^/]*://[^/@]*:)[^/@]*@")
"""The password in an address, which no message may show."""

Files = Any
"""A file system of fsspec, which has no types."""


def upload_to_store(snapshot: Outgoing, to: str) -> Uploaded:
    """Send a snapshot to an address that fsspec knows; keys come from where the store's own client looks for them.

    A file that is there with the same content is kept, so that an upload that broke off goes on where it was; one with
    other content is an error. The manifest is sent when all else is there, and `latest` moves last, never to an older
    snapshot than it names. Passing troubles are tried again by the store's client.

    Errors: NotUploaded.
    """
    shown = _PASSWORD.sub(r"\1***@", to)
    with _told(shown):
        files, root = fsspec.url_to_fs(to.rstrip("/"))
        files.invalidate_cache()
        folder = f"{root}/{snapshot.profile}/{snapshot.name}"
        sent = {file.path: _put(files, file, f"{folder}/{file.path}", shown) for file in snapshot.files}
        latest = _move_latest(files, f"{root}/{snapshot.profile}/latest", snapshot.name)
    return Uploaded(
        address=files.unstrip_protocol(folder),
        sent=tuple(path for path, new in sent.items() if new),
        kept=tuple(path for path, new in sent.items() if not new),
        latest=latest,
    )


def _put(files: Files, file: File, target: str, to: str) -> bool:
    """Bring a file to its place, and tell whether it was not there before; it appears whole."""
    if not files.exists(target):
        try:
            _create(files, file.local, target)
        except OSError as error:
            if not is_taken(error):
                raise
        else:
            return True
    if not _is_same(files, file, target):
        raise NotUploaded(
            f"{to}: {files.unstrip_protocol(target)} is there with other content, and nothing was overwritten. If it is"
            " what a broken upload left, remove it; if it is another snapshot of that name, upload to another address"
        )
    return False


def _create(files: Files, local: Path, target: str) -> None:
    """Write a file that is not there yet, whole or not at all.

    Errors: OSError, also where somebody else was faster (is_taken).
    """
    if not isinstance(files, LocalFileSystem):
        files.put_file(str(local), target, mode="create")
        return
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(local, temporary)
        os.link(temporary, path)  # a rename would take the place of what is there
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
    """Let `latest` name a snapshot, unless it names a newer one; return what it names then."""
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
            if not is_taken(error):
                raise
        else:
            return name
    raise NotUploaded(f"{pointer} is being moved by others; the snapshot is there: run the same command again")


def _latest(files: Files, pointer: str) -> tuple[str | None, dict[str, str]]:
    """Return what `latest` names, and in a store that can tell, the condition that it still does."""
    files.invalidate_cache()
    try:
        info = files.info(pointer)
        named = files.cat_file(pointer).decode(errors="replace").strip()
    except FileNotFoundError:
        return None, {}
    return named, {"IfMatch": info["ETag"]} if "ETag" in info else {}


@contextmanager
def _told(to: str) -> Iterator[None]:
    """Say what went wrong with a store, and what to do about it.

    Errors: NotUploaded.
    """
    try:
        yield
    except NotUploaded:
        raise
    except ImportError as error:
        raise NotUploaded(f"{to}: {error}") from error
    except PermissionError as error:
        raise NotUploaded(
            f"{to}: not allowed: {error}. The keys are those that the store's own client finds (for s3:"
            " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's role), and they must be"
            " allowed to list, read and write"
        ) from error
    except FileNotFoundError as error:
        raise NotUploaded(f"{to}: not found: {error}. Make the bucket first, and mind its spelling") from error
    except Exception as error:  # every store has errors of its own
        raise NotUploaded(
            f"{to}: {type(error).__name__}: {error}. What was sent is there: run the same command again to go on"
        ) from error
