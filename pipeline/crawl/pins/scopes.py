"""For which files of a project a statement counts: those in the folder that it stands for, and below."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from posixpath import dirname, normpath

from pipeline.crawl.pins.stated import Stated

SHELVES = frozenset({"requirements", "requirement", "reqs", "constraints"})
"""Folders that hold nothing but requirements, for the folder around them."""

_INFO = (".egg-info", ".dist-info")


@lru_cache(maxsize=1 << 14)
def scope(path: str) -> tuple[str, ...]:
    """Return the folder that a file of requirements stands for, as its parts."""
    parts = _parts(dirname(path))
    shelves = (place for place, part in enumerate(parts) if part in SHELVES or part.endswith(_INFO))
    return parts[: next(shelves, len(parts))]


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
