"""Configurations and splits of a snapshot as a data set of the Hub.

https://huggingface.co/docs/hub/datasets-manual-configuration
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import more_itertools

from pipeline.lake.schema import Column, Table, enum_of, table
from pipeline.snapshots.format.manifest import Entry

SPLIT = "test"
"""The split of the current rows: nobody should train on it."""

_SCALARS = {"timestamp": "timestamp[us, tz=UTC]"}

Json = dict[str, Any]


def splits(files: Iterable[Entry]) -> dict[str, dict[str, Entry]]:
    """Return the files of each configuration by split, in the order of the files; texts have none."""
    by_config: dict[str, dict[str, Entry]] = {}
    for entry in files:
        if entry.table:
            path = PurePosixPath(entry.path)
            split = SPLIT if path.parent.name == "data" else path.parent.name
            by_config.setdefault(path.stem, {})[split] = entry
    return by_config


def front_matter(profile: str, size: str, default: str, files: Sequence[Entry]) -> Json:
    """Return the card's metadata, which the Hub displays, filters and loads by.

    Rows have licences of their own, so the Hub's field is `other` with a link to the attribution. A file without rows
    is no split: `datasets` and the Hub's viewer fail on one.
    """
    by_config = splits(entry for entry in files if entry.rows)
    first = default if default in by_config else next(iter(by_config), None)
    return {
        "license": "other",
        "license_name": "per-row",
        "license_link": "ATTRIBUTION.md",
        "pretty_name": f"Driftline {profile}",
        "language": ["code", "en"],
        "annotations_creators": ["machine-generated"],
        "language_creators": ["found", "machine-generated"],
        "source_datasets": ["original"],
        "task_categories": ["text-generation"],
        "tags": ["code", "library-versions", "api-evolution", "croissant"],
        "size_categories": [size],
        "configs": [
            {"config_name": config, "data_files": [{"split": s, "path": e.path} for s, e in by_split.items()]}
            | ({"default": True} if config == first else {})
            for config, by_split in by_config.items()
        ],
        "dataset_info": [_info(config, by_split) for config, by_split in by_config.items()],
    }


def _info(config: str, files: dict[str, Entry]) -> Json:
    declared = table(str(more_itertools.first(files.values()).table))
    return {
        "config_name": config,
        "features": features(declared),
        "splits": [{"name": s, "num_bytes": e.bytes, "num_examples": e.rows} for s, e in files.items()],
        "download_size": (size := sum(entry.bytes for entry in files.values())),
        "dataset_size": size,
    }


def features(declared: Table) -> list[Json]:
    """Return the columns of a table as the library `datasets` writes them in a card."""
    return [_feature(column, declared) for column in declared.columns if not column.volatile]


def _feature(column: Column, declared: Table) -> Json:
    inner = column.type.removeprefix("list[").removesuffix("]")
    is_list = inner != column.type
    if inner in declared.types:
        members = [_feature(member, declared) for member in declared.types[inner]]
        return {"name": column.name, "list" if is_list else "struct": members}
    kind = "string" if enum_of(inner) else _SCALARS.get(inner, inner)
    return {"name": column.name, "list" if is_list else "dtype": kind}
