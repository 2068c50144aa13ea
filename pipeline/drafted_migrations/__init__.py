"""Migrations of which a model writes one side, where neither a codemod nor an example of the other release has it.

Nothing of the provider's SDK is imported here: the stages that read these tables run without it.
"""

from __future__ import annotations

from typing import Any

from pipeline.lake import Row

TABLES = ("drafted_migrations", "drafted_rewrites", "drafted_verdicts", "drafted_descriptions", "refused_migrations")
"""What the stage `migrated_code` writes; empty where no model drafts."""


def with_drafted(
    drafted_migrations: list[Row], drafted_verdicts: list[Row], drafted_descriptions: list[Row], **tables: Any
) -> dict[str, Any]:
    """Return the tables that review and gate take, with what a model wrote beside what rules made."""
    added = {"migrations": drafted_migrations, "verdicts": drafted_verdicts, "drafts": drafted_descriptions}
    return {name: [*rows, *added.get(name, ())] for name, rows in tables.items()}
