"""Places of files: folders of this machine, and addresses of stores that fsspec knows, with the same operations."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

_S3_RETRIES = {"mode": "standard", "max_attempts": 18}
"""About two minutes without an answer: a wait is a random part of at most 20 s (docs.aws.amazon.com/boto3, Retries)."""


def place(address: str) -> Path:
    """Return the folder or the address (`s3://bucket/prefix`, `file:///mnt/share`) as a path.

    The path of a store has the operations of `Path`; its keys are those that the client of the store finds (for S3 the
    variables AWS_…). Listings are never remembered: other machines write too.
    """
    if address.startswith("file://"):
        return Path(address.removeprefix("file://"))
    if "://" not in address:
        return Path(address)
    # slow to import, and a folder needs none
    from upath import UPath

    options: dict[str, Any] = {"config_kwargs": {"retries": _S3_RETRIES}} if address.startswith("s3://") else {}
    return cast("Path", UPath(address, use_listings_cache=False, **options))


def is_local(path: Path) -> bool:
    """Say whether a path is one of this machine, rather than of a store."""
    return isinstance(path, Path)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, on this machine or in a store; one that is gone is none to remove."""
    if is_local(folder):
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.exists():
        store: Any = folder
        store.fs.rm(store.path, recursive=True)
