"""Files of the dump as streams: as they are, or inside the 7z archives in which the site hands them out."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import BinaryIO

import py7zr
from py7zr.exceptions import ArchiveError, PasswordRequired
from py7zr.io import Py7zIO, WriterFactory

BUFFER_BYTES = 1 << 20

_SIGNATURE = b"7z\xbc\xaf\x27\x1c"
_DAMAGED = (ArchiveError, PasswordRequired, lzma.LZMAError, zlib.error, EOFError, ValueError, OSError)


@dataclass(slots=True)
class Stream:
    """A file that is being read; `problem` is what went wrong in unpacking it, known when it has been read."""

    file: BinaryIO
    problem: str | None = None


def is_packed(path: Path) -> bool:
    """Tell whether a file is a 7z archive."""
    with path.open("rb") as file:
        return file.read(len(_SIGNATURE)) == _SIGNATURE


def names_in(archive: Path) -> list[str]:
    """Return the names of the files in an archive.

    Errors: ValueError where it is damaged.
    """
    try:
        with py7zr.SevenZipFile(archive) as opened:
            return list(opened.getnames())
    except _DAMAGED as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


@contextmanager
def stream(path: Path, name: str) -> Iterator[Stream]:
    """Open a file, or the file of that name in the archive that it is; nothing is written to disk."""
    if not is_packed(path):
        with path.open("rb", buffering=BUFFER_BYTES) as file:
            yield Stream(file)
        return
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=BUFFER_BYTES) as file:
        opened = Stream(file)
        # The library pushes what it unpacks; the pipe makes it wait for whoever reads.
        unpacking = Thread(target=_unpack, args=(path, name, writing, opened), daemon=True)
        unpacking.start()
        yield opened
        # Nobody reads what is left, if anything is.
        file.close()
        unpacking.join()


def _unpack(archive: Path, name: str, writing: int, opened: Stream) -> None:
    try:
        with os.fdopen(writing, "wb") as pipe, py7zr.SevenZipFile(archive) as unpacked:
            unpacked.extract(targets=[name], factory=_Into(_Pipe(pipe)))
    except BrokenPipeError:
        # Whoever reads had enough.
        return
    except _DAMAGED as error:
        opened.problem = f"{archive.name}: {type(error).__name__}: {error}"


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
