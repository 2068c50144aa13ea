"""Errata and the split `deprecated` of a snapshot must tell of the same rows, and of none that still stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.snapshots.comparison.errata import CONCERNED
from pipeline.snapshots.format.tables import TABLES

PREFIX = "deprecated_"
"""What the view of a table of the split `deprecated` is called by, before the table's name."""


def errata_problems(database: duckdb.DuckDBPyConnection, readable: Collection[str]) -> Iterator[str]:
    """Yield what errata and deprecated rows contradict each other in.

    `readable` are the tables that can be looked at, those of the split deprecated under `PREFIX` and their name.
    """
    if "errata" not in readable:
        return
    for config in CONCERNED:
        name, deprecated = TABLES[config], PREFIX + TABLES[config]
        if name not in readable:
            continue
        kept = f"SELECT row_id FROM errata WHERE config = '{config}' AND kept"  # noqa: S608
        if deprecated in readable:
            yield from _told(database, config, name, deprecated, kept)
        elif number := _number(database, kept):
            yield f"errata: {number} rows of {config} are said to be kept, and there is no deprecated/{config}.parquet"
        yield from _gone(database, config, name)
    unknown = ", ".join(f"'{config}'" for config in CONCERNED)
    if number := _number(database, f"SELECT 1 FROM errata WHERE config NOT IN ({unknown})"):  # noqa: S608
        yield f"errata.config: {number} rows name no configuration that can have errata"


def _told(database: duckdb.DuckDBPyConnection, config: str, name: str, deprecated: str, kept: str) -> Iterator[str]:
    """Check the deprecated rows of a configuration against the errata and against the rows that stand."""
    checks = {
        "errata are said to be kept, and the split deprecated lacks them": (
            f"SELECT row_id FROM ({kept}) AS a ANTI JOIN {deprecated} AS b ON a.row_id = b.id"  # noqa: S608
        ),
        "deprecated rows have no erratum that keeps them": (
            f"SELECT id FROM {deprecated} AS a ANTI JOIN ({kept}) AS b ON a.id = b.row_id"  # noqa: S608
        ),
        "rows are deprecated and stand among the others too": (
            f"SELECT a.id FROM {deprecated} AS a JOIN {name} AS b ON a.id = b.id"  # noqa: S608
        ),
    }
    for what, query in checks.items():
        if number := _number(database, query):
            yield f"deprecated/{config}.parquet: {number} {what}"


def _gone(database: duckdb.DuckDBPyConnection, config: str, name: str) -> Iterator[str]:
    """What an erratum says went must be gone unless it was restored."""
    query = (
        f"SELECT row_id FROM errata AS a JOIN {name} AS b ON a.row_id = b.id WHERE a.config = '{config}'"  # noqa: S608
        f" AND NOT a.restored AND a.reason <> '{ErratumReason.CORRECTED}'"
    )
    if number := _number(database, query):
        yield f"errata: {number} rows of {config} are said to be gone, and stand among the others"


def _number(database: duckdb.DuckDBPyConnection, query: str) -> int:
    row = database.execute(f"SELECT count(*) FROM ({query})").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
