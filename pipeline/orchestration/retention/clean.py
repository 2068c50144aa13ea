"""Cleaning: everything that the rules of retention let go, in one pass; told first, or only told."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.settings import settings
from pipeline.execution.caches.clearing import Cleared, clear_caches
from pipeline.lake.pinned_versions import vacuum_lake
from pipeline.lake.tables import Lake
from pipeline.orchestration.retention.leftovers import Leftover, leftovers, remove, without_empty_folders
from pipeline.orchestration.retention.metadata import clean_metadata
from pipeline.orchestration.retention.rules import retention_rules


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What went, or would go: files and folders, and what Airflow says of its database (None: it was not asked).

    `caches` tells the size and the limit of each cache, in a dry run of those that nothing was taken from.
    """

    leftovers: Sequence[Leftover]
    metadata: str | None
    caches: Sequence[Cleared] = ()


def clean(airflow: Mapping[str, str], *, dry_run: bool = False, now: datetime | None = None) -> Cleaned:
    """Remove what the rules let go; `airflow` is the environment of Airflow's processes.

    Errors: RuleError; NotCleaned, after the rest was cleaned.
    """
    rules, now = retention_rules(), now or datetime.now(UTC)
    logs = Path(airflow.get("AIRFLOW__LOGGING__BASE_LOG_FOLDER") or Path(airflow["AIRFLOW_HOME"]) / "logs")
    items = list(leftovers(settings(), rules, logs, now))
    if not dry_run:
        remove(items)
        if rules.lake:
            vacuum_lake(Lake(settings().lake_root), settings().runs, rules.lake.days)
        without_empty_folders(logs)
    here = settings()
    caches = clear_caches(here.cache, rules.caches, here.environments_bytes, dry_run=dry_run) if rules.caches else []
    metadata = clean_metadata(rules.metadata, now, airflow, dry_run=dry_run) if rules.metadata else None
    return Cleaned(items, metadata, caches)


def clean_here() -> Cleaned:
    """Clean from within a task of Airflow, whose environment names its folder."""
    return clean(os.environ)


def bytes_by_kind(done: Cleaned) -> dict[str, int]:
    """Return how many bytes went, by kind."""
    sizes: Counter[str] = Counter()
    for leftover in done.leftovers:
        sizes[leftover.kind] += leftover.size
    for cache in done.caches:
        sizes[f"cache {cache.cache}"] += cache.before_bytes - cache.after_bytes
    return {kind: size for kind, size in sizes.items() if size}
