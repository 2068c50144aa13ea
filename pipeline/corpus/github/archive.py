"""The files of a commit, from its tarball: fetched once, and kept without what nobody reads."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pipeline.corpus.github.body import chunks
from pipeline.corpus.pins.read import is_pin_file
from pipeline.index.archives import ArchiveLimits, Member, read_members
from pipeline.index.http import BrokenOff, Fetcher
from pipeline.lake.tables import replacing

ARCHIVE_FORMAT = 1
"""To be raised whenever `is_read` tells more files: what was kept before lacks them."""

TRIES = 3
EPOCH = (1980, 1, 1, 0, 0, 0)


class TooLarge(Exception):
    """The archive is longer than the rule allows."""


def is_read(path: str) -> bool:
    """Tell the files that are kept of an archive: Python, and what states versions."""
    return path.endswith(".py") or is_pin_file(path)


def files_of(path: Path, limits: ArchiveLimits) -> dict[str, bytes]:
    """Return the files that were kept of a commit, by their path in its tree.

    Errors: BadArchive, UnsafeArchive.
    """
    with path.open("rb") as file:
        return {member.name: member.content for member in read_members(file, is_read, limits)}


def keep_archive(
    url: Callable[[], str], path: Path, fetcher: Fetcher, limits: ArchiveLimits, *, max_bytes: int, max_s: float
) -> None:
    """Fetch a tarball from an address, which is asked for when it is needed, and keep what is read of it at a path.

    Errors: those of Fetcher.get() and of `url`, TooLarge, BrokenOff, BadArchive, UnsafeArchive.
    """
    with tempfile.TemporaryFile() as file:
        _download(url, file, fetcher, max_bytes, max_s)
        with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in _inside(read_members(file, is_read, limits)):
                archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)


def _inside(members: Iterator[Member]) -> Iterator[tuple[str, bytes]]:
    """Take away the folder around the tree, `OWNER-NAME-SHA/`; of two files of one name the first counts."""
    names = set()
    for member in members:
        # A name in no encoding cannot be a row's.
        name = member.name.removeprefix("./").partition("/")[2].encode("utf-8", "replace").decode()
        if name and name not in names:
            names.add(name)
            yield name, member.content


def _download(url: Callable[[], str], file: IO[bytes], fetcher: Fetcher, max_bytes: int, max_s: float) -> None:
    for remaining in reversed(range(TRIES)):
        try:
            file.seek(0)
            file.truncate()
            return _copy(url(), file, fetcher, max_bytes, max_s)
        except BrokenOff:
            if not remaining:
                raise
    return None


def _copy(url: str, file: IO[bytes], fetcher: Fetcher, max_bytes: int, max_s: float) -> None:
    length = 0
    with fetcher.get(url, stream=True) as answer:
        announced = answer.headers.get("Content-Length", "")
        if announced.isdigit() and int(announced) > max_bytes:
            raise TooLarge(f"{announced} bytes are announced, the rule allows {max_bytes}")
        for chunk in chunks(url, answer.raw, max_s):
            length += len(chunk)
            if length > max_bytes:
                raise TooLarge(f"more than the {max_bytes} bytes that the rule allows")
            file.write(chunk)
