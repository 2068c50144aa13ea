"""All caches of a data folder brought below their limits."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.execution.caches.files import NOT_CACHED, Used, files_below, remove_empty, remove_oldest
from pipeline.execution.caches.rows import has_rows, shrink_rows
from pipeline.execution.caches.rules import CacheRules
from pipeline.execution.caches.using import IN_USE
from pipeline.execution.environments.file_locks import alone_now
from pipeline.execution.environments.garbage_collection import Collection

ENVIRONMENTS = "environments"


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was done to a cache: its limit, its bytes before and after, what went, and why it is still above, if it is.

    `removed` counts environments, files or rows.
    """

    cache: str
    limit_bytes: int
    before_bytes: int
    after_bytes: int
    removed: int
    why_above: str = ""


def clear_caches(cache: Path, rules: CacheRules, environments_bytes: int, *, dry_run: bool = False) -> list[Cleared]:
    """Bring every cache below its limit, what was used longest ago first; what is in use stays.

    A cache is a folder or file of the cache folder, so that one which is new has a limit too.

    Everything here can be fetched or made again, so whatever goes costs time only. Whoever calls this must not be at
    work with the caches itself (use_caches). A dry run only measures.
    """
    if not cache.is_dir():
        return []
    done = []
    limits = {cache / ENVIRONMENTS: environments_bytes} if (cache / ENVIRONMENTS).is_dir() else {}
    limits |= {root: rules.limit_bytes(root.relative_to(cache).parts[0]) for root in _stores_of_others(cache)}
    with alone_now(cache / IN_USE) as alone:
        for root, limit in limits.items():
            done.append(_environments(cache, root, limit, dry_run))
            # Who builds an environment need not be at work with the other caches.
            beside = _beside_environments(root)
            done += [_clear(cache, path, rules, alone=False, dry_run=dry_run) for path in beside]
        done += [_clear(cache, path, rules, alone=alone, dry_run=dry_run) for path in _others(cache, rules)]
    return done


def _environments(cache: Path, root: Path, limit_bytes: int, dry_run: bool) -> Cleared:
    """Environments have locks of their own, so that those which nobody uses can go while others are in use."""
    name = str(root.relative_to(cache))
    if dry_run:
        size = Collection(root).bytes()
        return Cleared(name, limit_bytes, size, size, 0)
    collected = Collection(root).shrink(limit_bytes)
    above = f"in use: {', '.join(collected.in_use)}" if collected.after_bytes > limit_bytes and collected.in_use else ""
    return Cleared(name, limit_bytes, collected.before_bytes, collected.after_bytes, len(collected.removed), above)


def _stores_of_others(cache: Path) -> list[Path]:
    """Return the folders of environments that a cache has for itself: a survey of survival makes its own."""
    return sorted(path for path in cache.glob(f"*/*/{ENVIRONMENTS}") if path.is_dir())


def _beside_environments(root: Path) -> list[Path]:
    """Return what lies beside environments and is not counted with them: wheels that were built, what uv was told."""
    linked = {"archive-v0"}
    return [root / "wheels", root / "records", *(path for path in root.glob("uv/*-v*") if path.name not in linked)]


def _others(cache: Path, rules: CacheRules) -> list[Path]:
    """Return the caches beside environments; of one that has environments of its own, what lies beside these."""
    surveys = {root.parent for root in _stores_of_others(cache)}
    spared = {ENVIRONMENTS, IN_USE, *rules.kept, *(survey.parent.name for survey in surveys)}
    paths = [path for path in cache.glob("*") if path.name not in spared]
    paths += [path for survey in surveys for path in survey.glob("*") if path.name != ENVIRONMENTS]
    return sorted(path for path in paths if not path.name.endswith(NOT_CACHED))


def _clear(cache: Path, path: Path, rules: CacheRules, *, alone: bool, dry_run: bool) -> Cleared:
    """Clear one cache: whole files first, of the newest database then the oldest rows."""
    name = str(path.relative_to(cache))
    limit = rules.limit_bytes(name)
    files = files_below(path)
    before = sum(used.bytes for used in files)
    if dry_run:
        return Cleared(name, limit, before, before, 0)
    removed = _bring_below(files, limit, time.time() - (0 if alone else rules.spared_hours * 3600), alone)
    after = sum(used.bytes for used in files_below(path))
    if removed and path.is_dir():
        remove_empty(path)
    why = "" if after <= limit else "the disk is full, or it is damaged" if alone else "what is left may be in use"
    return Cleared(name, limit, before, after, removed, why)


def _bring_below(files: list[Used], limit: int, used_before: float, alone: bool) -> int:
    """Remove files used before a time, and rows where nobody else is at work; return how many."""
    size = sum(used.bytes for used in files)
    if size <= limit:
        return 0
    whole, by_row = _split(files)
    removed, gone = remove_oldest(whole, size - limit, used_before)
    if alone and by_row and size - gone > limit:
        removed += _shrink(by_row, max(limit - (size - gone - by_row.bytes), 0))
    return removed


def _split(files: list[Used]) -> tuple[list[Used], Used | None]:
    """Part the files of a cache into those that go whole, and the newest database, which goes row by row."""
    newest = next((used for used in reversed(files) if has_rows(used.path)), None)
    return [used for used in files if used is not newest], newest


def _shrink(database: Used, limit_bytes: int) -> int:
    try:
        return shrink_rows(database.path, limit_bytes)
    except sqlite3.Error:
        return 0
