"""The tables of migrations of which a model writes one side, and how they are read beside those that rules made.

Nothing of the provider's SDK is imported here: the stages that read these tables run without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast, overload

import pyarrow.compute as pc

from pipeline.lake.rows import AnyRow, DraftRow, MigrationRow, RewriteRow, Tables, VerdictRow
from pipeline.lake.stage import as_tables
from pipeline.lake.tables import Lake

TABLES = ("model_migrations", "drafted_rewrites", "drafted_verdicts", "drafted_descriptions")
"""What the stage `model_migrations` writes; empty where no model drafts."""

DRAFTED = ("model_migrations", "drafted_verdicts", "drafted_descriptions")
"""The tables that `with_drafted` puts beside those that rules made."""


_BESIDE: Mapping[str, str] = {
    "migrations": "model_migrations",
    "verdicts": "drafted_verdicts",
    "drafts": "drafted_descriptions",
    "rewrites": "drafted_rewrites",
}


def with_drafted(tables: Tables) -> Tables:
    """Return tables with what a model wrote beside what rules made, of those that have both."""
    rows = cast("Mapping[str, Sequence[AnyRow]]", tables)
    both = {name: beside for name, beside in _BESIDE.items() if rows.keys() >= {name, beside}}
    return as_tables({**rows, **{name: [*rows[name], *rows[beside]] for name, beside in both.items()}})


@overload
def read_with_drafted(
    lake: Lake, table: Literal["migrations"], library: str, where: pc.Expression | None = None
) -> list[MigrationRow]: ...
@overload
def read_with_drafted(
    lake: Lake, table: Literal["verdicts"], library: str, where: pc.Expression | None = None
) -> list[VerdictRow]: ...
@overload
def read_with_drafted(
    lake: Lake, table: Literal["drafts"], library: str, where: pc.Expression | None = None
) -> list[DraftRow]: ...
@overload
def read_with_drafted(
    lake: Lake, table: Literal["rewrites"], library: str, where: pc.Expression | None = None
) -> list[RewriteRow]: ...
@overload
def read_with_drafted(lake: Lake, table: str, library: str, where: pc.Expression | None = None) -> list[AnyRow]: ...
def read_with_drafted(lake: Lake, table: str, library: str, where: pc.Expression | None = None) -> Sequence[AnyRow]:
    """Return the rows of a table, and those that a model wrote of the same kind."""
    beside = lake.read(_BESIDE[table], library, where) if table in _BESIDE else []
    return [*lake.read(table, library, where), *beside]
