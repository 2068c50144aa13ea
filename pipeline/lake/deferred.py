"""Rows that were taken and lie after the period that a refresh is about: put aside, until a later period wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import table
from pipeline.lake.tables import Lake

FOLDER = "later"
"""Folder in the lake of rows that are put aside, laid out as the lake is."""


def with_later(lake: Lake, name: str, library: str) -> list[Any]:
    """Return all rows of a library that were ever taken into a table, those that are put aside among them."""
    here, aside = lake.read(name, library), _aside(lake)
    known = {_key(name, row): row for row in aside.read(name, library)}
    return list((known | {_key(name, row): row for row in here}).values())


def put_aside(lake: Lake, name: str, library: str, known: Sequence[AnyRow], shown: Sequence[AnyRow]) -> None:
    """Keep known rows that a stage is about to leave out of a table; called before the table is written.

    All known rows are kept, so that none is lost where the run is killed in between. Where none is left out, and none
    that is aside is missing in the lake, there is nothing to keep any more.
    """
    aside = _aside(lake)
    keys = {_key(name, row) for row in shown}
    if any(_key(name, row) not in keys for row in known):
        aside.write(name, library, known)
    elif {_key(name, row) for row in aside.read(name, library)} <= {
        _key(name, row) for row in lake.read(name, library)
    }:
        for part in aside.parts(name, library):
            part.unlink()


def _aside(lake: Lake) -> Lake:
    return Lake(lake.root / FOLDER)


def _keys(name: str, rows: Sequence[AnyRow]) -> set[tuple[object, ...]]:
    return {_key(name, row) for row in rows}


def _key(name: str, row: AnyRow) -> tuple[object, ...]:
    return tuple(row[column] for column in table(name).key)
