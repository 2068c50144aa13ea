"""The dataset card of a snapshot, made from the schemas, the vocabularies, the rows and the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml
from more_itertools import first

from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.all_families import INSTANCE_TABLES, INSTANCES
from pipeline.lake.rows import AnyRow, Configurations, ReleaseRow
from pipeline.lake.schema import Column, table
from pipeline.snapshots.description.attribution import attribution_text
from pipeline.snapshots.description.croissant import LIMITS, croissant_text, vocabularies
from pipeline.snapshots.description.markdown import cell, templates
from pipeline.snapshots.description.views import family_counts
from pipeline.snapshots.format.layout import front_matter, splits
from pipeline.snapshots.format.manifest import Entry
from pipeline.snapshots.format.rows import PublishedRows
from pipeline.snapshots.format.survival_figures import survival_figures

_DESCRIBED = ("completions", "migrations", "functions")
"""The families whose rows name the model of their description."""

_FIGURES = 24
"""The newest survival figures, which the card lists; the table has all."""

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
"""The Hub's size categories by upper limit."""


def card_text(
    profile: str, tables: Configurations, files: Sequence[Entry], same_code_fails: Collection[Outcome]
) -> str:
    """Return the dataset card: metadata for the Hub, meaning of the rows, their counts, sources, licences and limits.

    Each Parquet file in `files` is a configuration, and its folder is the split. `same_code_fails` is the rule of this
    name in `quality.yaml`.
    """
    by_config = splits(files)
    configs = {config: table(str(first(by_split.values()).table)) for config, by_split in by_config.items()}
    size = _size(sum(len(tables[family]) for family in INSTANCE_TABLES))
    return templates.get_template("card.md.jinja").render(
        front=yaml.dump(
            front_matter(profile, size, INSTANCE_TABLES[0], files), Dumper=yaml.CSafeDumper, sort_keys=False
        ),
        profile=profile,
        default=INSTANCE_TABLES[0],
        configs=configs,
        splits=by_config,
        published={config: [c for c in declared.columns if not c.volatile] for config, declared in configs.items()},
        structs={config: declared.types for config, declared in configs.items()},
        vocabularies=vocabularies(configs.values()),
        views=list(View),
        counts={
            family.table: family_counts(family, rows, same_code_fails)
            for family in INSTANCES
            if (rows := tables[family.table])
        },
        families={family: _family(tables[family]) for family in INSTANCE_TABLES if tables[family]},
        releases=_release_lines(tables["releases"]),
        licences=_licences(tables),
        statements=sorted(Counter((row["directive"], row["agreement"]) for row in tables["directives"]).items()),
        rejects=sorted(Counter((row["stage"], str(row["reason"])) for row in tables["rejects"]).items()),
        models=sorted(Counter(row["model"] for family in _DESCRIBED for row in tables[family] if row["model"]).items()),
        survival=survival_figures(tables["survivals"])[:_FIGURES],
        limits=LIMITS,
        canary=canary_of(tables),
        type_of=_type_of,
        cell=cell,
    )


def canary_of(tables: Configurations) -> str:
    """Return the canary of the instances, or nothing."""
    return next((str(row["canary"]) for family in INSTANCE_TABLES for row in tables[family]), "")


def _size(rows: int) -> str:
    for limit, name in _SIZES:
        if rows < limit:
            return name
    return "10M<n<100M"


def _family(rows: Sequence[AnyRow]) -> dict[str, list[tuple[str, int]]]:
    columns = (
        "library",
        "language",
        "source",
        "version_evidence",
        "libevolutioneval_tag",
        "versicode_tag",
        "evidence",
        "category",
        "discriminating",
        "granularity",
        "access",
        "pattern",
        "direction",
        "basis",
        "scene",
        "block_type",
    )
    return {
        column: sorted(Counter(str(row[column]) for row in rows).items())
        for column in columns
        if rows and column in rows[0]
    }


def _release_lines(releases: Sequence[ReleaseRow]) -> list[dict[str, Any]]:
    libraries: dict[str, list[ReleaseRow]] = {}
    for row in sorted(releases, key=lambda row: (row["library"], row["release_time"])):
        libraries.setdefault(row["library"], []).append(row)
    return [
        {
            "library": library,
            "versions": ", ".join(row["version"] for row in rows),
            "licences": ", ".join(sorted({row["licence"] or "unknown" for row in rows})),
        }
        for library, rows in libraries.items()
    ]


def _licences(tables: Configurations) -> list[tuple[str, int]]:
    """Return the number of instances by licence, most frequent first."""
    counted = Counter(row["licence"] or "unknown" for family in INSTANCE_TABLES for row in tables[family])
    return sorted(counted.items(), key=lambda licence: (-licence[1], licence[0]))


def _type_of(column: Column) -> str:
    return column.type + (", may be null" if column.nullable else "")


CROISSANT = "croissant.json"

TEXT_COLUMNS = (
    *("library", "version", "release_time", "purl", "artifact", "sha256", "licence", "licence_stated", "attribution"),
    *("place", "url", "project_url", "origin", "source", "outcome", "language", "canary", "model", "stage", "reason"),
    *("version_evidence", "libevolutioneval_tag", "versicode_tag", "evidence", "category", "discriminating"),
    *("granularity", "access", "pattern", "direction", "basis", "scene", "block_type", "directive", "agreement"),
    *("period", "snapshot", "day", "restored", "change_id", "neighbour_outcome", "other_outcome"),
    *dict.fromkeys(column for family in INSTANCES for column in family.dated_by),
)
"""The columns of all configurations that texts and manifest use."""


def texts_of(
    profile: str,
    end: datetime,
    tables: PublishedRows,
    deprecated: Mapping[str, Sequence[AnyRow]],
    files: Sequence[Entry],
    same_code_fails: Collection[Outcome],
) -> dict[str, str]:
    """Return the texts of a snapshot by path; equal tables and files give equal texts.

    `tables` has the columns TEXT_COLUMNS of the rows by configuration, `deprecated` the deprecated rows, `files` the
    Parquet files, and `end` is that of the covered period; `same_code_fails` is as in `card_text`.
    """
    quoted = tables.and_also(deprecated)
    return {
        "ATTRIBUTION.md": attribution_text(quoted),
        "README.md": card_text(profile, tables, files, same_code_fails),
        CROISSANT: croissant_text(profile, end, quoted, files, canary_of(tables)),
    }
