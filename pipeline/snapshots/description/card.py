"""The dataset card of a snapshot, made from the schemas, the vocabularies, the rows and the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from more_itertools import first

from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.schema import Column, Row, table
from pipeline.snapshots.description.croissant import LIMITS, vocabularies
from pipeline.snapshots.description.markdown import cell, templates
from pipeline.snapshots.format.layout import front_matter, splits
from pipeline.snapshots.format.manifest import Entry
from pipeline.snapshots.format.survival_figures import standing_of

_DESCRIBED = ("completions", "migrations", "functions")
"""The families whose rows say which model described them."""

_LOOKS = 24
"""How many looks at earlier snapshots the card tells of, the newest first; the table has all."""

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
"""How the Hub calls the number of examples below a limit."""


def card_text(profile: str, tables: Mapping[str, Sequence[Row]], files: Sequence[Entry]) -> str:
    """Return the dataset card: metadata of the Hub, what the rows mean, their counts, sources, licences and limits.

    `files` are the Parquet files of the snapshot: what each holds is a configuration, its folder the split.
    """
    found = splits(files)
    configs = {config: table(str(first(of_one.values()).table)) for config, of_one in found.items()}
    size = _size(sum(len(tables[family]) for family in INSTANCE_TABLES))
    return templates.get_template("card.md.jinja").render(
        front=yaml.dump(
            front_matter(profile, size, INSTANCE_TABLES[0], files), Dumper=yaml.CSafeDumper, sort_keys=False
        ),
        profile=profile,
        default=INSTANCE_TABLES[0],
        configs=configs,
        splits=found,
        published={config: [c for c in declared.columns if not c.volatile] for config, declared in configs.items()},
        structs={config: declared.types for config, declared in configs.items()},
        vocabularies=vocabularies(configs.values()),
        families={family: _family(tables[family]) for family in INSTANCE_TABLES},
        releases=_release_lines(tables["releases"]),
        licences=_licences(tables),
        statements=sorted(Counter((row["directive"], row["agreement"]) for row in tables["directives"]).items()),
        rejects=sorted(Counter((row["stage"], str(row["reason"])) for row in tables["rejects"]).items()),
        models=sorted(Counter(row["model"] for family in _DESCRIBED for row in tables[family] if row["model"]).items()),
        survival=standing_of(tables.get("survivals", ()))[:_LOOKS],
        limits=LIMITS,
        canary=canary_of(tables),
        type_of=_type_of,
        cell=cell,
    )


def canary_of(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return the canary that the instances carry; nothing where there is none."""
    return next((str(row["canary"]) for family in INSTANCE_TABLES for row in tables[family]), "")


def _size(rows: int) -> str:
    for limit, name in _SIZES:
        if rows < limit:
            return name
    return "10M<n<100M"


def _family(rows: Sequence[Row]) -> dict[str, list[tuple[str, int]]]:
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
    libraries: dict[str, list[Row]] = {}
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


def _licences(tables: Mapping[str, Sequence[Row]]) -> list[tuple[str, int]]:
    """Return how many instances are under which licence, most first."""
    counted = Counter(row["licence"] or "unknown" for family in INSTANCE_TABLES for row in tables[family])
    return sorted(counted.items(), key=lambda licence: (-licence[1], licence[0]))


def _type_of(column: Column) -> str:
    return column.type + (", may be null" if column.nullable else "")
