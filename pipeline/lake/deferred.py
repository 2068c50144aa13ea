"""Rows that were taken and lie after the period that a refresh is about: deferred until a later period covers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import table
from pipeline.lake.tables import Lake

FOLDER = "deferred"
"""Folder in the lake of deferred rows, laid out as the lake is."""


def with_deferred(lake: Lake, name: str, library: str) -> list[Any]:
    """Return all rows of a library that were ever taken into a table, the deferred ones among them."""
    rows = {_key(name, row): row for row in _deferred(lake).read(name, library)}
    return list((rows | {_key(name, row): row for row in lake.read(name, library)}).values())


def defer(lake: Lake, name: str, library: str, rows: Sequence[AnyRow], covered: Sequence[AnyRow]) -> None:
    """Keep rows that a stage leaves out of a table, since they are not `covered`; called before the table is written.

    All rows are kept, so that none is lost where the run is killed in between. Where all are covered, and no deferred
    one is missing in the lake, there is nothing to keep any more.
    """
    deferred = _deferred(lake)
    keys = {_key(name, row) for row in covered}
    if any(_key(name, row) not in keys for row in rows):
        deferred.write(name, library, rows)
    elif {_key(name, row) for row in deferred.read(name, library)} <= {
        _key(name, row) for row in lake.read(name, library)
    }:
        deferred.drop(name, library)


def _deferred(lake: Lake) -> Lake:
    return Lake(lake.root / FOLDER)


def _key(name: str, row: AnyRow) -> tuple[object, ...]:
    return tuple(row[column] for column in table(name).key)
