"""What the body of a function is like, in a few numbers: to find a function again that was moved or renamed.

A sketch is the smallest hashes of the lines of a body (bottom-k sketch; Broder 1997, "On the resemblance and
containment of documents"): equal bodies have equal sketches, and similar bodies share many of their hashes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

SIZE = 16
"""Greatest number of hashes of a sketch."""

_BLANK = zlib.crc32(b"")


def line_hashes(content: bytes) -> list[int]:
    """Return the CRC-32 of each line of a source, without the blanks around it."""
    return list(map(zlib.crc32, map(bytes.strip, content.splitlines())))


def sketch(hashes: Iterable[int]) -> list[int]:
    """Return the smallest hashes of lines, in order; blank lines do not count."""
    distinct = {*hashes}
    distinct.discard(_BLANK)
    return sorted(distinct)[:SIZE]


def similarity(first: Sequence[int], second: Sequence[int]) -> float:
    """Estimate from two sketches the share of lines that two bodies have in common (Jaccard), from 0 to 1.

    It is exact where both have together no more than SIZE different lines; two empty bodies are equal.
    """
    smallest = sorted({*first, *second})[:SIZE]
    if not smallest:
        return 1.0
    shared = {*first} & {*second}
    return sum(value in shared for value in smallest) / len(smallest)
