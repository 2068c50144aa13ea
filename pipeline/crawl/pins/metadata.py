"""Metadata of a built distribution: PKG-INFO of an sdist, METADATA of a wheel (PEP 566, 643)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pipeline.crawl.pins.requirement import requirement
from pipeline.crawl.pins.stated import PYTHON, Stated
from pipeline.lake import Reject

_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def read(file: str, text: str, files: Mapping[str, bytes]) -> Iterator[Stated | Reject]:
    """Yield what Requires-Dist and Requires-Python state; the extra in a marker is the group."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            return
        field, _, value = line.partition(":")
        if field.lower() == "requires-dist":
            extra = _EXTRA.search(value)
            yield requirement(value.strip(), file, number, extra[1] if extra else None)
        elif field.lower() == "requires-python":
            yield requirement(f"{PYTHON}{value.strip()}", file, number)
