"""For which files of a project a statement counts: those in the folder that it stands for, and below."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from posixpath import dirname, normpath

from pipeline.corpus.pins.statements import Statement

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


def in_scope(statements: Iterable[Statement], file: str | None) -> list[Statement]:
    """Return the statements that count for a file, those of the nearest folder first; for all where it is None."""
    if file is None:
        return sorted(statements, key=lambda statement: len(scope(statement.file)))
    folder = _parts(dirname(file))
    near = [statement for statement in statements if folder[: len(scope(statement.file))] == scope(statement.file)]
    return sorted(near, key=lambda item: -len(scope(item.file)))


def nearest(statements: Iterable[Statement]) -> list[Statement]:
    """Return of statements in the order of `in_scope` those that stand for the same folder as the first."""
    ordered = list(statements)
    return [statement for statement in ordered if scope(statement.file) == scope(ordered[0].file)]


def _parts(folder: str) -> tuple[str, ...]:
    return tuple(part for part in normpath(folder or ".").split("/") if part not in ("", "."))
