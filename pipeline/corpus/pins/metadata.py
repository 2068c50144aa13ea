"""Metadata of a distribution: PKG-INFO and requires.txt of an sdist, METADATA of a wheel (PEP 566, 643)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.corpus.pins.requirement import requirement, specified
from pipeline.corpus.pins.requirements_txt import logical_lines
from pipeline.corpus.pins.statements import PYTHON, FileEntry

_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")


def read(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what Requires-Dist and Requires-Python state; the extra in a marker is the group."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            return  # the description follows
        field, _, value = line.partition(":")
        if field.lower() == "requires-dist":
            extra = _EXTRA.search(value)
            yield requirement(value.strip(), file, number, extra[1] if extra else None)
        elif field.lower() == "requires-python":
            yield specified(PYTHON, value.strip(), file, number)


def read_requires(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what setuptools wrote into the requires.txt of an egg, in sections: `[extra]`, `[extra:marker]`."""
    group: str | None = None
    marker: str | None = None
    for number, line in logical_lines(text):
        if line.startswith("["):
            group, marker = extra_of(line.strip("[]"))
        else:
            yield requirement(line, file, number, group, marker)


def extra_of(key: str) -> tuple[str | None, str | None]:
    """Part the name of an extra as setuptools writes it, `extra:marker`, into extra and marker."""
    extra, _, marker = key.partition(":")
    return extra.strip() or None, marker.strip() or None
