"""Files of the dump as streams: as they are, or inside the 7z archives in which the site hands them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO

BUFFER_BYTES = 1 << 20

_SIGNATURE = b"7z\xbc\xaf\x27\x1c"


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
    # slow to import
    from pipeline.corpus.stack_overflow.seven_zip import names_inside

    return names_inside(archive)


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
    # slow to import
    from pipeline.corpus.stack_overflow.seven_zip import unpack_into

    opened.problem = unpack_into(archive, name, writing)
