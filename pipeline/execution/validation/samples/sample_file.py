"""A file of samples, read line by line and read again where a sample is needed: it may be larger than memory."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from pipeline.execution.validation.samples.samples import Sample, SampleError, id_in, read_sample

LINE_BYTES = 16 << 20
_CHUNK = 1 << 20
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class BadSample:
    """A line that is no sample: its number from 1, its id if one can be read, and what is wrong with it."""

    line: int
    id: str | int | None
    detail: str


class SampleFile:
    """The lines of a file. `unknown` counts the fields that no sample has, by name, as far as it has been read.

    It stays open, so that a file that is replaced meanwhile is still the one that was read; many threads may read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unknown: Counter[str] = Counter()
        self._file = path.open("rb")
        self._offsets = array("q")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self) -> Iterator[tuple[int, Sample | BadSample]]:
        """Yield every line that is not blank, with its number from 1.

        A line that cannot be read, or whose id an earlier line has, is a BadSample.
        """
        self._offsets, self.unknown = array("q", [0]), Counter()
        lines_by_id: dict[bytes, int] = {}
        self._file.seek(0)
        while True:
            line, length = _line(self._file)
            if not length:
                return
            number = len(self._offsets)
            self._offsets.append(self._offsets[-1] + length)
            if line.strip(b" \t\r\n\xef\xbb\xbf"):
                yield number, self._judged(number, line, length, lines_by_id)

    def __getitem__(self, number: int) -> Sample:
        """Read the sample of one line again.

        Errors: SampleError where the line is none any more, because somebody wrote into the file.
        """
        start, end = self._offsets[number - 1], self._offsets[number]
        return read_sample(os.pread(self._file.fileno(), end - start, start))[0]

    def _judged(self, number: int, line: bytes, length: int, lines_by_id: dict[bytes, int]) -> Sample | BadSample:
        if length > len(line):
            size = f"{length >> 20} MiB long, more than {LINE_BYTES >> 20} MiB"
            return BadSample(number, id_in(line), f"line {number}: {size}; leave out what the sample does not need")
        try:
            sample, unknown = read_sample(line)
        except SampleError as error:
            return BadSample(number, error.of, f"line {number}: {error}")
        first = lines_by_id.setdefault(hashlib.blake2b(str(sample.id).encode(), digest_size=12).digest(), number)
        if first != number:
            detail = f"line {number}: id: {sample.id!r} stands on line {first} too; give each sample an id of its own"
            return BadSample(number, sample.id, detail)
        self.unknown.update(unknown)
        return sample


def _line(file: IO[bytes]) -> tuple[bytes, int]:
    """Return the next line and its length; of one that is too long only the beginning is kept."""
    line = file.readline(LINE_BYTES + 1)
    length = len(line)
    if length <= LINE_BYTES:
        return line, length
    part = line
    while part and not part.endswith(b"\n"):
        part = file.readline(_CHUNK)
        length += len(part)
    return line[:_HEAD], length
