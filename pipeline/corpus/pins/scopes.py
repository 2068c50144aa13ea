"""For which files of a project a statement counts: those in the folder that it stands for, and below."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from posixpath import dirname, normpath

from pipeline.corpus.pins.stated import Stated

SHELVES = frozenset({"requirements", "requirement", "reqs", "constraints"})
"""Folders that hold nothing but requirements, for the folder around them."""

_SOURCES = (("src",), ("lib",))


@lru_cache(maxsize=1 << 14)
def scope(path: str) -> tuple[str, ...]:
    """Return the folder that a file of requirements stands for, as its parts.

    What a build wrote down beside the code (`src/x.egg-info`) stands for the whole project.
    """
    parts = _parts(dirname(path))
    for place, part in enumerate(parts):
        if part in SHELVES:
            return parts[:place]
        if part.endswith((".egg-info", ".dist-info")):
            return parts[: place - 1] if parts[place - 1 : place] in _SOURCES else parts[:place]
    return parts


def in_scope(stated: Iterable[Stated], file: str | None) -> list[Stated]:
    """Return the statements that count for a file, those of the nearest folder first; for all where it is None."""
    if file is None:
        return sorted(stated, key=lambda one: len(scope(one.file)))
    folder = _parts(dirname(file))
    near = [one for one in stated if folder[: len(scope(one.file))] == scope(one.file)]
    return sorted(near, key=lambda one: -len(scope(one.file)))


def nearest(stated: Iterable[Stated]) -> list[Stated]:
    """Return of statements in the order of `in_scope` those that stand for the same folder as the first."""
    found = list(stated)
    return [one for one in found if scope(one.file) == scope(found[0].file)]


def _parts(folder: str) -> tuple[str, ...]:
    return tuple(part for part in normpath(folder or ".").split("/") if part not in ("", "."))
