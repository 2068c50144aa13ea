"""The tables of migrations of which a model writes one side, and how they are read beside those that rules made.

Nothing of the provider's SDK is imported here: the stages that read these tables run without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from pipeline.lake.schema import Row
from pipeline.lake.tables import Lake

TABLES = ("drafted_migrations", "drafted_rewrites", "drafted_verdicts", "drafted_descriptions", "refused_migrations")
"""What the stage `migrated_code` writes; empty where no model drafts."""

DRAFTED = ("drafted_migrations", "drafted_verdicts", "drafted_descriptions")
"""The tables that `with_drafted` puts beside those that rules made."""


def with_drafted(
    drafted_migrations: list[Row], drafted_verdicts: list[Row], drafted_descriptions: list[Row], **tables: Any
) -> dict[str, Any]:
    """Return the tables that review and gate take, with what a model wrote beside what rules made."""
    added = {"migrations": drafted_migrations, "verdicts": drafted_verdicts, "drafts": drafted_descriptions}
    return {name: [*rows, *added.get(name, ())] for name, rows in tables.items()}


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
