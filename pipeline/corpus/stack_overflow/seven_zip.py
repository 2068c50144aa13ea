"""What is inside the 7z archives in which the site hands out its dump; slow to import."""

from __future__ import annotations

import lzma
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import py7zr
from py7zr.exceptions import ArchiveError, PasswordRequired
from py7zr.io import Py7zIO, WriterFactory

_DAMAGED = (ArchiveError, PasswordRequired, lzma.LZMAError, zlib.error, EOFError, ValueError, OSError)


def names_inside(archive: Path) -> list[str]:
    """Return the names of the files in an archive.

    Errors: ValueError where it is damaged.
    """
    try:
        with py7zr.SevenZipFile(archive) as opened:
            return list(opened.getnames())
    except _DAMAGED as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def unpack_into(archive: Path, name: str, writing: int) -> str | None:
    """Write a file of an archive into a pipe until nobody reads it any more; return what went wrong, if anything."""
    try:
        with os.fdopen(writing, "wb") as pipe, py7zr.SevenZipFile(archive) as unpacked:
            unpacked.extract(targets=[name], factory=_Into(_Pipe(pipe)))
    except BrokenPipeError:
        # Whoever reads had enough.
        return None
    except _DAMAGED as error:
        return f"{archive.name}: {type(error).__name__}: {error}"
    return None


@dataclass(slots=True)
class _Pipe(Py7zIO):
    """Where the one file that is wanted goes."""

    pipe: BinaryIO
    written: int = field(default=0)

    def write(self, s: bytes | bytearray) -> int:
        self.written += len(s)
        return self.pipe.write(s)

    def read(self, size: int | None = None) -> bytes:
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        return offset

    def flush(self) -> None:
        self.pipe.flush()

    def size(self) -> int:
        return self.written


@dataclass(frozen=True, slots=True)
class _Into(WriterFactory):
    pipe: _Pipe

    def create(self, filename: str) -> Py7zIO:
        return self.pipe
