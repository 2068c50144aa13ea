"""The texts of a snapshot: the card, who wrote what, and the description for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pipeline.lake.schema import Row
from pipeline.snapshots.description.attribution import attribution_text
from pipeline.snapshots.description.card import canary_of, card_text
from pipeline.snapshots.description.croissant import croissant_text
from pipeline.snapshots.format.manifest import Entry
from pipeline.snapshots.format.rows import Written

CROISSANT = "croissant.json"

TOLD = (
    *("library", "version", "release_time", "purl", "artifact", "sha256", "licence", "licence_stated", "attribution"),
    *("place", "url", "project_url", "origin", "source", "outcome", "language", "canary", "model", "stage", "reason"),
    *("version_evidence", "libevolutioneval_tag", "versicode_tag", "evidence", "category", "discriminating"),
    *("granularity", "access", "pattern", "direction", "basis", "scene", "block_type", "directive", "agreement"),
    *("period", "snapshot", "day", "restored"),
)
"""The columns of whatever configuration that the texts and the manifest tell of."""


def texts_of(
    profile: str,
    end: datetime,
    tables: Written,
    deprecated: Mapping[str, Sequence[Row]],
    files: Sequence[Entry],
) -> dict[str, str]:
    """Return the texts of a snapshot by path; equal tables and files give equal texts.

    `tables` has the columns TOLD of the rows by configuration, `deprecated` those that went, `files` the Parquet files
    that hold them, `end` that of the covered period.
    """
    quoted = tables.and_also(deprecated)
    return {
        "ATTRIBUTION.md": attribution_text(quoted),
        "README.md": card_text(profile, tables, files),
        CROISSANT: croissant_text(profile, end, quoted, files, canary_of(tables)),
    }
