"""The guarded reader of archives: nothing is written to disk, nothing climbs out, nothing unpacks without bound."""

from __future__ import annotations

import errno
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Protocol

from pipeline.core.errors import CodedError

CHUNK = 1 << 18
SMALL = 1 << 22
"""Below this many bytes a high ratio is no threat: a file of blank lines compresses a thousandfold."""


class BadArchive(CodedError):
    """The archive is truncated, damaged or of an unknown kind."""

    code = "bad_archive"


class UnsafeArchive(CodedError):
    """The archive would climb out of its folder, or unpacks to far more than it weighs."""

    code = "unsafe_archive"


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


def read_members(file: IO[bytes], is_selected: Callable[[str], bool], limits: ArchiveLimits) -> Iterator[Member]:
    """Yield the members of a zip or tar archive whose names are wanted; every member is checked.

    Links are never followed. Errors: BadArchive, UnsafeArchive; both name the archive's member where there is one.
    """
    size = file.seek(0, os.SEEK_END)
    if zipfile.is_zipfile(file):
        archive = ZipMembers(file, size, limits)
        for name in filter(is_selected, archive.names):
            yield Member(name, archive.read(name))
    else:
        file.seek(0)
        with _archive_errors():
            yield from _tar_members(file, is_selected, _Budget(size, limits))


@contextmanager
def _archive_errors() -> Iterator[None]:
    """Turn what zipfile, tarfile and the codecs raise at a damaged, encrypted or unknown archive into BadArchive."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadArchive(f"{type(error).__name__}: {error}") from None
    except (RuntimeError, ValueError, struct.error) as error:
        # RuntimeError: encrypted, or an unknown method; ValueError: offsets before the file, names in no encoding.
        raise BadArchive(f"{type(error).__name__}: {error}") from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        raise BadArchive(f"{type(error).__name__}: {error}") from None


class _Budget:
    """Counts what comes out of an archive against what may."""

    def __init__(self, size: int, limits: ArchiveLimits) -> None:
        self.size = size
        self.allowed = min(limits.max_bytes, max(size * limits.max_ratio, SMALL))
        self.used = 0

    def take(self, count: int, name: str) -> None:
        self.used += count
        if self.used > self.allowed:
            raise UnsafeArchive(f"{name}: unpacks to more than {self.allowed} bytes, the archive has {self.size}")


class ZipReadable(Protocol):
    """What a zip archive is read from."""

    def read(self, n: int = -1, /) -> bytes:
        """Read so many bytes, or all that are left."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""


class ZipMembers:
    """The files of a zip archive, whose names and announced sizes were checked before anything is read.

    Errors, here and in reading: BadArchive, UnsafeArchive.
    """

    def __init__(self, file: ZipReadable, size: int, limits: ArchiveLimits) -> None:
        with _archive_errors():
            self._archive = zipfile.ZipFile(file)
        self._budget = _Budget(size, limits)
        infos = self._archive.infolist()
        for info in infos:
            if not info.filename:
                raise BadArchive("a member without a name")
            _check_name(info.filename)
        # The announced sizes are summed first, so that a bomb among the unwanted members is seen as well.
        _Budget(size, limits).take(sum(info.file_size for info in infos), "archive")
        # Of two members with one name the last counts, as for zipfile.
        self._infos = {info.filename: info for info in infos if not info.is_dir()}
        self._starts = sorted({*(info.header_offset for info in infos), self._archive.start_dir})

    @property
    def names(self) -> list[str]:
        """The names of the files, folders left out."""
        return list(self._infos)

    def place(self, name: str) -> tuple[int, int]:
        """Return from where to where a file reaches in the archive, head and trailer included."""
        start = self._infos[name].header_offset
        after = bisect_right(self._starts, start)
        return start, self._starts[min(after, len(self._starts) - 1)]

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, whose CRC is checked."""
        with _archive_errors(), self._archive.open(self._infos[name]) as file:
            parts = []
            while chunk := file.read(CHUNK):
                self._budget.take(len(chunk), name)
                parts.append(chunk)
            return b"".join(parts)


def _tar_members(source: IO[bytes], is_selected: Callable[[str], bool], budget: _Budget) -> Iterator[Member]:
    with tarfile.open(fileobj=source, mode="r:*") as archive:
        for info in archive:
            _check_name(info.name)
            if info.issym() or info.islnk():
                _check_link(info)
                continue
            budget.take(info.size, info.name)
            if info.isfile() and is_selected(info.name):
                file = archive.extractfile(info)
                if file is not None:
                    content = file.read(info.size + 1)
                    if len(content) != info.size:
                        raise BadArchive(f"{info.name}: {len(content)} of {info.size} bytes")
                    yield Member(info.name, content)


def _check_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    # Absolute (an empty first part), upwards, or on a drive.
    if (name and not parts[0]) or ".." in parts or parts[0][1:2] == ":":
        raise UnsafeArchive(f"{name!r}: climbs out of its folder")


def _check_link(info: tarfile.TarInfo) -> None:
    """Refuse a link that leads out of the archive; a symbolic link counts from its own folder (POSIX ustar)."""
    base = PurePosixPath(info.name).parent if info.issym() else PurePosixPath()
    depth = 0
    for part in (base / info.linkname).parts:
        depth += -1 if part == ".." else part != "."
        if part == "/" or depth < 0:
            raise UnsafeArchive(f"{info.name!r}: a link that leads out, to {info.linkname!r}")
