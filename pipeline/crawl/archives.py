"""The guarded reader of archives: nothing is written to disk, nothing climbs out, nothing unpacks without bound."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

CHUNK = 1 << 18
SMALL = 1 << 22
"""Below this many bytes a high ratio is no threat: a file of blank lines compresses a thousandfold."""


class BadArchive(Exception):
    """The archive is truncated, damaged or of an unknown kind."""


class UnsafeArchive(Exception):
    """The archive would climb out of its folder, or unpacks to far more than it weighs."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much an archive may hold: bytes in all, and bytes as a multiple of the archive's own size."""

    max_bytes: int = 2 << 30
    max_ratio: int = 100


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    name: str
    content: bytes


def read_members(path: Path, wanted: Callable[[str], bool], limits: ArchiveLimits) -> Iterator[Member]:
    """Yield the members of a zip or tar archive whose names are wanted; every member is checked.

    Links are never followed. Errors: BadArchive, UnsafeArchive; both name the archive's member where there is one.
    """
    try:
        if zipfile.is_zipfile(path):
            yield from _zip_members(path, wanted, limits)
        else:
            yield from _tar_members(path, wanted, limits)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadArchive(f"{type(error).__name__}: {error}") from None


class _Budget:
    """Counts what comes out of an archive against what may."""

    def __init__(self, path: Path, limits: ArchiveLimits) -> None:
        self.size = path.stat().st_size
        self.allowed = min(limits.max_bytes, max(self.size * limits.max_ratio, SMALL))
        self.used = 0

    def take(self, count: int, name: str) -> None:
        self.used += count
        if self.used > self.allowed:
            raise UnsafeArchive(f"{name}: unpacks to more than {self.allowed} bytes, the archive has {self.size}")


def _zip_members(path: Path, wanted: Callable[[str], bool], limits: ArchiveLimits) -> Iterator[Member]:
    budget = _Budget(path, limits)
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        for info in infos:
            _check_name(info.filename)
        # The announced sizes are summed first, so that a bomb among the unwanted members is seen as well.
        _Budget(path, limits).take(sum(info.file_size for info in infos), "archive")
        for info in infos:
            if not info.is_dir() and wanted(info.filename):
                with archive.open(info) as file:
                    yield Member(info.filename, _read(file, budget, info.filename))


def _tar_members(path: Path, wanted: Callable[[str], bool], limits: ArchiveLimits) -> Iterator[Member]:
    budget = _Budget(path, limits)
    with tarfile.open(path, "r:*") as archive:
        for info in archive:
            _check_name(info.name)
            if info.issym() or info.islnk():
                _check_link(info)
                continue
            budget.take(info.size, info.name)
            if info.isfile() and wanted(info.name):
                file = archive.extractfile(info)
                if file is not None:
                    content = file.read(info.size + 1)
                    if len(content) != info.size:
                        raise BadArchive(f"{info.name}: {len(content)} of {info.size} bytes")
                    yield Member(info.name, content)


def _read(file: IO[bytes], budget: _Budget, name: str) -> bytes:
    parts = []
    while chunk := file.read(CHUNK):
        budget.take(len(chunk), name)
        parts.append(chunk)
    return b"".join(parts)


def _check_name(name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if name.startswith(("/", "\\")) or ".." in parts or (parts and parts[0][1:2] == ":"):
        raise UnsafeArchive(f"{name!r}: climbs out of its folder")


def _check_link(info: tarfile.TarInfo) -> None:
    """Refuse a link that leads out of the archive; a symbolic link counts from its own folder (POSIX ustar)."""
    base = PurePosixPath(info.name).parent if info.issym() else PurePosixPath()
    depth = 0
    for part in (base / info.linkname).parts:
        depth += -1 if part == ".." else part != "."
        if part == "/" or depth < 0:
            raise UnsafeArchive(f"{info.name!r}: a link that leads out, to {info.linkname!r}")
