"""The tables of migrations of which a model writes one side, and how they are read beside those that rules made.

Nothing of the provider's SDK is imported here: the stages that read these tables run without it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow.compute as pc

from pipeline.lake.rows import Tables
from pipeline.lake.schema import Row
from pipeline.lake.tables import Lake

TABLES = ("drafted_migrations", "drafted_rewrites", "drafted_verdicts", "drafted_descriptions", "refused_migrations")
"""What the stage `migrated_code` writes; empty where no model drafts."""

DRAFTED = ("drafted_migrations", "drafted_verdicts", "drafted_descriptions")
"""The tables that `with_drafted` puts beside those that rules made."""


def with_drafted(tables: Tables) -> Tables:
    """Return the tables that review and gate take, with what a model wrote beside what rules made."""
    return {
        **tables,
        "migrations": [*tables["migrations"], *tables["drafted_migrations"]],
        "verdicts": [*tables["verdicts"], *tables["drafted_verdicts"]],
        "drafts": [*tables["drafts"], *tables["drafted_descriptions"]],
    }


_BESIDE: Mapping[str, str] = {
    "migrations": "drafted_migrations",
    "verdicts": "drafted_verdicts",
    "drafts": "drafted_descriptions",
    "rewrites": "drafted_rewrites",
}


def read_with_drafted(lake: Lake, table: str, library: str, where: pc.Expression | None = None) -> list[Row]:
    """Return the rows of a table, and those that a model wrote of the same kind."""
    beside = lake.read(_BESIDE[table], library, where) if table in _BESIDE else []
    return [*lake.read(table, library, where), *beside]
